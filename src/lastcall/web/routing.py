"""From a request to its handler: one table, paths in whatever case (R92), one place for errors."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lastcall.engine.errors import DomainError, InvalidParameterError, InvalidResourceTypeError
from lastcall.engine.limits import ARM_BODY_BYTES_MAX
from lastcall.web.errors import (
    JSON,
    MethodNotAllowedError,
    PathNotFoundError,
    RequestTimeoutError,
    RequestTooLargeError,
    answered,
)
from lastcall.wire.bodies import encode_json
from lastcall.wire.fields import BOOLEANS
from lastcall.wire.quoting import shown

STAR: Final = "*}"
# How long a body may take to arrive.
BODY_S: Final = 60.0


class Caller(Struct, frozen=True, kw_only=True):
    """Who is asking: a principal, a machine's identity, or whoever may use this machine.

    `id` is the application id of those who have signed in.
    """

    name: str
    id: str = ""


PORTAL = Caller(name="portal")
NOBODY = Caller(name="")

# Tells who is asking, or refuses.
Admit = Callable[[Request], Awaitable[Caller]]


async def admit_everyone(_request: Request) -> Caller:
    """Ask nobody for a token: the address is this machine's alone."""
    return PORTAL


# As the service sends them with every answer: nothing is kept, nothing is taken for a page.
UNCACHED: Final = {
    "Cache-Control": "no-cache",
    "Pragma": "no-cache",
    "Expires": "-1",
    "X-Content-Type-Options": "nosniff",
}


class Call:
    """One request: its path's names in their own spelling, its query, headers, body and caller."""

    body_s = BODY_S

    def __init__(self, request: Request, names: Mapping[str, str], caller: Caller = PORTAL) -> None:
        self._request = request
        self.names = names
        self.caller = caller
        self._query = {
            key.lower(): value for key, value in reversed(request.query_params.multi_items())
        }

    def renamed(self, **names: str) -> "Call":
        """Return the same request as if its path had these names too."""
        return Call(self._request, {**self.names, **names}, self.caller)

    @property
    def method(self) -> str:
        """Return the verb as it was sent: a HEAD is handled by the route of its GET."""
        return self._request.method

    @property
    def base(self) -> str:
        """Return scheme and host as the client wrote them, for links back."""
        return f"{self._request.scope['scheme']}://{self._request.headers.get('host', 'localhost')}"

    @property
    def path(self) -> str:
        """Return the path as the client wrote it."""
        return quote(self._request.scope["path"])

    def queries(self) -> Iterable[tuple[str, str]]:
        """Return every query parameter, its name in lower case."""
        return self._query.items()

    def query(self, name: str) -> str | None:
        """Return a query parameter; its name is read in whatever case, the first one counts."""
        return self._query.get(name.lower())

    def header(self, name: str) -> str | None:
        """Return a header."""
        return self._request.headers.get(name)

    def link(self, name: str, value: str) -> str:
        """Return the address of this request, with one query parameter set."""
        kept = [
            (key, text)
            for key, text in self._request.query_params.multi_items()
            if key.lower() != name.lower()
        ]
        path = self._request.scope.get("raw_path") or self._request.scope["path"].encode()
        return f"{self.base}{path.decode('latin-1')}?{urlencode([*kept, (name, value)])}"

    def flag(self, name: str) -> bool:
        """Return a query parameter that is true or false, false where there is none."""
        text = self.query(name) or "false"
        value = BOOLEANS.get(text.lower())
        if value is None:
            raise InvalidParameterError(
                f"The value '{shown(text)}' of '{name}' is not true or false.",
                target=name,
            )
        return value

    def number(self, name: str, default: int, allowed: range) -> int:
        """Return a query parameter that is a whole number, or the default."""
        text = self.query(name)
        if text is None:
            return default
        # The length bounds what int() is asked to read.
        is_number = text.isascii() and text.isdigit() and len(text) <= 18
        if not is_number or int(text) not in allowed:
            raise InvalidParameterError(
                f"The value '{shown(text)}' of '{name}' is not a whole number"
                f" from {allowed[0]} to {allowed[-1]}.",
                target=name,
            )
        return int(text)

    async def body(self) -> bytes:
        """Return the body, refusing it as soon as it is known to be too large."""
        declared = self.header("content-length") or "0"
        chunks: list[bytes] = []
        size = int(declared) if declared.isdigit() and len(declared) <= 18 else 0
        _refuse_size(size)
        size = 0
        try:
            async with asyncio.timeout(self.body_s):
                async for chunk in self._request.stream():
                    size += len(chunk)
                    _refuse_size(size)
                    chunks.append(chunk)
        except TimeoutError as late:
            raise RequestTimeoutError from late
        return b"".join(chunks)


Handler = Callable[[Call], Awaitable[Response]]


class Parameter(Struct, frozen=True, kw_only=True):
    """A query parameter, for the description of the API."""

    name: str
    type: str
    text: str


class Route(Struct, frozen=True, kw_only=True):
    """One operation: how it is addressed, who handles it, and what its description says.

    `answers` are the statuses of success; `takes` and `gives` the types of the two bodies. A last
    name with a star stands for all segments that follow; such a route is tried only where no other
    fits, and only on the names that are its `own`. What changes something is logged, unless
    `is_logged` says otherwise.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    answers: tuple[int, ...] = (200,)
    takes: Any = None
    gives: Any = None
    query: tuple[Parameter, ...] = ()
    # Whether it is about what a star stands for, which its pattern alone does not tell.
    own: Callable[[Mapping[str, str]], bool] = lambda _names: True
    # Whether those who have no token may use it, wherever others need one.
    is_open: bool = False
    is_logged: bool = True


class Table:
    """All routes as one ASGI application. Fixed segments match in any case, names keep theirs.

    A name with a star stands for one segment or several; what has a star is tried last.
    """

    def __init__(self, routes: Iterable[Route], admit: Admit = admit_everyone) -> None:
        self.routes = tuple(routes)
        self._admit = admit
        self._by_length: dict[int, list[tuple[tuple[str, ...], Route]]] = {}
        self._open: list[tuple[tuple[str, ...], Route]] = []
        for route in self.routes:
            pattern = _pattern(route.path)
            if STAR in (pattern[0][-2:], pattern[-1][-2:]):
                self._open.append((pattern, route))
            else:
                self._by_length.setdefault(len(pattern), []).append((pattern, route))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
            return
        response = await answered(self._call(Request(scope, receive)))
        for name, value in UNCACHED.items():
            response.headers.setdefault(name, value)
        if scope["method"] == "HEAD":
            response = Response(None, response.status_code, response.headers)
        await response(scope, receive, send)

    async def _call(self, request: Request) -> Response:
        try:
            route, names = self._find(request)
        except DomainError:
            await self._admit(request)  # Who may not come in does not learn what there is.
            raise
        caller = NOBODY if route.is_open else await self._admit(request)
        return await route.handler(Call(request, names, caller))

    def _find(self, request: Request) -> tuple[Route, Mapping[str, str]]:
        segments = _segments(request.scope)
        folded = [segment.lower() for segment in segments]
        method = "GET" if request.method == "HEAD" else request.method
        found = self._fitting(segments, folded)
        for route, names in found:
            if route.method == method:
                return route, names
        if found:
            methods = {route.method for route, _ in found}
            allowed = tuple(sorted(methods | {"HEAD"} if "GET" in methods else methods))
            raise MethodNotAllowedError(request.method, allowed)
        raise _nowhere(folded, segments)

    def _fitting(
        self, segments: list[str], folded: list[str]
    ) -> Sequence[tuple[Route, Mapping[str, str]]]:
        exact = [
            (route, _names(pattern, segments))
            for pattern, route in self._by_length.get(len(segments), ())
            if all(map(_fits, pattern, folded))
        ]
        if exact or not all(segments):
            return exact
        loose = [
            (route, _names(pattern, _gathered(pattern, segments)))
            for pattern, route in self._open
            if len(segments) >= len(pattern)
            and all(map(_fits, pattern, _gathered(pattern, folded)))
        ]
        return [(route, names) for route, names in loose if route.own(names)]


def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with compact JSON."""
    return Response(encode_json(value), status, headers, JSON)


def _refuse_size(size: int) -> None:
    if size > ARM_BODY_BYTES_MAX:
        raise RequestTooLargeError(
            f"The request body is larger than the {ARM_BODY_BYTES_MAX} bytes that are allowed."
        )


def _pattern(path: str) -> tuple[str, ...]:
    """Return a path's segments: fixed ones in lower case, names as they stand in braces."""
    parts = path.strip("/").split("/")
    return tuple(part if part.startswith("{") else part.lower() for part in parts)


def _segments(scope: Scope) -> list[str]:
    # The raw path: an encoded slash belongs to a name.
    raw: bytes | None = scope.get("raw_path")
    path = scope["path"] if raw is None else raw.decode("latin-1")
    parts = [unquote(part) for part in path.lstrip("/").removesuffix("/").split("/")]
    # `az resource` leaves the place of a parent empty where there is none, and ARM does not mind.
    return [
        part
        for index, part in enumerate(parts)
        if part or index < 2 or parts[index - 2].lower() != "providers"
    ]


def _gathered(pattern: tuple[str, ...], segments: list[str]) -> list[str]:
    """Return a path's segments with those that a star stands for as one."""
    count = len(segments) - len(pattern) + 1
    first = 0 if pattern[0].endswith(STAR) else len(pattern) - 1
    # An encoded slash belongs to a name here too.
    starred = "/".join(part.replace("/", "%2F") for part in segments[first : first + count])
    return [*segments[:first], starred, *segments[first + count :]]


def _fits(wanted: str, segment: str) -> bool:
    return bool(segment) if wanted.startswith("{") else wanted == segment


def _names(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str]:
    pairs = zip(pattern, segments, strict=True)
    return {
        wanted[1:-1].rstrip("*"): segment for wanted, segment in pairs if wanted.startswith("{")
    }


def _nowhere(folded: list[str], segments: list[str]) -> DomainError:
    if folded[0] == "subscriptions" and "providers" in folded[:-1]:
        namespace = segments[folded.index("providers") + 1]
        return InvalidResourceTypeError(
            f"The resource type could not be found in the namespace '{shown(namespace)}'."
        )
    return PathNotFoundError()
