"""Waiting for a long operation: with a spinner and a reason, and without losing it to Ctrl-C."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

from lastcall.cli.commands import Session
from lastcall.cli.connection import Json, Target
from lastcall.cli.failures import CommandError
from lastcall.cli.places import state_flag
from lastcall.cli.tables import clock_time
from lastcall.wire.names import set_id

if TYPE_CHECKING:
    import httpx2

PAUSE_FIRST_S: Final = 0.05
PAUSE_MAX_S: Final = 1.0
OVER: Final = frozenset({"Succeeded", "Failed", "Canceled"})


def follow(session: Session, answer: "httpx2.Response", what: str, target: Target) -> Json:
    """Wait until the operation that an answer began is over; return how it ended, or fail."""
    url = answer.headers.get("azure-asyncoperation")
    if url is None:
        return {"status": "Succeeded"}
    try:
        with _progress(what) as tell:
            state = _poll(session, url, target, tell)
    except KeyboardInterrupt:
        raise CommandError(
            f"No longer waiting: {what} goes on without you."
            f" See how it stands with: lastcall events list{state_flag(session.place.state)}"
        ) from None
    if state["status"] != "Succeeded":
        error = state.get("error") or {}
        message, code = error.get("message", f"{what} failed."), error.get("code", state["status"])
        raise CommandError(f"error: {message} ({code})")
    return state


def _poll(session: Session, url: str, target: Target, tell: Callable[[str], None]) -> Json:
    pause = PAUSE_FIRST_S
    while True:
        state: Json = session.connection.ask("GET", url).json()
        if state["status"] in OVER:
            return state
        tell(_reason(session, target))
        time.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_S)


def _reason(session: Session, target: Target) -> str:
    """Return what a set's operation waits for, as far as the events tell."""
    own = set_id(session.connection.server.subscription, target.group, target.name)
    found = session.connection.everything("events")
    waiting = [event for event in found if event["set"] == own and _holds(event)]
    if not waiting:
        return ""
    count = len(waiting)
    first = clock_time(min(event["notBefore"] for event in waiting))
    reason = f"waiting for {count} Terminate event{'s' * (count > 1)}; NotBefore {first}"
    if session.connection.own("GET", "clock")["mode"] == "virtual":
        reason += " (virtual clock)"
    return reason


def _holds(event: Json) -> bool:
    return event["type"] == "Terminate" and event["status"] in {"Scheduled", "Approved"}


@contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show that something is under way: a spinner on a terminal, a line per reason elsewhere."""
    if not sys.stderr.isatty():
        yield _teller()
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns: list[Any] = [SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what)
        # A terminal is narrow: the reason stands alone.
        yield lambda reason: progress.update(task, description=reason or what)


def _teller() -> Callable[[str], None]:
    told = [""]

    def tell(reason: str) -> None:
        if reason and reason != told[0]:
            typer.echo(reason, err=True)
            told[0] = reason

    return tell
