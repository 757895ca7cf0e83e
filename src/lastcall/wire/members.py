"""Which members of a model exist since which api-version (R67)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from lastcall.engine.errors import DomainError
from lastcall.wire.bodies import encode_json
from lastcall.wire.fields import lookup

DATE_CHARACTERS = len("2019-03-01")


class Member(Struct, frozen=True):
    """A member that came later: where, in an object of which type, since when."""

    path: str
    owner: str
    since: str

    def is_known(self, api_version: str) -> bool:
        """Whether a version has it; previews count as the version of their date."""
        return api_version[:DATE_CHARACTERS] >= self.since


PROFILE = "properties.virtualMachineProfile"
MEMBERS = (
    Member(f"{PROFILE}.scheduledEventsProfile", "VirtualMachineProfile", "2019-03-01"),
    Member(f"{PROFILE}.billingProfile", "VirtualMachineProfile", "2019-03-01"),
    Member("properties.scaleInPolicy", "Properties", "2019-03-01"),
    Member("properties.orchestrationMode", "Properties", "2019-12-01"),
    Member("properties.hostGroup", "Properties", "2020-06-01"),
    Member(f"{PROFILE}.userData", "VirtualMachineProfile", "2021-03-01"),
    Member(f"{PROFILE}.capacityReservation", "VirtualMachineProfile", "2021-04-01"),
    Member(f"{PROFILE}.hardwareProfile", "VirtualMachineProfile", "2021-11-01"),
    Member(
        f"{PROFILE}.scheduledEventsProfile.osImageNotificationProfile",
        "ScheduledEventsProfile",
        "2022-03-01",
    ),
    Member(f"{PROFILE}.securityPostureReference", "VirtualMachineProfile", "2023-03-01"),
    Member("properties.scheduledEventsPolicy", "Properties", "2024-03-01"),
)
# What only the service writes: a client may send it back, and older ones are not shown it.
SHOWN = (
    Member("properties.timeCreated", "Properties", "2021-11-01"),
    Member(f"{PROFILE}.timeCreated", "VirtualMachineProfile", "2023-09-01"),
    Member("etag", "VirtualMachineScaleSet", "2024-03-01"),
)

TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}\[\]]')


def refuse_members(
    document: Mapping[str, Any],
    api_version: str,
    body: bytes | None = None,
    members: Iterable[Member] = MEMBERS,
    root: str = "vmss",
) -> None:
    """Refuse a model with a member that the api-version does not have, as the service words it.

    `body` is the JSON that the model came in; without it, positions are those of compact JSON.
    """
    for member in members:
        if member.is_known(api_version) or lookup(document, member.path) is None:
            continue
        text = (encode_json(document) if body is None else body).decode()
        line, position = _place(text, member.path)
        raise DomainError(
            f"Could not find member '{member.path.rpartition('.')[2]}' on object of type"
            f" '{member.owner}'. Path '{member.path}', line {line}, position {position}.",
            target=f"{root}.{member.path}",
        )


def visible(
    document: Mapping[str, Any], api_version: str, members: Iterable[Member] = (*MEMBERS, *SHOWN)
) -> dict[str, Any]:
    """Return a resource without the members that the api-version does not have."""
    shown = dict(document)
    for member in members:
        if not member.is_known(api_version):
            shown = _without(shown, member.path.split("."))
    return shown


def _without(value: Mapping[str, Any], keys: list[str]) -> dict[str, Any]:
    kept = dict(value)
    first, *rest = keys
    if not rest:
        kept.pop(first, None)
    elif isinstance(kept.get(first), Mapping):
        kept[first] = _without(kept[first], rest)
    return kept


def _place(text: str, path: str) -> tuple[int, int]:
    """Return the line and the column up to which the service has read when it meets a member.

    Its parser stops behind the colon that follows the member's name, in whatever case that is.
    """
    wanted = path.lower()
    end = next((end for found, end in _members(text) if found.lower() == wanted), 0)
    start = text.rfind("\n", 0, end) + 1
    return text.count("\n", 0, end) + 1, end - start


def _members(text: str) -> Iterator[tuple[str, int]]:
    """Yield each member of valid JSON: its path (array elements have an empty step), its end."""
    steps: list[str] = []
    name = ""
    for token in TOKEN.finditer(text):
        if token[2]:
            name = msgspec.json.decode(token[1], type=str)
            yield ".".join([*steps[1:], name]), token.end()
        elif token[0] in "{[":
            steps.append(name)
            name = ""
        elif token[0] in "}]":
            steps.pop()
            name = ""
