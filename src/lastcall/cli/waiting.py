"""Waiting for a long operation: with a spinner and a reason, and without losing it to Ctrl-C."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import typer

from lastcall.cli.commands import Session
from lastcall.cli.connection import PAGE, Json, Target
from lastcall.cli.failures import CommandError, NoServerError, RefusedError
from lastcall.cli.flags import short_duration
from lastcall.cli.places import state_flag
from lastcall.cli.tables import clock_time
from lastcall.wire.names import set_id

if TYPE_CHECKING:
    import httpx2

PAUSE_FIRST_S: Final = 0.05
PAUSE_MAX_S: Final = 1.0
EventKind = Literal["Terminate", "Reboot", "Redeploy"]
NAMES_SHOWN_MAX: Final = 5
PENDING: Final = frozenset({"Scheduled", "Approved"})
OVER: Final = frozenset({"Succeeded", "Failed", "Canceled"})


@dataclass(frozen=True, slots=True)
class Work:
    """What a command asked for: in words, for which set, and the events that may hold it."""

    what: str
    target: Target
    events: EventKind | None = None


def follow(session: Session, answer: "httpx2.Response", work: Work) -> Json:
    """Wait until the operation that an answer began is over; return how it ended, or fail."""
    url = answer.headers.get("azure-asyncoperation")
    if url is None:
        return {"status": "Succeeded"}
    try:
        with _progress(work.what) as tell:
            state = _poll(session, url, work, tell)
    except KeyboardInterrupt:
        raise CommandError(
            f"No longer waiting: {work.what} goes on without you."
            f" See how it stands with: lastcall events list{state_flag(session.place.state)}"
        ) from None
    except NoServerError as gone:
        raise NoServerError(
            f"error: the server is gone. {work.what[:1].upper()}{work.what[1:]} is recorded and"
            f" goes on when the server is back: lastcall up{state_flag(session.place.state)}"
        ) from gone
    if state["status"] != "Succeeded":
        error = state.get("error") or {}
        message = error.get("message", f"{work.what} failed.")
        raise RefusedError(message, code=str(error.get("code", state["status"])))
    return state


def _poll(session: Session, url: str, work: Work, tell: Callable[[str], None]) -> Json:
    pause = PAUSE_FIRST_S
    while True:
        state: Json = session.connection.ask("GET", url).json()
        if state["status"] in OVER:
            return state
        tell(_reason(session, work))
        time.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_S)


def _reason(session: Session, work: Work) -> str:
    """Return what an operation waits for, as far as the events tell."""
    if work.events is None:
        return ""
    own = _set_id(session, work.target)
    found = session.connection.everything("events")
    waiting = [
        event["notBefore"]
        for event in found
        if event["set"] == own and event["type"] == work.events and event["status"] in PENDING
    ]
    if not waiting:
        return ""
    count = len(waiting)
    reason = (
        f"waiting for {count} {work.events} event{'s' * (count > 1)};"
        f" NotBefore {clock_time(min(waiting))}"
    )
    clock = session.connection.own("GET", "clock")
    if clock["mode"] == "virtual":
        left = datetime.fromisoformat(max(waiting)) - datetime.fromisoformat(clock["now"])
        advance = f"clock advance {short_duration(left)}{state_flag(session.place.state)}"
        reason += f"; move it with: lastcall {advance}"
    return reason


class Unheld:
    """Tells which instances a request deletes without notice, and why."""

    def __init__(self, session: Session, target: Target) -> None:
        self._session = session
        self._target = target
        newest = session.connection.own("GET", "history", None, {"limit": "1"})["value"]
        self._before = newest[-1]["seq"] if newest else 0

    def remark(self) -> None:
        """Say what has not been held since the request was about to be made."""
        own = _set_id(self._session, self._target)
        wanted = {"after": str(self._before), "limit": PAGE}
        names: dict[str, list[str]] = {}
        for line in self._session.connection.own("GET", "history", None, wanted)["value"]:
            if line["what"] == "not-held" and line["set"] == own:
                names.setdefault(line["text"], []).append(line["instance"])
        for sentence, instances in names.items():
            self._session.remark(f"{_some(instances)}: {sentence}")
            # What has no notice at all is not held by it either.
            if "scheduledevents" in sentence:
                self._session.remark("--always-notify (lastcall up) holds them all the same.")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN_MAX])
    more = len(names) - NAMES_SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def _set_id(session: Session, target: Target) -> str:
    return set_id(session.connection.server.subscription, target.group, target.name)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show that something is under way and tell why: with a spinner where somebody looks at it."""
    if not sys.stderr.isatty():
        yield _once(lambda reason: typer.echo(reason, err=True))
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    columns: list[Any] = [SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(what)
        # Above the spinner, where a narrow terminal does not cut it off.
        yield _once(lambda reason: console.print(Text(reason), soft_wrap=True))


def _once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return what tells the first reason only: nobody wants a line for every second."""
    told: list[str] = []

    def first(reason: str) -> None:
        if reason and not told:
            tell(reason)
            told.append(reason)

    return first
