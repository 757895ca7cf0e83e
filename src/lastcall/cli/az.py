"""`lastcall az`: the user's own az, talking to the server. Every argument is az's."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from lastcall.cli.client_environment import client_environment, original_environment
from lastcall.cli.failures import CommandError
from lastcall.cli.places import STATE_VARIABLE, Place

if TYPE_CHECKING:
    import typer

PROMISE: Final = "Run your own az against the server; every argument is passed on to it."


def main(arguments: Sequence[str]) -> NoReturn:
    """Become az."""
    found = shutil.which("az")
    if found is None:
        raise CommandError(
            "az is not installed, or not on PATH; 'pip install azure-cli' in an environment of its"
            " own is one way to get it."
        )
    named = os.environ.get(STATE_VARIABLE)
    ours = client_environment(Place(state=Path(named) if named else None))
    os.execve(found, ["az", *arguments], {**original_environment(os.environ), **ours})  # noqa: S606


def register(app: "typer.Typer") -> None:
    """Add the command to the list of all; it is run without Typer, which would read its flags."""
    app.command("az", help=PROMISE, short_help=PROMISE, epilog="Example: lastcall az vmss list")(
        lambda: main(())
    )
