"""Metrics: what instances reported, minute by minute, and the one number a rule looks at."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from lastcall.engine.limits import METRIC_KEPT, METRIC_POINTS_MAX
from lastcall.engine.resources import ResourceId
from lastcall.engine.value import Value

# The one dimension that samples have: which instance they are about.
INSTANCE_DIMENSION: Final = "vmname"


class Statistic(StrEnum):
    """How the samples of one span of time, of all instances, become one number."""

    AVERAGE = "Average"
    MIN = "Min"
    MAX = "Max"
    SUM = "Sum"
    COUNT = "Count"


class Aggregation(StrEnum):
    """How the numbers of all spans of a window become one."""

    AVERAGE = "Average"
    MINIMUM = "Minimum"
    MAXIMUM = "Maximum"
    TOTAL = "Total"
    COUNT = "Count"
    LAST = "Last"


class Sample(Value, frozen=True, kw_only=True):
    """One value, as it was reported."""

    at: datetime
    value: float
    instance: str = ""


class Point(Value, frozen=True, kw_only=True, array_like=True):
    """Everything that one instance reported in one minute; kept short, for there are many."""

    at: datetime
    count: int
    total: float
    least: float
    most: float
    instance: str = ""


class Dimension(Value, frozen=True, kw_only=True):
    """Which samples are meant: those that have one of the values, or those that have none."""

    name: str
    is_one_of: bool
    values: frozenset[str]


class Measure(Value, frozen=True, kw_only=True):
    """Which number to make of which metric."""

    resource: ResourceId
    metric: str
    grain: timedelta
    statistic: Statistic
    window: timedelta
    aggregation: Aggregation
    dimensions: tuple[Dimension, ...] = ()


def with_sample(points: Sequence[Point], sample: Sample, now: datetime) -> tuple[Point, ...]:
    """Return the points with one more sample, without those that nobody may look at any more."""
    minute = sample.at.replace(second=0, microsecond=0)
    kept: list[Point] = []
    merged = Point(
        at=minute,
        count=1,
        total=sample.value,
        least=sample.value,
        most=sample.value,
        instance=sample.instance,
    )
    for point in points:
        if (point.at, point.instance) == (minute, sample.instance):
            merged = _merged(point, sample.value)
        elif point.at > now - METRIC_KEPT:
            kept.append(point)
    ordered = sorted((*kept, merged), key=lambda point: (point.at, point.instance))
    return tuple(ordered[-METRIC_POINTS_MAX:])


def _merged(point: Point, value: float) -> Point:
    return replace(
        point,
        count=point.count + 1,
        total=point.total + value,
        least=min(point.least, value),
        most=max(point.most, value),
    )


def measured(measure: Measure, points: Sequence[Point], now: datetime) -> float | None:
    """Return the number that a rule looks at, None where nothing was reported."""
    since = now - measure.window
    spans: dict[int, list[Point]] = {}
    for point in points:
        if since <= point.at <= now and _is_meant(point, measure.dimensions):
            spans.setdefault((point.at - since) // measure.grain, []).append(point)
    ordered = [spans[place] for place in sorted(spans)]
    if not ordered:
        return None
    if measure.aggregation is Aggregation.COUNT:
        return sum(combined(Statistic.COUNT, span) for span in ordered)
    return AGGREGATE[measure.aggregation]([combined(measure.statistic, span) for span in ordered])


def combined(statistic: Statistic, points: Sequence[Point]) -> float:
    """Return one number for the points of one span of time."""
    return COMBINE[statistic](points)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


COMBINE: Final[dict[Statistic, Callable[[Sequence[Point]], float]]] = {
    Statistic.AVERAGE: lambda points: sum(p.total for p in points) / sum(p.count for p in points),
    Statistic.MIN: lambda points: min(p.least for p in points),
    Statistic.MAX: lambda points: max(p.most for p in points),
    Statistic.SUM: lambda points: sum(p.total for p in points),
    Statistic.COUNT: lambda points: sum(p.count for p in points),
}
AGGREGATE: Final[dict[Aggregation, Callable[[Sequence[float]], float]]] = {
    Aggregation.AVERAGE: _mean,
    Aggregation.MINIMUM: min,
    Aggregation.MAXIMUM: max,
    Aggregation.TOTAL: sum,
    Aggregation.LAST: lambda values: values[-1],
}


def _is_meant(point: Point, dimensions: Sequence[Dimension]) -> bool:
    """Whether every dimension names this point; samples have no other than their instance."""
    for dimension in dimensions:
        if dimension.name != INSTANCE_DIMENSION:
            return False
        if (point.instance.lower() in dimension.values) is not dimension.is_one_of:
            return False
    return True
