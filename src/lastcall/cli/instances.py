"""`lastcall instances`: every instance of every set, and where it finds its metadata."""

import typer

from lastcall.cli.commands import Session, command
from lastcall.cli.output import Table
from lastcall.cli.tables import INSTANCE_HEAD, instance_row


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "instances", example="lastcall instances --json")(instances)


def instances(session: Session) -> None:
    """List all instances: name, state, power, and the metadata URL each one has of its own."""
    found = session.connection.everything("instances")
    rows = [instance_row(each) for each in found]
    nothing = "No instances; create some with: lastcall vmss create --name web"
    session.answer(found, Table(INSTANCE_HEAD, rows, nothing))
