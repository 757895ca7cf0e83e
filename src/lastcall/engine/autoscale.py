"""Autoscale: how many instances a setting wants, from what was measured (R114)."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from lastcall.engine.measuring import Measure, Point, Statistic, measured
from lastcall.engine.resources import ResourceId
from lastcall.engine.schedules import Fixed, Recurring, active
from lastcall.engine.value import Value

# Which metric of which resource.
MetricKey = tuple[ResourceId, str]
Metrics = Mapping[MetricKey, Sequence[Point]]


class Comparison(StrEnum):
    """How a measured number is held against a threshold."""

    EQUALS = "Equals"
    NOT_EQUALS = "NotEquals"
    GREATER = "GreaterThan"
    GREATER_OR_EQUAL = "GreaterThanOrEqual"
    LESS = "LessThan"
    LESS_OR_EQUAL = "LessThanOrEqual"


COMPARE: Final[dict[Comparison, Callable[[float, float], bool]]] = {
    Comparison.EQUALS: lambda value, threshold: value == threshold,
    Comparison.NOT_EQUALS: lambda value, threshold: value != threshold,
    Comparison.GREATER: lambda value, threshold: value > threshold,
    Comparison.GREATER_OR_EQUAL: lambda value, threshold: value >= threshold,
    Comparison.LESS: lambda value, threshold: value < threshold,
    Comparison.LESS_OR_EQUAL: lambda value, threshold: value <= threshold,
}


class Direction(StrEnum):
    """Which way a rule scales; None is to an exact count, whichever way that is."""

    NONE = "None"
    INCREASE = "Increase"
    DECREASE = "Decrease"


class ScaleType(StrEnum):
    """What the value of a rule counts."""

    CHANGE = "ChangeCount"
    PERCENT = "PercentChangeCount"
    EXACT = "ExactCount"


class Rule(Value, frozen=True, kw_only=True):
    """When what is measured compares so to the threshold, scale like that."""

    measure: Measure
    comparison: Comparison
    threshold: float
    direction: Direction
    type: ScaleType
    value: int
    cooldown: timedelta
    per_instance: bool = False


class Profile(Value, frozen=True, kw_only=True):
    """How many instances there may be and what changes their number, at its times."""

    name: str
    minimum: int
    maximum: int
    default: int
    rules: tuple[Rule, ...] = ()
    fixed: Fixed | None = None
    recurring: Recurring | None = None


class Setting(Value, frozen=True, kw_only=True):
    """What autoscale does to `target`, while it is enabled."""

    target: ResourceId | None
    profiles: tuple[Profile, ...]
    enabled: bool


class Stand(Value, frozen=True, kw_only=True):
    """How things are: so many instances, last changed by autoscale at `scaled_at`."""

    capacity: int
    now: datetime
    scaled_at: datetime | None = None


class Verdict(Value, frozen=True):
    """How many instances there should be, and why, in one sentence."""

    capacity: int
    reason: str


class _Vote(Value, frozen=True, kw_only=True):
    """What one rule says; `value` is None where nothing was measured."""

    rule: Rule
    way: Direction
    target: int
    value: float | None
    is_cooling: bool

    @property
    def fires(self) -> bool:
        return self.value is not None and _holds(self.rule, self.value)

    @property
    def reason(self) -> str:
        rule = self.rule
        return f"{rule.measure.metric} is {self.value:g}, {rule.comparison} {rule.threshold:g}."


def evaluate(setting: Setting, metrics: Metrics, stand: Stand) -> Verdict:
    """Return how many instances the setting wants, always within the bounds of its profile."""
    profile = active(setting.profiles, stand.now)
    if profile is None:
        return Verdict(stand.capacity, "No profile counts at this time.")
    bounded = _bounded(stand.capacity, profile)
    if bounded != stand.capacity:
        return Verdict(
            bounded,
            f"Profile '{profile.name}' has {profile.minimum} to {profile.maximum} instances.",
        )
    votes = [_vote(rule, metrics, stand) for rule in profile.rules]
    if votes and all(vote.value is None for vote in votes):
        return Verdict(
            max(stand.capacity, profile.default),
            f"No metrics are available, and profile '{profile.name}' has a default of"
            f" {profile.default}.",
        )
    verdict = _decided(setting, votes, stand)
    return Verdict(_bounded(verdict.capacity, profile), verdict.reason)


def _decided(setting: Setting, votes: Sequence[_Vote], stand: Stand) -> Verdict:
    """Scale out when any rule says so; scale in only when all that could say so do."""
    rising = [vote for vote in votes if vote.way is Direction.INCREASE]
    falling = [vote for vote in votes if vote.way is Direction.DECREASE]
    if any(vote.fires for vote in rising):
        return _farthest([vote for vote in rising if vote.fires], stand)
    if not falling or not all(vote.fires for vote in falling):
        return Verdict(stand.capacity, "No rule asks for a change.")
    wanted = _farthest(falling, stand)
    for fewer in range(wanted.capacity, stand.capacity):
        if not any(_would_fire(vote, setting, stand.capacity, fewer) for vote in rising):
            return Verdict(fewer, wanted.reason)
    if wanted.capacity == stand.capacity:
        return wanted
    return Verdict(stand.capacity, "Fewer instances would be scaled out again at once.")


def _farthest(votes: Sequence[_Vote], stand: Stand) -> Verdict:
    """Return the vote for the most instances among those that have waited long enough."""
    ready = [vote for vote in votes if not vote.is_cooling]
    if not ready:
        return Verdict(stand.capacity, "The last change is too recent for another.")
    best = max(ready, key=lambda vote: vote.target)
    return Verdict(best.target, best.reason)


def _vote(rule: Rule, metrics: Metrics, stand: Stand) -> _Vote:
    points = metrics.get((rule.measure.resource, rule.measure.metric.lower()), ())
    value = measured(rule.measure, points, stand.now)
    if value is not None and rule.per_instance:
        value /= max(1, stand.capacity)
    way = _way(rule, stand.capacity)
    return _Vote(
        rule=rule,
        way=way,
        target=_target(rule, way, stand.capacity),
        value=value,
        is_cooling=stand.scaled_at is not None and stand.now < stand.scaled_at + rule.cooldown,
    )


def _way(rule: Rule, capacity: int) -> Direction:
    """Return which way a rule goes; to an exact count it depends on where we are."""
    if rule.direction is not Direction.NONE or rule.type is not ScaleType.EXACT:
        return rule.direction
    if rule.value == capacity:
        return Direction.NONE
    return Direction.INCREASE if rule.value > capacity else Direction.DECREASE


def _target(rule: Rule, way: Direction, capacity: int) -> int:
    rises = way is Direction.INCREASE
    if rule.type is ScaleType.EXACT:
        return max(rule.value, capacity) if rises else min(rule.value, capacity)
    change = rule.value
    if rule.type is ScaleType.PERCENT:
        part = capacity * rule.value / 100
        # At least one, or a small set would never change.
        change = max(1, math.ceil(part) if rises else math.floor(part))
    return capacity + change if rises else max(0, capacity - change)


def _would_fire(vote: _Vote, setting: Setting, capacity: int, fewer: int) -> bool:
    """Whether a rule that scales out would, once `fewer` instances share what these carry now."""
    if vote.value is None:
        return False
    if not _is_shared(vote.rule, setting):
        return _holds(vote.rule, vote.value)
    if fewer == 0:
        return _holds(vote.rule, math.copysign(math.inf, vote.value) if vote.value else 0.0)
    return _holds(vote.rule, vote.value * capacity / fewer)


def _is_shared(rule: Rule, setting: Setting) -> bool:
    """Whether what a rule measures is what each instance has to carry."""
    if rule.per_instance:
        return True
    is_sum = rule.measure.statistic in (Statistic.SUM, Statistic.COUNT)
    return rule.measure.resource == setting.target and not is_sum


def _holds(rule: Rule, value: float) -> bool:
    return COMPARE[rule.comparison](value, rule.threshold)


def _bounded(capacity: int, profile: Profile) -> int:
    return min(max(capacity, profile.minimum), profile.maximum)
