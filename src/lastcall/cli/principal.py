"""`lastcall principal`: who may sign in at the control address."""

from typing import Annotated
from urllib.parse import quote

import typer

from lastcall.cli import output
from lastcall.cli.commands import Session, command
from lastcall.cli.output import Table

principal = typer.Typer(no_args_is_help=True, help="Who may sign in at the control address.")

HEAD = ("name", "appId", "created")


def register(app: typer.Typer) -> None:
    """Add the noun."""
    app.add_typer(principal, name="principal", epilog="Example: lastcall principal create ci")


@command(principal, "create", example="lastcall principal create ci")
def create(
    session: Session, name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.")]
) -> None:
    """Add a service principal; its secret is shown this once."""
    made = session.connection.own("POST", "principals", {"name": name})
    pairs = [(key, made[key]) for key in ("name", "appId", "tenant", "secret")]
    session.answer(made, output.facts(pairs))
    session.remark("The secret is kept nowhere else; it cannot be shown again.")


@command(principal, "list", example="lastcall principal list")
def list_principals(session: Session) -> None:
    """List those who may sign in."""
    found = session.connection.everything("principals")
    rows = [(each["name"], each["appId"], output.text(each["createdAt"])) for each in found]
    session.answer(found, Table(HEAD, rows))


@command(principal, "delete", example="lastcall principal delete ci")
def delete(
    session: Session,
    who: Annotated[str, typer.Argument(metavar="NAME", help="Its name or application id.")],
) -> None:
    """Remove a service principal; its tokens are worth nothing from then on."""
    session.connection.own("DELETE", f"principals/{quote(who, safe='')}")
    session.say({"status": "Deleted"}, f"Deleted: {who}.")
