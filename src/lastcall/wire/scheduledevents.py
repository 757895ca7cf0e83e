"""The scheduledevents endpoint's formats: the document per api-version, and approvals."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from lastcall.engine.document import Document, VisibleEvent
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import START_REQUESTS_MAX
from lastcall.engine.model import EventId, EventType

# R16, oldest first.
VERSIONS = (
    "2017-03-01",
    "2017-08-01",
    "2017-11-01",
    "2019-01-01",
    "2019-04-01",
    "2019-08-01",
    "2020-07-01",
)

# R17 and R18: from which version on. The dates are compared as text.
PLAIN_RESOURCES_SINCE = "2017-08-01"
DESCRIPTION_SINCE = "2019-04-01"
SOURCE_SINCE = "2019-08-01"
DURATION_SINCE = "2020-07-01"
TYPE_SINCE = {EventType.PREEMPT: "2017-11-01", EventType.TERMINATE: "2019-01-01"}

# Not strftime: its names follow the locale.
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def encode_document(document: Document, version: str) -> bytes:
    """Return the document as a client of that api-version reads it."""
    assert version in VERSIONS
    events = [
        _encode_event(event, version)
        for event in document.events
        if TYPE_SINCE.get(event.type, "") <= version
    ]
    return msgspec.json.encode({"DocumentIncarnation": document.incarnation, "Events": events})


class _StartRequest(msgspec.Struct, rename="pascal"):
    event_id: Annotated[str, msgspec.Meta(pattern=rf"\A{GUID.pattern}\Z")]


class _StartRequests(msgspec.Struct, rename="pascal"):
    start_requests: Annotated[
        list[_StartRequest], msgspec.Meta(min_length=1, max_length=START_REQUESTS_MAX)
    ]


_as_documented = msgspec.json.Decoder(_StartRequests).decode


def parse_start_requests(body: bytes) -> tuple[EventId, ...]:
    """Return the events that a guest approves, each once, or refuse."""
    try:
        ids = [request.event_id.upper() for request in _as_documented(body).start_requests]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_loosely(body)
    return tuple(EventId(event_id) for event_id in dict.fromkeys(ids))


def _parse_loosely(body: bytes) -> tuple[EventId, ...]:
    """Read what is not quite as documented, or say in one sentence what is wrong with it."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidParameterError("The body is not JSON.") from error
    requests = _member(value, "StartRequests")
    if not isinstance(requests, list) or not requests:
        raise InvalidParameterError(
            'The body must be a JSON object such as {"StartRequests":[{"EventId":"..."}]}.'
        )
    if len(requests) > START_REQUESTS_MAX:
        raise InvalidParameterError(
            f"StartRequests has {len(requests)} entries; at most {START_REQUESTS_MAX} are allowed."
        )
    return tuple(dict.fromkeys(_event_id(request) for request in requests))


def encode_not_before(moment: datetime | None) -> str:
    """Return a moment as RFC 1123 writes it, nothing where there is none (R28)."""
    if moment is None:
        return ""
    at = moment.astimezone(UTC)
    return (
        f"{DAYS[at.weekday()]}, {at.day:02} {MONTHS[at.month - 1]} {at.year:04}"
        f" {at.hour:02}:{at.minute:02}:{at.second:02} GMT"
    )


def _encode_event(event: VisibleEvent, version: str) -> dict[str, Any]:
    mark = "" if version >= PLAIN_RESOURCES_SINCE else "_"
    # The order is the order on the wire (R20).
    encoded: dict[str, Any] = {
        "EventId": event.id,
        "EventStatus": "Started" if event.has_started else "Scheduled",
        "EventType": event.type,
        "ResourceType": "VirtualMachine",
        "Resources": [mark + name for name in event.resources],
        "NotBefore": encode_not_before(event.not_before),
    }
    if version >= DESCRIPTION_SINCE:
        encoded["Description"] = event.description
    if version >= SOURCE_SINCE:
        encoded["EventSource"] = event.source
    if version >= DURATION_SINCE:
        encoded["DurationInSeconds"] = event.duration_s
    return encoded


def _event_id(request: object) -> EventId:
    value = _member(request, "EventId")
    if not isinstance(value, str) or not GUID.fullmatch(value):
        raise InvalidParameterError("Every entry of StartRequests must have a GUID as EventId.")
    return EventId(value.upper())


def _member(value: object, name: str) -> object:
    """Return a member of an object by name, in whatever case: the service ignores it."""
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in value if key.lower() == name.lower()), None)
