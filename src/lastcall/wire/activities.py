"""The activity log in ARM's words: how operations are called, filtered and shown."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.resources import Activity, Asked
from lastcall.engine.value import Value
from lastcall.wire.instants import encode_instant, parse_instant
from lastcall.wire.paths import GROUP_TYPE, Path, parse_path
from lastcall.wire.quoting import shown

Json = dict[str, Any]

PATH_CHARACTERS_MAX: Final = 1_024
VERBS: Final = {"PUT": "write", "PATCH": "write", "DELETE": "delete"}
GROUP_OPERATIONS: Final = "Microsoft.Resources/subscriptions/resourceGroups"
# A condition of $filter; az writes times without quotes.
CONDITION: Final = re.compile(r"\s*(\w{1,40})\s+(eq|ge|le|gt|lt)\s+('(?:[^']|'')*'|[^\s']+)\s*")
AND: Final = re.compile(r"and\b", re.IGNORECASE)
FIELDS: Final = {
    "caller": "caller",
    "correlationid": "correlation",
    "resourcegroupname": "group",
    "resourceid": "resource",
    "resourceprovider": "provider",
    "resourceuri": "resource",
    "status": "status",
}
# There is one channel, and everything is in it.
IGNORED: Final = frozenset({"eventchannels"})
EVENT_NAMES: Final = {"Accepted": ("BeginRequest", "Begin request")}
END: Final = ("EndRequest", "End request")
YEAR_ONE: Final = datetime(1, 1, 1, tzinfo=UTC)


class Wanted(Value, frozen=True, kw_only=True):
    """Which activities a $filter lets through; names are compared in whatever case."""

    since: datetime
    until: datetime | None = None
    group: str | None = None
    resource: str | None = None
    provider: str | None = None
    correlation: str | None = None
    caller: str | None = None
    status: str | None = None

    def lets(self, activity: Activity) -> bool:
        """Whether an activity of the span of time and the group is wanted."""
        path = activity.path.lower()
        return (
            self.correlation in (None, activity.correlation.lower())
            and self.caller in (None, activity.caller.lower())
            and self.status in (None, activity.status.lower())
            and (self.resource is None or f"{path}/".startswith(f"{self.resource}/"))
            and (
                self.provider is None or activity.operation.lower().startswith(f"{self.provider}/")
            )
        )


def asked_for(method: str, path: str, caller: str) -> Asked:
    """Return what a request to the control plane asks for, as Azure calls its operations."""
    at, verb = path, VERBS.get(method, "")
    if not verb:
        at, _, action = path.rpartition("/")
        verb = f"{action}/action"
    found = parse_path(at)
    return Asked(
        operation=f"{_type(found, at)}/{verb}",
        path=at[:PATH_CHARACTERS_MAX],
        group="" if found is None else found.group.lower(),
        caller=caller,
    )


def _type(found: Path | None, path: str) -> str:
    if found is None:
        return path.rpartition("/")[2]  # A provider is acted on, or the subscription itself.
    return GROUP_OPERATIONS if found.type == GROUP_TYPE else found.type


def parse_filter(text: str | None) -> Wanted:
    """Return what a $filter lets through, or refuse it: only some shapes are allowed."""
    found: dict[str, Any] = {}
    for name, comparison, value in _conditions(text or ""):
        folded = name.lower()
        if folded == "eventtimestamp" and comparison != "eq":
            found["since" if comparison[0] == "g" else "until"] = _instant(value)
        elif folded in FIELDS and comparison == "eq":
            found[FIELDS[folded]] = value.lower()
        elif folded not in IGNORED:
            raise _refusal(f"'{shown(name)} {comparison}' is not allowed in it")
    if "since" not in found:
        raise _refusal("it must have eventTimestamp ge and the time from which on")
    if "resource" in found:
        found["resource"] = found["resource"].rstrip("/")
    return Wanted(**found)


def _conditions(text: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    place = 0
    while True:
        match = CONDITION.match(text, place)
        if match is None:
            raise _refusal("it is not of the form \"NAME eq 'VALUE' and ...\"")
        name, comparison, value = match.groups()
        if value.startswith("'"):
            value = value[1:-1].replace("''", "'")
        found.append((name, comparison, value))
        following = AND.match(text, match.end())
        if following is None:
            if match.end() == len(text):
                return found
            raise _refusal("its conditions are not joined by 'and'")
        place = following.end()


def _instant(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError:
        raise _refusal(f"'{shown(text)}' is not a date and time") from None


def _refusal(reason: str) -> InvalidParameterError:
    return InvalidParameterError(f"The $filter is not right: {reason}.", target="$filter")


def encode_activity(activity: Activity, subscription: str, tenant: str) -> Json:
    """Return an activity as Azure's activity log shows its events."""
    found = parse_path(activity.path)
    provider, _, rest = activity.operation.partition("/")
    ticks = (activity.at - YEAR_ONE) // timedelta(microseconds=1) * 10
    event = f"00000000-0000-0000-0000-{activity.seq:012x}"
    is_scaling = "/Scale" in rest
    at = encode_instant(activity.at)
    return {
        "authorization": {"action": activity.operation, "scope": activity.path},
        "caller": activity.caller,
        "category": _named("Autoscale" if is_scaling else "Administrative"),
        "channels": "Operation",
        "claims": {},
        "correlationId": activity.correlation,
        "description": activity.message,
        "eventDataId": event,
        "eventName": _named(*EVENT_NAMES.get(activity.status, END)),
        "eventTimestamp": at,
        "id": f"{activity.path}/events/{event}/ticks/{ticks}",
        "level": "Error" if activity.status == "Failed" else "Informational",
        "operationId": activity.correlation,
        "operationName": _named(activity.operation),
        "properties": _properties(activity),
        "resourceGroupName": "" if found is None else found.group,
        "resourceId": activity.path,
        "resourceProviderName": _named(provider),
        "resourceType": _named(
            activity.operation.rpartition("/")[0] if found is None else found.type
        ),
        "status": _named(activity.status),
        "subStatus": _sub_status(activity),
        "submissionTimestamp": at,
        "subscriptionId": subscription,
        "tenantId": tenant,
    }


def select(event: Json, names: str | None) -> Json:
    """Return only the members of an event that are wanted, all where nothing is said."""
    if names is None:
        return event
    wanted = {name.strip().lower() for name in names.split(",")}
    return {name: value for name, value in event.items() if name.lower() in wanted}


def _named(value: str, text: str | None = None) -> Mapping[str, str]:
    return {"value": value, "localizedValue": value if text is None else text}


def _sub_status(activity: Activity) -> Mapping[str, str]:
    if not activity.reason:
        return _named("")
    status = f" (HTTP Status Code: {activity.code})" if activity.code else ""
    return _named(activity.reason, f"{activity.reason}{status}")


def _properties(activity: Activity) -> Json:
    properties = {"entity": activity.path, "eventCategory": "Administrative"}
    if activity.reason:
        properties |= {"statusCode": activity.reason, "statusMessage": activity.message}
    return properties
