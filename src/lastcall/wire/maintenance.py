"""Approval from outside the machine: what a request of the maintenance provider says (R90)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lastcall.engine.errors import InvalidApiVersionError
from lastcall.engine.limits import START_REQUESTS_MAX
from lastcall.engine.model import EventId
from lastcall.wire.fields import lookup, refuse
from lastcall.wire.members import DATE_CHARACTERS
from lastcall.wire.quoting import shown

PROVIDER: Final = "Microsoft.Maintenance"
# The newest first. A list of events came with the second version.
VERSIONS: Final = ("2025-11-01", "2023-10-01-preview")
LIST_VERSIONS: Final = VERSIONS[:1]
IDS: Final = "value"
APPROVED: Final = {IDS: "Successfully Approved"}


def refuse_older(api_version: str, versions: Sequence[str]) -> None:
    """Refuse a version that is older than all of those; later ones are accepted, as elsewhere."""
    if api_version[:DATE_CHARACTERS] < versions[-1][:DATE_CHARACTERS]:
        raise InvalidApiVersionError(
            f"The api-version '{shown(api_version)}' is invalid."
            f" The supported versions are '{','.join(versions)}'."
        )


def parse_event_id(text: str) -> EventId:
    """Return an event's id as it is known here; outside the machine it is in lower case (R23)."""
    return EventId(text.upper())


def parse_event_ids(document: Mapping[str, Any]) -> tuple[EventId, ...]:
    """Return which events are acknowledged, each once, or refuse."""
    value = lookup(document, IDS)
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if not is_list or not 0 < len(value) <= START_REQUESTS_MAX:
        refuse(IDS, value, f"an array of 1 to {START_REQUESTS_MAX} event ids")
    return tuple(dict.fromkeys(parse_event_id(item) for item in value))
