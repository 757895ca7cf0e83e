"""The live stream of what happens: read, kept up across broken connections, shown line by line."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import typer

from lastcall.cli.commands import Session
from lastcall.cli.failures import CommandError
from lastcall.cli.tables import moment

Json = dict[str, Any]

STYLES: Final = {
    "Freeze": "cyan",
    "Reboot": "yellow",
    "Redeploy": "magenta",
    "Preempt": "bright_red",
    "Terminate": "red",
}


def messages(lines: Iterable[str]) -> Iterator[str]:
    """Yield the data of each server-sent event."""
    data: list[str] = []
    for line in lines:
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def changes(session: Session, pause: Callable[[], None]) -> Iterator[Json]:
    """Yield every change from now on, for ever; a server that comes back is followed again."""
    newest = session.connection.own("GET", "history", None, {"limit": "1"})["value"]
    seen = newest[-1]["seq"] if newest else 0
    is_told = False
    while True:
        with suppress(CommandError):
            for data in messages(session.connection.stream("stream", seen)):
                change = json.loads(data)
                is_told, seen = False, change["seq"]
                yield change
        if not is_told:
            typer.echo("The connection is lost; waiting for the server to come back.", err=True)
        is_told = True
        pause()
        session.reconnect()


class Printer:
    """Shows changes: JSON for programs, a coloured line for people."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._types: dict[str, str] = {}

    def print(self, change: Json) -> None:
        """Show one change."""
        if self._session.as_json:
            typer.echo(json.dumps(change, ensure_ascii=False))
            return
        kind = self._type(change)
        style = STYLES.get(kind)
        typer.echo(
            f"{moment(change['at'])}  {typer.style(f'{kind:<9}', fg=style, bold=True)}"
            f"  {change['what']:<10}  {change['instance'] or '-'}  {change['text']}"
        )

    def _type(self, change: Json) -> str:
        """Return the type of the event that a change is about, empty where it is about none."""
        event = change["event"]
        if not event:
            return ""
        if event not in self._types:
            try:
                found = self._session.connection.own("GET", f"events/{event}")
                self._types[event] = found["type"]
            except CommandError:
                self._types[event] = ""
        return self._types[event]
