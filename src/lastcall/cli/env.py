"""`lastcall env`: the shell commands that make az, the SDKs and Terraform use a server."""

import os
import sys
from typing import Annotated

import typer

from lastcall.cli import output, shells
from lastcall.cli.client_environment import client_environment, undoing
from lastcall.cli.commands import AsJson, State, Verbose
from lastcall.cli.places import Place, state_flag
from lastcall.cli.shells import Shell

HELP = "Print the shell commands that make az, the SDKs and Terraform use the server."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("env", help=HELP, short_help=HELP, epilog='Example: eval "$(lastcall env)"')(env)


def env(
    *,
    shell: Annotated[
        Shell | None,
        typer.Option(case_sensitive=False, help="Whose language; that of $SHELL unless told."),
    ] = None,
    unset: Annotated[
        bool, typer.Option("--unset", help="Print what puts everything back instead.")
    ] = False,
    state: State = None,
    as_json: AsJson = False,
    verbose: Verbose = False,  # noqa: ARG001  # read by whoever reports a failure
) -> None:
    """Print the commands, or the variables themselves."""
    changes: dict[str, str | None] = (
        undoing(os.environ) if unset else dict(client_environment(Place(state=state)))
    )
    if as_json:
        output.print_json(changes)
        return
    spoken = shell or shells.guess()
    for line in shells.script(changes, spoken):
        typer.echo(line)
    if sys.stdout.isatty():  # Nobody has run it then.
        command = "lastcall env --unset" if unset else f"lastcall env{state_flag(state)}"
        use = shells.SYNTAX[spoken].use.format(command=command)
        typer.echo(f"To make it so: {use}", err=True)
