"""From a request to its handler: one table, paths in whatever case (R92), one place for errors."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lastcall.engine.errors import DomainError, InvalidParameterError
from lastcall.engine.limits import ARM_BODY_BYTES_MAX
from lastcall.web.errors import (
    JSON,
    InvalidResourceTypeError,
    MethodNotAllowedError,
    PathNotFoundError,
    RequestTooLargeError,
    answered,
)
from lastcall.wire.bodies import encode_json
from lastcall.wire.fields import BOOLEANS
from lastcall.wire.quoting import shown


class Call:
    """One request: its path's names in their own spelling, its query, headers and body."""

    def __init__(self, request: Request, names: Mapping[str, str]) -> None:
        self._request = request
        self.names = names
        self._query = {
            key.lower(): value for key, value in reversed(request.query_params.multi_items())
        }

    @property
    def base(self) -> str:
        """Return scheme and host as the client wrote them, for links back."""
        return f"{self._request.scope['scheme']}://{self._request.headers.get('host', 'localhost')}"

    def query(self, name: str) -> str | None:
        """Return a query parameter; its name is read in whatever case, the first one counts."""
        return self._query.get(name.lower())

    def header(self, name: str) -> str | None:
        """Return a header."""
        return self._request.headers.get(name)

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
        async for chunk in self._request.stream():
            size += len(chunk)
            _refuse_size(size)
            chunks.append(chunk)
        return b"".join(chunks)


Handler = Callable[[Call], Awaitable[Response]]


class Parameter(Struct, frozen=True, kw_only=True):
    """A query parameter, for the description of the API."""

    name: str
    type: str
    text: str


class Route(Struct, frozen=True, kw_only=True):
    """One operation: how it is addressed, who handles it, and what its description says.

    `answers` are the statuses of success; `takes` and `gives` the types of the two bodies. What
    changes something is logged, unless `is_logged` says otherwise.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    answers: tuple[int, ...] = (200,)
    takes: Any = None
    gives: Any = None
    query: tuple[Parameter, ...] = ()
    is_logged: bool = True


class Table:
    """All routes as one ASGI application. Fixed segments match in any case, names keep theirs."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._by_length: dict[int, list[tuple[tuple[str, ...], Route]]] = {}
        for route in self.routes:
            pattern = _pattern(route.path)
            self._by_length.setdefault(len(pattern), []).append((pattern, route))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
            return
        response = await answered(self._call(Request(scope, receive)))
        if scope["method"] == "HEAD":
            response = Response(None, response.status_code, response.headers)
        await response(scope, receive, send)

    async def _call(self, request: Request) -> Response:
        route, names = self._find(request)
        return await route.handler(Call(request, names))

    def _find(self, request: Request) -> tuple[Route, Mapping[str, str]]:
        segments = _segments(request.scope)
        folded = [segment.lower() for segment in segments]
        method = "GET" if request.method == "HEAD" else request.method
        found = [
            (pattern, route)
            for pattern, route in self._by_length.get(len(segments), ())
            if all(map(_fits, pattern, folded))
        ]
        for pattern, route in found:
            if route.method == method:
                return route, _names(pattern, segments)
        if found:
            methods = {route.method for _, route in found}
            allowed = tuple(sorted(methods | {"HEAD"} if "GET" in methods else methods))
            raise MethodNotAllowedError(request.method, allowed)
        raise _nowhere(folded, segments)


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
    return [unquote(part) for part in path.lstrip("/").removesuffix("/").split("/")]


def _fits(wanted: str, segment: str) -> bool:
    return bool(segment) if wanted.startswith("{") else wanted == segment


def _names(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str]:
    pairs = zip(pattern, segments, strict=True)
    return {wanted[1:-1]: segment for wanted, segment in pairs if wanted.startswith("{")}


def _nowhere(folded: list[str], segments: list[str]) -> DomainError:
    if folded[0] == "subscriptions" and "providers" in folded[:-1]:
        namespace = segments[folded.index("providers") + 1]
        return InvalidResourceTypeError(
            f"The resource type could not be found in the namespace '{shown(namespace)}'."
        )
    return PathNotFoundError()
