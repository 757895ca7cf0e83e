"""`lastcall metric`: report what autoscale looks at, and read it back."""

from typing import Annotated

import typer

from lastcall.cli import tables
from lastcall.cli.autoscale import target_id
from lastcall.cli.commands import Session, command
from lastcall.cli.output import Table
from lastcall.cli.vmss_flags import Group

metric = typer.Typer(no_args_is_help=True, help="Metrics of scale sets.")


def register(app: typer.Typer) -> None:
    """Add the noun."""
    app.add_typer(metric, name="metric", epilog="Example: lastcall metric list")


@command(
    metric, "post", example='lastcall metric post --resource web --name "Percentage CPU" --value 90'
)
def post(  # noqa: PLR0913  # one parameter for each flag
    session: Session,
    *,
    resource: Annotated[
        str, typer.Option(metavar="SET", help="What was measured: a scale set's name, or an id.")
    ],
    name: Annotated[str, typer.Option("--name", "-n", help="The metric.")],
    value: Annotated[float, typer.Option(help="What was measured.")],
    instance: Annotated[str | None, typer.Option(metavar="NAME", help="Of which instance.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; now unless told.")
    ] = None,
    resource_group: Group = "lastcall",
) -> None:
    """Report one value of a metric."""
    target = target_id(session, resource_group, resource)
    given = {"resource": target, "name": name, "value": value, "instance": instance, "at": at}
    body = {key: each for key, each in given.items() if each is not None}
    session.connection.own("POST", "metrics", body)
    session.say({"status": "Posted"}, f"Posted: {name} {value:g}.")


@command(metric, "list", example="lastcall metric list --json")
def list_metrics(session: Session) -> None:
    """List metrics with the newest that was reported of each."""
    found = session.connection.everything("metrics")
    rows = [tables.metric_row(each) for each in found]
    nothing = "No metrics; report one with: lastcall metric post"
    session.answer(found, Table(tables.METRIC_HEAD, rows, nothing))
