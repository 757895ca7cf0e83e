"""What every command that talks to a server has in common: how to find it, and how to answer."""

import functools
import inspect
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lastcall.cli import output
from lastcall.cli.connection import Connection
from lastcall.cli.failures import CommandError
from lastcall.cli.places import STATE_VARIABLE, Place

State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        envvar=STATE_VARIABLE,
        help="The state folder of the server that is meant.",
        rich_help_panel="Which server",
    ),
]
Portal = Annotated[
    str | None,
    typer.Option(
        "--portal",
        metavar="URL",
        help="The server's API, instead of its folder.",
        rich_help_panel="Which server",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show details of what fails.")]


class Session:
    """One run of one command: whom it asks, and for whom it answers."""

    def __init__(self, place: Place, *, as_json: bool) -> None:
        self.place = place
        self.as_json = as_json
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The server, looked for when it is first needed: wrong usage is told before."""
        if self._connection is None:
            self._connection = Connection(self.place)
        return self._connection

    def reconnect(self) -> None:
        """Look for the server again: one that was restarted may be elsewhere, or nowhere yet."""
        with suppress(CommandError):
            new = Connection(self.place)
            self.close()
            self._connection = new

    def close(self) -> None:
        """Let the server go."""
        if self._connection is not None:
            self._connection.close()

    def answer(self, value: Any, table: output.Table) -> None:
        """Print the machine form or the table, whichever is wanted."""
        if self.as_json:
            output.print_json(value)
        else:
            output.print_table(table)

    def remark(self, sentence: str) -> None:
        """Tell a person something beside the answer."""
        typer.echo(sentence, err=True)

    def say(self, value: Any, sentence: str) -> None:
        """Print the machine form or a sentence, whichever is wanted."""
        if self.as_json:
            output.print_json(value)
        else:
            typer.echo(sentence)


def _shared(
    *,
    state: State = None,
    portal: Portal = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Have the flags that every command has; it is only read, never called."""


SHARED = tuple(inspect.signature(_shared).parameters.values())


def command(
    app: typer.Typer, name: str, *, example: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a function of a session and its own flags as a command, with the flags all have."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function).parameters.values())[1:]

        @functools.wraps(function)
        def run(*, as_json: bool, state: Path | None, portal: str | None, **flags: Any) -> None:
            flags.pop("verbose")
            place = Place(state=state, portal=portal)
            with closing(Session(place, as_json=as_json)) as session:
                function(session, **flags)

        # Typer reads flags from the signature, and gives every one of them by its name.
        parameters = (*own, *SHARED)
        run.__dict__["__signature__"] = inspect.Signature(list(parameters))
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        # A short help is shown whole; the first sentence of the long one would be cut off.
        app.command(name, short_help=function.__doc__, epilog=f"Example: {example}")(run)
        return run

    return add
