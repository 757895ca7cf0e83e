"""Server-sent events: every line of history, as it is committed, to everyone who listens."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from lastcall.app.platform import Platform
from lastcall.engine.limits import HISTORY_PAGE_MAX
from lastcall.ports import Commit, HistoryFilter, Recorded
from lastcall.web.admin.views import show_line
from lastcall.web.errors import TooManyListenersError
from lastcall.wire.bodies import encode_json

LISTENERS_MAX: Final = 64
WAITING_LINES_MAX: Final = 1_000
HEARTBEAT_S: Final = 15.0

HELLO: Final = b"retry: 1000\n\n"
HEARTBEAT: Final = b": still here\n\n"
GAP: Final = b"event: gap\ndata: {}\n\n"

Inbox = asyncio.Queue[Recorded | None]


class Streams:
    """Everyone who listens. Whoever reads too slowly is let go, and resumes where it was."""

    def __init__(self, platform: Platform, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._platform = platform
        self._heartbeat_s = heartbeat_s
        self._inboxes: set[Inbox] = set()
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._inboxes)

    def close(self) -> None:
        """End every stream, so that the server can go."""
        self._is_closed = True
        for inbox in self._inboxes:
            _hang_up(inbox)

    def follow(self, after: int | None) -> AsyncIterator[bytes]:
        """Return the lines after one that is known, then each new one; None: only new ones.

        A `gap` message says that more lines were missed than can be told.
        """
        if len(self) >= LISTENERS_MAX:
            raise TooManyListenersError
        return self._messages(after)

    async def _messages(self, after: int | None) -> AsyncIterator[bytes]:
        inbox: Inbox = asyncio.Queue(WAITING_LINES_MAX + 1)
        self._inboxes.add(inbox)
        unsubscribe = self._platform.observe(lambda commit: _deliver(inbox, commit))
        try:
            yield HELLO
            missed = await self._missed(after)
            if after is not None and missed and missed[0].seq > after + 1:
                yield GAP
            for line in missed:
                yield _message(line)
            seen = missed[-1].seq if missed else -1
            while not self._is_closed and (heard := await self._next(inbox)) is not None:
                if isinstance(heard, bytes):
                    yield heard
                elif heard.seq > seen:
                    yield _message(heard)
        finally:
            unsubscribe()
            self._inboxes.discard(inbox)

    async def _missed(self, after: int | None) -> Sequence[Recorded]:
        if after is None:
            return ()
        wanted = HistoryFilter(limit=HISTORY_PAGE_MAX, after=after)
        return await self._platform.read(lambda reader: reader.history(wanted))

    async def _next(self, inbox: Inbox) -> Recorded | bytes | None:
        try:
            return await asyncio.wait_for(inbox.get(), self._heartbeat_s)
        except TimeoutError:
            return HEARTBEAT


def _deliver(inbox: Inbox, commit: Commit) -> None:
    for line in commit.history:
        if inbox.qsize() >= WAITING_LINES_MAX:
            _hang_up(inbox)
            return
        inbox.put_nowait(line)


def _hang_up(inbox: Inbox) -> None:
    """Forget what waits: the client asks for it again by the number of the last it has seen."""
    while not inbox.empty():
        inbox.get_nowait()
    inbox.put_nowait(None)


def _message(line: Recorded) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (line.seq, encode_json(show_line(line)))
