"""The server's own history, read back after each crash and judged line by line."""

import re
from datetime import datetime, timedelta
from typing import Any, Protocol

PAGE_MAX = 1000


class LostError(AssertionError):
    """The server broke its word."""


class Asks(Protocol):
    """A connection to the server."""

    def ask(self, verb: str, path: str) -> tuple[int, Any, Any]:
        """Return status, decoded body and headers of an answer."""
        ...


class Chronicle:
    """Replays history in its own order: who was announced, approved, started, and when."""

    def __init__(self) -> None:
        self._last = 0
        self._not_before: dict[str, datetime] = {}
        self._pending: dict[str, set[str]] = {}  # Terminates of each scope that have not started
        self._approved: set[str] = set()
        self._started: set[str] = set()

    def read(self, arm: Asks) -> None:
        """Read on from the last line that was seen."""
        query = f"/lastcall/v1/history?after={self._last}&limit={PAGE_MAX}"
        status, found, _ = arm.ask("GET", query)
        if status != 200:
            raise LostError(f"history: {status} {found}")
        for line in found["value"]:
            if line["seq"] != self._last + 1:
                raise LostError(f"history has a gap before {line}")
            self._last = line["seq"]
            self._replay(line)

    def check_approvals(self, answered: set[str]) -> None:
        """Insist that every approval answered with 200 is on record, or came after the start."""
        lost = answered - self._approved - self._started
        if lost:
            raise LostError(f"approvals were answered with 200 and are lost: {lost}")

    def check_end(self) -> None:
        """Insist that everything announced has started."""
        left = {event for events in self._pending.values() for event in events}
        if left:
            raise LostError(f"never started: {left}")

    def _replay(self, line: dict[str, Any]) -> None:
        event, pending = line["event"], self._pending.setdefault(line["scope"], set())
        match line["what"]:
            case "announced" if line["text"].startswith("Terminate"):
                notice_s = float(re.search(r"with ([\d.e+-]+) s", line["text"])[1])
                at = datetime.fromisoformat(line["at"])
                self._not_before[event] = at + timedelta(seconds=notice_s)
                pending.add(event)
            case "approved":
                self._approved.add(event)
            case "started":
                self._judge(line, pending)
                self._started.add(event)
                pending.discard(event)

    def _judge(self, line: dict[str, Any], pending: set[str]) -> None:
        """Judge a start: due, or approved together with every other Terminate of the scope."""
        event = line["event"]
        if datetime.fromisoformat(line["at"]) >= self._not_before[event]:
            return
        if event not in self._approved:
            raise LostError(f"{event} started early, and nobody approved it: {line}")
        if pending - self._approved:
            raise LostError(f"{event} started while {pending - self._approved} were undecided")
