"""One client's connection: requests in, answers out, in order, each within its bounds."""

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any

from lastcall.app.directory import Published
from lastcall.metadata.answers import (
    CONTINUE,
    RefusedError,
    closing,
    encode_failure,
    encode_refusal,
    without_body,
)
from lastcall.metadata.endpoint import LEARNED_BYTES_MAX, Endpoint
from lastcall.metadata.options import Options
from lastcall.metadata.parsing import RequestParser
from lastcall.metadata.routes import Request, Target

# Small enough to stop in the middle of a flood, large enough for a request that can be learned.
PIECE_BYTES = LEARNED_BYTES_MAX

# Returns the ordinal of the machine that a connection speaks for, None for the host's own.
Locate = Callable[[asyncio.Transport], int | None]


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 with one client.

    It rests between two requests. A request that comes then, and whose bytes are known, is
    answered with the ready document and nothing else happens: that is the way of nearly every
    request, and the reason for the fields that remember what was asked last and of whom.
    """

    def __init__(
        self, endpoint: Endpoint, options: Options, peers: set["Connection"], locate: Locate
    ) -> None:
        self._endpoint = endpoint
        self._options = options
        self._peers = peers
        self._locate = locate
        self._loop = asyncio.get_running_loop()
        self._parser = RequestParser(options.header_bytes_max)
        self.closed = self._loop.create_future()
        self._ordinal: int | None = None

        self._learned = endpoint.learned
        self._directory = endpoint.directory
        self._target: Target | None = None
        self._published: Published | None = None
        self._generation = -1

        self._rests = True
        self._was_active = False
        self._since = self._loop.time()
        self._unread = b""
        self._queue: deque[Request | RefusedError] = deque()
        self._working: asyncio.Future[Any] | None = None
        self._turn: asyncio.Handle | None = None
        self._is_vigil = False
        self._is_paused = False
        self._is_stalled = False
        self._is_over = False
        self._saw_end = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvloop's own
        """Begin, unless there are too many; a crowd is not even told so."""
        self._transport = transport
        self._write = transport.write
        self._ordinal = self._locate(transport)
        self._peers.add(self)
        excess = len(self._peers) - self._options.connections_max
        if excess > self._options.refusals_max:
            self.abort()
        elif excess > 0:
            self._part(RefusedError(503, "Too many connections.", headers={"Retry-After": "1"}))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Stop waiting on behalf of a client that is gone."""
        self._peers.discard(self)
        self._rests, self._is_over = False, True
        self._queue.clear()
        if self._working is not None:
            self._working.cancel()
        if not self.closed.done():
            self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Answer a request that is known by its bytes; read anything else."""
        if self._rests:
            target = self._learned.get(data)
            if target is not None:
                if target is not self._target or self._generation != self._directory.generation:
                    self._look_up(target)
                published = self._published
                if published is not None:
                    ready = published.ready.get(target.version)
                    if ready is not None:
                        published.touched = True
                        self._was_active = True
                        self._write(ready)
                        return
        self._receive(data)

    def eof_received(self) -> bool:
        """Keep the way back open for answers that are still due, but not for a mere vigil."""
        is_due = self._working is not None or self._queue or self._unread
        self._saw_end = True
        return bool(is_due) and not self._is_vigil and not self._is_over

    def pause_writing(self) -> None:
        """Answer no more until the client has read what it was sent."""
        self._rests, self._is_stalled = False, True
        self._since = self._loop.time()

    def resume_writing(self) -> None:
        """Go on."""
        self._is_stalled = False
        self._since = self._loop.time()
        self._advance()

    def sweep(self, now: float) -> None:
        """Let go of a client that has taken too long over what it is at."""
        if self._was_active:
            self._was_active, self._since = False, now
        if now - self._since <= self._patience_s():
            return
        if self._is_stalled or self._is_over:
            self._transport.abort()
        elif self._rests:
            self.leave()
        else:
            self._part(RefusedError(408, "The request did not arrive in time."))

    def leave(self) -> None:
        """Close as soon as what was answered is sent."""
        self._rests, self._is_over = False, True
        self._since = self._loop.time()
        if self._working is not None:
            self._working.cancel()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _patience_s(self) -> float:
        if self._is_stalled:
            return self._options.stalled_s
        if self._is_over:
            return self._options.linger_s
        if self._working is not None:
            return inf
        return self._options.idle_s if self._rests else self._options.request_s

    def _look_up(self, target: Target) -> None:
        self._target = target
        self._generation = self._directory.generation
        self._published = self._endpoint.published_for(target, self._ordinal)

    def _receive(self, data: bytes) -> None:
        if self._is_over:
            return  # It was refused, and is only listened to so that it can read why.
        if self._rests:
            self._since = self._loop.time()
        self._unread += data
        self._advance()

    def _advance(self) -> None:
        """Answer and read by turns, until there is nothing to do, something to wait for, or others.

        Nothing is parsed while an answer is pending, so the answers keep the order of requests.
        """
        for _ in range(self._options.answers_in_row):
            if self._is_stalled or self._is_over or self._working is not None:
                break
            if self._queue:
                self._answer(self._queue.popleft())
            elif self._unread:
                self._read()
            else:
                break
        else:
            if self._turn is None:
                self._turn = self._loop.call_soon(self._take_turn)
        self._settle()

    def _take_turn(self) -> None:
        self._turn = None
        self._advance()

    def _read(self) -> None:
        piece, self._unread = self._unread[:PIECE_BYTES], self._unread[PIECE_BYTES:]
        try:
            self._parser.feed(piece)
        except RefusedError as refused:
            self._queue.extend((*self._parser.complete, refused))
        else:
            self._queue.extend(self._parser.complete)

    def _answer(self, request: Request | RefusedError) -> None:
        if isinstance(request, RefusedError):
            self._part(request)
            return
        try:
            outcome = self._endpoint.answer(request, self._ordinal)
        except Exception as error:  # noqa: BLE001  # A bug costs one request, not the connection.
            outcome = encode_failure(error)
        if isinstance(outcome, bytes):
            self._send(request, outcome)
            return
        self._is_vigil = outcome.is_vigil
        ready = outcome.answer
        self._working = asyncio.ensure_future(outcome.work)
        self._working.add_done_callback(lambda work: self._conclude(request, ready, work))

    def _conclude(self, request: Request, ready: bytes | None, work: "asyncio.Future[Any]") -> None:
        self._working, self._is_vigil = None, False
        if work.cancelled():
            return  # Only done to those who have gone.
        error = work.exception()
        if self._is_over:
            return
        if error is not None:
            self._send(request, encode_failure(error))
        else:
            self._send(request, work.result() if ready is None else ready)
        self._advance()

    def _send(self, request: Request, answer: bytes) -> None:
        self._since = self._loop.time()
        if request.verb == "HEAD":
            answer = without_body(answer)
        if request.is_last:
            self._write(closing(answer))
            self.leave()
        else:
            self._write(answer)

    def _part(self, refused: RefusedError) -> None:
        """Refuse to go on.

        What the client is still sending is read and dropped for a while: closing on unread bytes
        would reset the connection, and the refusal might never be seen.
        """
        self._write(closing(encode_refusal(refused)))
        self._rests, self._is_over = False, True
        self._since = self._loop.time()
        self._queue.clear()
        self._unread = b""
        self._resume_reading()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def _settle(self) -> None:
        """Decide whether to rest, to read on, or to part from a client that has no more to say."""
        if self._is_over:
            return
        is_busy = self._is_stalled or self._working is not None or self._queue or self._unread
        if not is_busy and self._saw_end:
            self.leave()
            return
        if not is_busy and self._parser.wants_continue:
            self._parser.wants_continue = False
            self._write(CONTINUE)
        self._rests = not (is_busy or self._parser.is_midway or self._is_stalled)
        if self._turn is not None or len(self._unread) > self._options.unread_bytes_max:
            self._pause_reading()
        else:
            self._resume_reading()

    def _pause_reading(self) -> None:
        if not (self._is_paused or self._saw_end or self._transport.is_closing()):
            self._is_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._is_paused and not (self._saw_end or self._transport.is_closing()):
            self._is_paused = False
            self._transport.resume_reading()
