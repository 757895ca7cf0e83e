"""Autoscale settings as documents: taken in one spelling, changed, and shown (R114)."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Final

from lastcall.engine.autoscale import Comparison, Direction, ScaleType
from lastcall.engine.errors import LocationRequiredError
from lastcall.engine.measuring import Aggregation, Statistic
from lastcall.engine.resources import Resource
from lastcall.wire.autoscale import SETTING_TYPE, Day, Frequency, Mode, Occasion
from lastcall.wire.fields import coerced_boolean, coerced_number, spelled
from lastcall.wire.names import place
from lastcall.wire.parts import Part
from lastcall.wire.spelling import with_known_names

Json = dict[str, Any]

# The service reads names in whatever case.
SPELLINGS: Final = {
    name.lower(): name
    for name in """
    capacity cooldown customEmails
    days default dimensions direction dividePerInstance
    email enabled end
    fixedDate frequency
    hours
    location
    maximum metricName metricNamespace metricResourceLocation metricResourceUri metricTrigger
    minimum minutes
    name notifications
    operation operator
    predictiveAutoscalePolicy profiles properties
    recurrence rules
    scaleAction scaleLookAheadTime scaleMode schedule sendToSubscriptionAdministrator
    sendToSubscriptionCoAdministrators serviceUri start statistic
    tags targetResourceLocation targetResourceUri threshold timeAggregation timeGrain timeWindow
    timeZone type
    value
    webhooks
    """.split()  # noqa: SIM905  # Fifty pairs of quotes would hide them.
}
DIMENSION_SPELLINGS: Final = {
    name.lower(): name for name in ("DimensionName", "Operator", "Values")
}
WORDS: Final[dict[str, type[StrEnum]]] = {
    "Operator": Comparison,
    "days": Day,
    "direction": Direction,
    "frequency": Frequency,
    "operation": Occasion,
    "operator": Comparison,
    "scaleMode": Mode,
    "statistic": Statistic,
    "timeAggregation": Aggregation,
    "type": ScaleType,
}
# What users fill with names and values of their own; dimensions have a spelling of their own.
OPAQUE: Final = frozenset({"dimensions", "tags", "webhooks"})
Convert = Callable[[Any], Any]


def _as_text(value: Any) -> Any:
    """Return a count as the string that it is on the wire."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


CONVERSIONS: Final[dict[str, Convert]] = {
    **{name: partial(spelled, kind=kind) for name, kind in WORDS.items()},
    **dict.fromkeys(("default", "maximum", "minimum", "value"), _as_text),
    **dict.fromkeys(("hours", "minutes"), coerced_number),
    **dict.fromkeys(
        (
            "dividePerInstance",
            "enabled",
            "sendToSubscriptionAdministrator",
            "sendToSubscriptionCoAdministrators",
        ),
        coerced_boolean,
    ),
}


def created(body: Mapping[str, Any], name: str) -> Json:
    """Return the document of a setting that is written whole, or refuse."""
    given = _normal(body)
    part = Part(given)
    if not part.has("location"):
        raise LocationRequiredError
    return {
        "location": place(part.text("location")),
        "tags": dict(part.strings("tags")),
        "properties": _properties(_whole(part), name),
    }


def changed(document: Mapping[str, Any], body: Mapping[str, Any], name: str) -> Json:
    """Return the document after a change: members that are given replace those that were."""
    part = Part(_normal(body))
    properties = _whole(part) if part.has("properties") else {}
    return {
        **document,
        "tags": dict(part.strings("tags")) if part.has("tags") else document.get("tags", {}),
        "properties": _properties({**document.get("properties", {}), **properties}, name),
    }


def encode_setting(setting: Resource) -> Json:
    """Return a setting as GET shows it."""
    return {
        "id": setting.path,
        "name": setting.name,
        "type": SETTING_TYPE,
        **setting.content,
    }


def _whole(part: Part) -> Json:
    part.part("properties")  # It is one, or refused.
    properties: Json = part.get("properties")
    return properties


def _properties(properties: Mapping[str, Any], name: str) -> Json:
    return {"enabled": False, "notifications": [], **properties, "name": name}


def _normal(body: Mapping[str, Any]) -> Json:
    """Return a copy in one spelling, without nulls: null means absent."""
    named: Json = with_known_names(body, SPELLINGS, OPAQUE)
    normal: Json = _converted(named)
    return normal


def _converted(value: Any) -> Any:
    if isinstance(value, list):
        return [_converted(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {name: _member(name, item) for name, item in value.items() if item is not None}


def _member(name: str, value: Any) -> Any:
    if name == "dimensions":
        return _converted(with_known_names(value, DIMENSION_SPELLINGS))
    if name in OPAQUE:
        return value
    convert = CONVERSIONS.get(name, _converted)
    return [convert(item) for item in value] if isinstance(value, list) else convert(value)
