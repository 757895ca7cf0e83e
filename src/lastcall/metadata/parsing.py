"""From a stream of bytes to requests: the parser's callbacks, and what one message may weigh."""

import re
from typing import NoReturn

import httptools
from msgspec.structs import replace

from lastcall.engine.limits import METADATA_BODY_BYTES_MAX
from lastcall.metadata.answers import RefusedError
from lastcall.metadata.routes import Request

# What separates a header's name from its value and ends its line.
LINE_BYTES = 4

# A body in chunks of one byte needs six times its size.
FRAMED_BODY_BYTES_MAX = 8 * METADATA_BODY_BYTES_MAX

# An address, or a name that the public DNS cannot have: a web page cannot make it its own.
LOCAL_HOST = re.compile(
    rb"(?:\[[0-9a-f:.%]+\]|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[\w-]*|[\w.-]+\.(?:localhost|internal))"
    rb"(?::[0-9]*)?",
    re.IGNORECASE,
)


class RequestParser:
    """Collects one message after another. Nothing more can be read once it has raised.

    `complete` are the requests that the last bytes completed; `is_midway` tells whether the next
    one has begun; `wants_continue` whether its sender waits to be asked for the body.
    """

    def __init__(self, header_bytes_max: int) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._header_bytes_max = header_bytes_max
        self._refused: RefusedError | None = None
        self.complete: list[Request] = []
        self.on_message_begin()
        self.is_midway = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes; raise `RefusedError` where they are not to be borne."""
        was_midway = self.is_midway
        self.complete = []
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Its HTTP ends here, and nothing else is spoken.
            self.complete[-1:] = [replace(last, is_last=True) for last in self.complete[-1:]]
        except httptools.HttpParserError as error:
            raise self._refused or RefusedError(400, "Bad request. It is not HTTP/1.1") from error
        if self.is_midway and (was_midway or not self.complete):
            self._hold(len(data))
        elif len(self.complete) == 1 and not (was_midway or self.is_midway or self._has_body):
            self.complete = [replace(self.complete[0], raw=data)]

    def on_message_begin(self) -> None:
        """Start over."""
        self.is_midway = True
        self.wants_continue = False
        self._in_headers = True
        self._has_body = False
        self._held_bytes = 0
        self._header_bytes = 0
        self._body_bytes = 0
        self._body: list[bytes] = []
        self._url = b""
        self._has_metadata = False
        self._has_identity = False
        self._is_forwarded = False
        self._has_origin = False
        self._is_at_foreign_host = False

    def on_url(self, part: bytes) -> None:
        """Take a part of the target; it may come in pieces."""
        self._url += part
        self._weigh_header(len(part))

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """Take a header. Those that follow a body count for nothing."""
        value = value or b""
        self._weigh_header(len(name) + len(value) + LINE_BYTES)
        if not self._in_headers:
            return
        match name := name.lower():
            case b"metadata":
                self._has_metadata = value.strip().lower() == b"true"
            case b"x-identity-header":
                self._has_identity = bool(value.strip())
            case b"x-forwarded-for":
                self._is_forwarded = True
            case b"origin":
                self._has_origin = True
            case b"host" if not LOCAL_HOST.fullmatch(value.strip()):
                self._is_at_foreign_host = True
            case _:
                self._take_framing(name, value)

    def _take_framing(self, name: bytes, value: bytes) -> None:
        if name == b"expect":
            self.wants_continue = value.strip().lower() == b"100-continue"
        elif name == b"content-length" and int(value) > METADATA_BODY_BYTES_MAX:
            self._refuse_body()

    def on_headers_complete(self) -> None:
        """Expect the body next, if there is one."""
        self._in_headers = False

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""
        self._has_body = True
        self._body.append(part)
        self._body_bytes += len(part)
        if self._body_bytes > METADATA_BODY_BYTES_MAX:
            self._refuse_body()

    def on_message_complete(self) -> None:
        """Add the request to those that are complete."""
        parser = self._parser
        keeps_alive = parser.should_keep_alive() and parser.get_http_version() == "1.1"
        self.is_midway = self.wants_continue = False
        self.complete.append(
            Request(
                verb=parser.get_method().decode("latin-1"),
                url=self._url,
                has_metadata=self._has_metadata,
                has_identity=self._has_identity,
                is_forwarded=self._is_forwarded,
                has_origin=self._has_origin,
                is_at_foreign_host=self._is_at_foreign_host,
                is_last=not keeps_alive,
                body=b"".join(self._body),
            )
        )

    def _hold(self, size: int) -> None:
        """Bound what is unfinished: the parser keeps a header to itself until it is whole."""
        self._held_bytes += size
        if self._in_headers:
            if self._held_bytes > self._header_bytes_max:
                self._refuse_headers()
        elif self._held_bytes > self._header_bytes_max + FRAMED_BODY_BYTES_MAX:
            self._refuse_body()

    def _weigh_header(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > self._header_bytes_max:
            self._refuse_headers()

    def _refuse_headers(self) -> NoReturn:
        self._refuse(431, f"The headers are larger than {self._header_bytes_max} bytes.")

    def _refuse_body(self) -> NoReturn:
        self._refuse(413, f"The body is larger than {METADATA_BODY_BYTES_MAX} bytes.")

    def _refuse(self, status: int, sentence: str) -> NoReturn:
        # The parser reports an exception of ours as one of its own, so it is kept as well.
        self._refused = RefusedError(status, sentence)
        raise self._refused
