"""One connection of the web server: uvicorn's own, with bounds on what precedes a request.

Who has sent no whole head yet has not been asked for a token either, so this is all that keeps a
stranger from taking memory, files or patience without end.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lastcall.web.errors import JSON
from lastcall.wire.bodies import encode_json
from lastcall.wire.envelope import encode_error

HEAD_BYTES_MAX: Final = 65_536
HEAD_S: Final = 30.0
CONNECTIONS_MAX: Final = 4_000


class BoundedProtocol(HttpToolsProtocol):
    """Refuses heads that are too large or too slow, and connections that are too many."""

    head_bytes_max = HEAD_BYTES_MAX
    head_s = HEAD_S
    connections_max = CONNECTIONS_MAX

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._head_bytes = 0
        self._is_in_head = True
        self._giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        """Begin to wait for a head, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, as long as its head stays within bounds."""
        if self._is_in_head:
            room = self.head_bytes_max - self._head_bytes
            self._head_bytes += len(data)
            if len(data) > room:
                # What came in one piece with it may be a body: the parser knows where it begins.
                self._feed(data[:room])
                if self._is_in_head:
                    self._refuse(431, f"The headers are larger than {self.head_bytes_max} bytes.")
                    return
                data = data[room:]
        self._feed(data)

    def on_message_begin(self) -> None:
        """Count a head from its beginning."""
        super().on_message_begin()
        if not self._is_in_head:
            self._expect_head()

    def on_headers_complete(self) -> None:
        """Have a head."""
        self._is_in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def _feed(self, data: bytes) -> None:
        if data and not self.transport.is_closing():
            super().data_received(data)

    def _expect_head(self) -> None:
        self._is_in_head = True
        self._head_bytes = 0
        self._stop_waiting()
        self._giving_up = self.loop.call_later(self.head_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        self._refuse(408, "The request did not arrive in time.")

    def _refuse(self, status: int, sentence: str) -> None:
        codes = {408: "RequestTimeout", 431: "RequestHeaderFieldsTooLarge"}
        body = encode_json(encode_error(codes[status], sentence))
        head = (
            f"HTTP/1.1 {status} Refused\r\nContent-Type: {JSON}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
