"""The live stream of what happens: read, kept up across broken connections, shown line by line."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import typer

from lastcall.cli.commands import Session
from lastcall.cli.failures import CommandError
from lastcall.cli.tables import moment

Json = dict[str, Any]

INSTANCES_WIDTH_MIN: Final = 12
INSTANCES_WIDTH_MAX: Final = 48
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
    typer.echo(f"watching {session.connection.server.url} (Ctrl-C stops)", err=True)
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


@dataclass(frozen=True, slots=True)
class About:
    """What a change is about."""

    kind: str = ""
    instances: str = ""


class Printer:
    """Shows changes: JSON for programs, a coloured line for people."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._events: dict[str, About] = {}
        self._width = INSTANCES_WIDTH_MIN

    def print(self, change: Json) -> None:
        """Show one change."""
        if self._session.as_json:
            typer.echo(json.dumps(change, ensure_ascii=False))
            return
        about = self._about(change)
        kind = typer.style(f"{about.kind:<9}", fg=STYLES.get(about.kind), bold=True)
        names = change["instance"] or about.instances or "-"
        # What has been printed stays: the column only ever gets wider.
        self._width = max(self._width, min(len(names), INSTANCES_WIDTH_MAX))
        typer.echo(
            f"{moment(change['at'])}  {kind}  {change['what']:<10}"
            f"  {names:<{self._width}}  {change['text']}"
        )

    def _about(self, change: Json) -> About:
        """Return the event that a change is about, empty where it is about none."""
        event = change["event"]
        if not event:
            return About()
        if event not in self._events:
            try:
                found = self._session.connection.own("GET", f"events/{event}")
                self._events[event] = About(found["type"], ", ".join(found["resources"]))
            except CommandError:
                self._events[event] = About()
        return self._events[event]
