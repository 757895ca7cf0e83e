"""What an autoscale setting says, checked (R114)."""

from collections.abc import Mapping
from datetime import datetime, time, tzinfo
from enum import StrEnum
from typing import Any, Final

from lastcall.engine.autoscale import Comparison, Direction, Profile, Rule, ScaleType, Setting
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import (
    AUTOSCALE_PROFILES_MAX,
    AUTOSCALE_RULES_MAX,
    COOLDOWN_MAX,
    COOLDOWN_MIN,
    GRAIN_MAX,
    GRAIN_MIN,
    LOOK_AHEAD_MAX,
    LOOK_AHEAD_MIN,
    SET_MACHINES_MAX,
    WINDOW_MAX,
    WINDOW_MIN,
)
from lastcall.engine.measuring import Aggregation, Dimension, Measure, Statistic
from lastcall.engine.resources import ResourceId
from lastcall.engine.schedules import Fixed, Recurring
from lastcall.wire.fields import refuse
from lastcall.wire.instants import parse_instant
from lastcall.wire.parts import Part
from lastcall.wire.paths import parse_path
from lastcall.wire.timezones import zone_named

SETTING_TYPE: Final = "Microsoft.Insights/autoscaleSettings"
COUNTS: Final = range(SET_MACHINES_MAX + 1)
VALUES: Final = range(1, SET_MACHINES_MAX + 1)
FEW: Final = range(21)


class Day(StrEnum):
    """The days, in the order in which Python counts them."""

    MONDAY = "Monday"
    TUESDAY = "Tuesday"
    WEDNESDAY = "Wednesday"
    THURSDAY = "Thursday"
    FRIDAY = "Friday"
    SATURDAY = "Saturday"
    SUNDAY = "Sunday"


class Frequency(StrEnum):
    """How often a schedule repeats: the documents allow no other."""

    WEEK = "Week"


class Mode(StrEnum):
    """What is done with a forecast. It is kept; nothing is forecast here."""

    DISABLED = "Disabled"
    FORECAST_ONLY = "ForecastOnly"
    ENABLED = "Enabled"


class Occasion(StrEnum):
    """When somebody is told."""

    SCALE = "Scale"


def parse_setting(properties: Mapping[str, Any]) -> Setting:
    """Return what a setting's properties say, or refuse."""
    part = Part(properties, "properties")
    profiles = tuple(
        _profile(each) for each in part.parts("profiles", range(1, AUTOSCALE_PROFILES_MAX + 1))
    )
    names = {profile.name.lower() for profile in profiles}
    if len(names) < len(profiles):
        raise InvalidParameterError(
            "The names of the profiles are not all different.", target="properties.profiles"
        )
    _check_policy(part)
    _check_notifications(part)
    return Setting(
        target=_resource(part, "targetResourceUri") if part.has("targetResourceUri") else None,
        profiles=profiles,
        enabled=part.truth("enabled", default=False),
    )


def _profile(part: Part) -> Profile:
    bounds = part.part("capacity")
    minimum = bounds.number("minimum", COUNTS)
    maximum = bounds.number("maximum", COUNTS)
    default = bounds.number("default", COUNTS)
    if not minimum <= default <= maximum:
        raise InvalidParameterError(
            f"The capacity of '{part.path}' must have a minimum of at most its default and a"
            " default of at most its maximum.",
            target=bounds.path,
        )
    if part.has("fixedDate") and part.has("recurrence"):
        raise InvalidParameterError(
            f"'{part.path}' has both a fixedDate and a recurrence; it can have one of them.",
            target=part.path,
        )
    return Profile(
        name=part.text("name"),
        minimum=minimum,
        maximum=maximum,
        default=default,
        rules=tuple(_rule(each) for each in part.parts("rules", range(AUTOSCALE_RULES_MAX + 1))),
        fixed=_fixed(part.part("fixedDate")) if part.has("fixedDate") else None,
        recurring=_recurring(part.part("recurrence")) if part.has("recurrence") else None,
    )


def _rule(part: Part) -> Rule:
    trigger, action = part.part("metricTrigger"), part.part("scaleAction")
    return Rule(
        measure=_measure(trigger),
        comparison=trigger.word("operator", Comparison),
        threshold=trigger.real("threshold"),
        direction=action.word("direction", Direction),
        type=action.word("type", ScaleType),
        value=action.number("value", VALUES) if action.has("value") else 1,
        cooldown=action.duration("cooldown", COOLDOWN_MIN, COOLDOWN_MAX),
        per_instance=trigger.truth("dividePerInstance", default=False),
    )


def _measure(part: Part) -> Measure:
    grain = part.duration("timeGrain", GRAIN_MIN, GRAIN_MAX)
    window = part.duration("timeWindow", WINDOW_MIN, WINDOW_MAX)
    if grain > window:
        refuse(part.at("timeGrain"), part.get("timeGrain"), "at most the timeWindow")
    dimensions = part.parts("dimensions", FEW) if part.has("dimensions") else []
    return Measure(
        resource=_resource(part, "metricResourceUri"),
        metric=part.text("metricName"),
        grain=grain,
        statistic=part.word("statistic", Statistic),
        window=window,
        aggregation=part.word("timeAggregation", Aggregation),
        dimensions=tuple(_dimension(each) for each in dimensions),
    )


def _dimension(part: Part) -> Dimension:
    comparison = part.word("Operator", Comparison)
    if comparison not in (Comparison.EQUALS, Comparison.NOT_EQUALS):
        refuse(part.at("Operator"), comparison, "Equals or NotEquals")
    return Dimension(
        name=part.text("DimensionName").lower(),
        is_one_of=comparison is Comparison.EQUALS,
        values=frozenset(value.lower() for value in part.texts("Values", range(1, 101))),
    )


def _fixed(part: Part) -> Fixed:
    zone = _zone(part) if part.has("timeZone") else None
    fixed = Fixed(start=_instant(part, "start", zone), end=_instant(part, "end", zone))
    if fixed.start >= fixed.end:
        refuse(part.at("end"), part.get("end"), "after the start")
    return fixed


def _recurring(part: Part) -> Recurring:
    part.word("frequency", Frequency)
    schedule = part.part("schedule")
    days = [Part({"day": day}, schedule.at("days")) for day in schedule.texts("days", range(1, 8))]
    hours = schedule.numbers("hours", range(1, 25), range(24))
    minutes = schedule.numbers("minutes", range(1, 61), range(60))
    return Recurring(
        days=frozenset(list(Day).index(day.word("day", Day)) for day in days),
        times=tuple(time(hour, minute) for hour in hours for minute in minutes),
        zone=_zone(schedule),
    )


def _zone(part: Part) -> tzinfo:
    name = part.text("timeZone")
    zone = zone_named(name)
    if zone is None:
        refuse(part.at("timeZone"), name, "a time zone such as 'Pacific Standard Time' or 'UTC'")
    return zone


def _instant(part: Part, name: str, zone: tzinfo | None) -> datetime:
    text = part.text(name)
    try:
        return parse_instant(text, zone)
    except ValueError:
        refuse(part.at(name), text, "a date and time such as 2030-01-31T14:00:00Z")


def _resource(part: Part, name: str) -> ResourceId:
    text = part.text(name)
    path = parse_path(text)
    if path is None or not path.names:
        refuse(part.at(name), text, "the id of a resource")
    return path.id


def _check_policy(part: Part) -> None:
    if part.has("predictiveAutoscalePolicy"):
        policy = part.part("predictiveAutoscalePolicy")
        policy.word("scaleMode", Mode)
        if policy.has("scaleLookAheadTime"):
            policy.duration("scaleLookAheadTime", LOOK_AHEAD_MIN, LOOK_AHEAD_MAX)


def _check_notifications(part: Part) -> None:
    """Check what is kept and shown again; nobody is sent anything."""
    for note in part.parts("notifications", FEW) if part.has("notifications") else ():
        note.word("operation", Occasion)
        if note.has("email"):
            email = note.part("email")
            email.truth("sendToSubscriptionAdministrator", default=False)
            email.truth("sendToSubscriptionCoAdministrators", default=False)
            if email.has("customEmails"):
                email.texts("customEmails", range(101))
        for hook in note.parts("webhooks", FEW) if note.has("webhooks") else ():
            if hook.has("serviceUri"):
                hook.text("serviceUri")
            hook.strings("properties")
