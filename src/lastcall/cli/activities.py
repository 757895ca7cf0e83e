"""`lastcall activities`: who asked for what, and what came of it."""

from typing import Annotated

import typer

from lastcall.cli.commands import Session, command
from lastcall.cli.output import Table
from lastcall.cli.tables import ACTIVITY_HEAD, activity_row


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "activities", example="lastcall activities --limit 20")(activities)


def activities(
    session: Session,
    *,
    resource_group: Annotated[
        str | None, typer.Option("--resource-group", "-g", help="Only in this group.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many of the newest.")] = 50,
) -> None:
    """List who asked for what, the newest first."""
    params = {"limit": str(limit)}
    if resource_group is not None:
        params["group"] = resource_group
    found = session.connection.own("GET", "activities", None, params)["value"]
    rows = [activity_row(each) for each in found]
    session.answer(found, Table(ACTIVITY_HEAD, rows, "Nobody has asked for anything."))
