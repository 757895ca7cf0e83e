"""`lastcall clock`: what time it is on the platform, and moving it on."""

from typing import Annotated

import typer

from lastcall.cli import flags, output
from lastcall.cli.commands import Session, command

clock = typer.Typer(no_args_is_help=True, help="The platform's clock.")


def register(app: typer.Typer) -> None:
    """Add the noun."""
    app.add_typer(clock, name="clock", epilog="Example: lastcall clock advance 10m")


@command(clock, "show", example="lastcall clock show")
def show(session: Session) -> None:
    """Show the time, whether the clock is virtual, and the pace."""
    found = session.connection.own("GET", "clock")
    pairs = [("now", found["now"]), ("clock", found["mode"]), ("pace", found["pace"])]
    session.answer(found, output.facts(pairs))


@command(clock, "advance", example="lastcall clock advance 1h30m")
def advance(
    session: Session,
    by: Annotated[
        str, typer.Argument(metavar="DURATION", help="How far: 10m, 90s, 1h30m or PT10M.")
    ],
) -> None:
    """Move a virtual clock; everything that becomes due on the way happens, in order."""
    body = {"by": flags.iso_duration(by)}
    moved = session.connection.own("POST", "clock/advance", body)
    session.say(moved, f"It is now {moved['now']}.")
