"""From a request's bytes to what it asks for: every check that needs nobody's identity (R2-R5)."""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, unquote

import httptools

from lastcall.app.managed import WantedIdentity, parse_wanted
from lastcall.engine.errors import DomainError, InvalidParameterError
from lastcall.engine.value import Value
from lastcall.metadata.answers import RefusedError
from lastcall.metadata.options import Options
from lastcall.metadata.versions import INSTANCE_VERSIONS, NEWEST_VERSIONS
from lastcall.wire.scheduledevents import VERSIONS as EVENTS_VERSIONS

QUERY_FIELDS_MAX = 32
KNOWN_URLS_MAX = 4096
KNOWN_URL_BYTES_MAX = 256
WAIT, INCARNATION, TIMEOUT = "wait_for_change", "last_incarnation", "timeout_sec"

# Tokens of the machine's identity; clients of App Service's form of it send another header.
IDENTITY = "identity"
TOKEN_PATH = ("oauth2", "token")
TOKEN_VERSIONS = tuple(each for each in INSTANCE_VERSIONS if each >= "2018-02-01")

# R17: the preview did not insist on the header. Who approves needs it all the same: a page can
# make a browser send a plain POST anywhere.
HEADERLESS_VERSION = "2017-03-01"


class Request(Value, frozen=True, kw_only=True):
    """One request as it arrived. `raw` are its bytes where it came whole and alone."""

    verb: str
    url: bytes
    has_metadata: bool = False
    has_identity: bool = False
    is_forwarded: bool = False
    has_origin: bool = False
    is_at_foreign_host: bool = False
    is_last: bool = False
    body: bytes = b""
    raw: bytes | None = None


class Target(Value, frozen=True):
    """A document of events: in which version, and whose where the path says so."""

    version: str
    selector: str | None


class Hanging(Value, frozen=True):
    """A wish to be answered only when the document is another one, or after a while."""

    incarnation: int | None
    timeout_s: int


class ReadEvents(Value, frozen=True):
    """GET scheduledevents."""

    target: Target
    hanging: Hanging | None


class StartEvents(Value, frozen=True):
    """POST scheduledevents."""

    selector: str | None
    body: bytes


class ReadInstance(Value, frozen=True):
    """GET instance: the whole, or what `path` leads to."""

    selector: str | None
    version: str
    path: tuple[str, ...]
    as_text: bool


class ReadVersions(Value, frozen=True):
    """GET versions."""

    selector: str | None


class ReadToken(Value, frozen=True):
    """GET identity/oauth2/token: for a resource, of one of the machine's identities."""

    selector: str | None
    resource: str
    wanted: WantedIdentity


Wish = ReadEvents | StartEvents | ReadInstance | ReadVersions | ReadToken


class _Place(Value, frozen=True):
    selector: str | None
    endpoint: str
    path: tuple[str, ...]


def parse_wish(request: Request, options: Options) -> Wish:
    """Return what a request asks for, or refuse; the checks come in the service's own order."""
    place, query, pairs = _parse_url(request.url)
    if not _has_header(request, place, query):
        raise RefusedError(400, "Bad request. Required metadata header not specified")
    _refuse_sender(request)
    _refuse_elsewhere(place)
    _refuse_verb(request.verb, place)
    if len(query) != pairs:
        raise RefusedError(400, "Bad request. A query parameter was given more than once")
    if place.endpoint == "versions":
        return ReadVersions(place.selector)
    if place.endpoint == IDENTITY:
        return _token_wish(place, query)
    is_events = place.endpoint == "scheduledevents"
    version = _version(query, EVENTS_VERSIONS if is_events else INSTANCE_VERSIONS)
    if not is_events:
        return ReadInstance(place.selector, version, place.path, _wants_text(query))
    if request.verb == "POST":
        return StartEvents(place.selector, request.body)
    return ReadEvents(Target(version, place.selector), _hanging(query, options))


def _refuse_sender(request: Request) -> None:
    """Refuse who is no guest: a proxy, a web page."""
    if request.is_forwarded:
        raise RefusedError(400, "Bad request. The X-Forwarded-For header is not allowed")
    if request.has_origin:  # Only browsers send it, and a web page is no guest.
        raise RefusedError(400, "Bad request. The Origin header is not allowed")
    if request.is_at_foreign_host:  # A page whose own name was made to lead here sends no Origin.
        raise RefusedError(400, "Bad request. The Host header is not an address or a local name")


def _parse_url(url: bytes) -> tuple[_Place, Mapping[str, str], int]:
    # A guest asks for the same few things all its life, and short of an attack they are short.
    return _known_url(url) if len(url) <= KNOWN_URL_BYTES_MAX else _read_url(url)


@lru_cache(KNOWN_URLS_MAX)
def _known_url(url: bytes) -> tuple[_Place, Mapping[str, str], int]:
    return _read_url(url)


def _read_url(url: bytes) -> tuple[_Place, Mapping[str, str], int]:
    try:
        parsed = httptools.parse_url(url)
        fields = parse_qsl(
            (parsed.query or b"").decode("latin-1"),
            keep_blank_values=True,
            max_num_fields=QUERY_FIELDS_MAX,
        )
    except (httptools.HttpParserInvalidURLError, ValueError) as error:
        raise RefusedError(400, "Bad request. The URL cannot be read") from error
    query = {name.lower(): value for name, value in fields}
    return _place((parsed.path or b"").decode("latin-1")), query, len(fields)


def _place(path: str) -> _Place:
    segments = path.split("/")[1:]
    selector = None
    if len(segments) >= 2 and segments[0].lower() == "vm":
        selector = unquote(segments[1])
        segments = segments[2:]
    if segments and not segments[-1]:
        segments.pop()
    if len(segments) < 2 or segments[0].lower() != "metadata":
        return _Place(selector, "", ())
    return _Place(selector, segments[1].lower(), tuple(unquote(part) for part in segments[2:]))


def _has_header(request: Request, place: _Place, query: Mapping[str, str]) -> bool:
    if request.has_metadata or (request.has_identity and place.endpoint == IDENTITY):
        return True
    reads_events = request.verb == "GET" and place.endpoint == "scheduledevents"
    return reads_events and query.get("api-version") == HEADERLESS_VERSION


def _refuse_elsewhere(place: _Place) -> None:
    if place.endpoint == "instance":
        return
    if place.endpoint == IDENTITY and tuple(map(str.lower, place.path)) == TOKEN_PATH:
        return
    if place.endpoint not in ("scheduledevents", "versions") or place.path:
        raise RefusedError(404, "Not found")


def _refuse_verb(verb: str, place: _Place) -> None:
    allowed = ("GET", "POST") if place.endpoint == "scheduledevents" else ("GET",)
    if verb not in allowed:
        raise RefusedError(
            405,
            f"The verb {verb} is not supported here; use {' or '.join(allowed)}.",
            headers={"Allow": ", ".join(allowed)},
        )


def _version(query: Mapping[str, str], known: tuple[str, ...]) -> str:
    version = query.get("api-version", "")
    if version not in known:
        raise RefusedError(
            400,
            "Bad request. api-version is invalid or was not specified in the request."
            " For more information refer to aka.ms/azureimds",
            members={"newest-versions": NEWEST_VERSIONS},
        )
    return version


def _token_wish(place: _Place, query: Mapping[str, str]) -> ReadToken:
    _version(query, TOKEN_VERSIONS)
    try:
        resource, wanted = parse_wanted(query.get)
    except InvalidParameterError as wrong:
        raise refused_token(wrong) from wrong
    return ReadToken(place.selector, resource, wanted)


def refused_token(reason: DomainError) -> RefusedError:
    """Return the refusal of a token in the shape that clients of tokens read."""
    return RefusedError(400, "invalid_request", members={"error_description": str(reason)})


def _wants_text(query: Mapping[str, str]) -> bool:
    wanted = query.get("format", "json").lower()
    if wanted not in ("json", "text"):
        raise RefusedError(400, "Bad request. The format is json or text")
    return wanted == "text"


def _hanging(query: Mapping[str, str], options: Options) -> Hanging | None:
    wanted = query.get(WAIT, "false").lower()
    if wanted not in ("true", "false"):
        raise RefusedError(400, f"Bad request. {WAIT} is true or false")
    if wanted == "false":
        return None
    incarnation = None if INCARNATION not in query else _number(query, INCARNATION)
    timeout_s = options.hanging_s_default if TIMEOUT not in query else _number(query, TIMEOUT)
    if not 1 <= timeout_s <= options.hanging_s_max:
        raise RefusedError(
            400, f"Bad request. {TIMEOUT} is a whole number from 1 to {options.hanging_s_max}"
        )
    return Hanging(incarnation, timeout_s)


def _number(query: Mapping[str, str], name: str) -> int:
    value = query[name]
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise RefusedError(400, f"Bad request. {name} is a whole number")
    return int(value)
