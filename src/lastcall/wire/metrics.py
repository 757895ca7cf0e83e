"""Metrics as the monitoring provider shows them: spans of time, each with its numbers."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import unquote

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import GRAIN_MAX, GRAIN_MIN
from lastcall.engine.measuring import Point, Statistic, combined
from lastcall.engine.value import Value
from lastcall.wire.durations import encode_duration
from lastcall.wire.fields import duration, refuse
from lastcall.wire.instants import encode_instant, parse_instant
from lastcall.wire.quoting import shown

Json = dict[str, Any]

SPAN_DEFAULT: Final = timedelta(hours=1)
STATISTICS: Final = {
    "average": Statistic.AVERAGE,
    "count": Statistic.COUNT,
    "maximum": Statistic.MAX,
    "minimum": Statistic.MIN,
    "total": Statistic.SUM,
}


class Query(Value, frozen=True, kw_only=True):
    """What is wanted of metrics; no names are all names."""

    start: datetime
    end: datetime
    interval: timedelta
    names: frozenset[str]
    aggregations: tuple[str, ...]


def parse_timespan(text: str | None, now: datetime) -> tuple[datetime, datetime]:
    """Return the two ends of a timespan such as START/END, the last hour unless told."""
    if text is None:
        return now - SPAN_DEFAULT, now
    start, _, end = (text if "/" in text else unquote(text)).partition("/")
    try:
        return parse_instant(start), parse_instant(end)
    except ValueError:
        raise InvalidParameterError(
            f"The value '{shown(text)}' of 'timespan' is not two dates and times with a '/'"
            " between them.",
            target="timespan",
        ) from None


def parse_interval(text: str | None) -> timedelta:
    """Return how long the spans are, a minute unless told."""
    return duration("PT1M" if text is None else text, "interval", GRAIN_MIN, GRAIN_MAX)


def parse_names(text: str | None) -> frozenset[str]:
    """Return the names of metrics in lower case."""
    return frozenset(name.strip().lower() for name in (text or "").split(",") if name.strip())


def parse_aggregations(text: str | None) -> tuple[str, ...]:
    """Return which numbers are wanted of each span, the average unless told."""
    wanted = tuple(dict.fromkeys(sorted(parse_names(text)))) or ("average",)
    for name in wanted:
        if name not in STATISTICS:
            refuse("aggregation", name, f"one of {', '.join(STATISTICS)}")
    return wanted


def encode_metrics(query: Query, resource: str, region: str, found: Iterable[Json]) -> Json:
    """Return the answer to a query about the metrics of a resource."""
    return {
        "cost": 0,
        "timespan": f"{encode_instant(query.start)}/{encode_instant(query.end)}",
        "interval": encode_duration(query.interval),
        "namespace": "/".join(resource.split("/")[6:8]),
        "resourceregion": region,
        "value": list(found),
    }


def encode_metric(query: Query, resource: str, name: str, points: Sequence[Point]) -> Json:
    """Return one metric of an answer."""
    return {
        "id": f"{resource}/providers/Microsoft.Insights/metrics/{name}",
        "type": "Microsoft.Insights/metrics",
        "name": {"value": name, "localizedValue": name},
        "unit": "Unspecified",
        "errorCode": "Success",
        "timeseries": [{"metadatavalues": [], "data": _data(query, points)}],
    }


def _data(query: Query, points: Sequence[Point]) -> list[Json]:
    # Points are of whole minutes, and so the spans begin with one.
    start = query.start.replace(second=0, microsecond=0)
    spans: dict[int, list[Point]] = {}
    for point in points:
        if start <= point.at < query.end:
            spans.setdefault((point.at - start) // query.interval, []).append(point)
    return [
        {
            "timeStamp": encode_instant(start + query.interval * place),
            **{name: combined(STATISTICS[name], spans[place]) for name in query.aggregations},
        }
        for place in sorted(spans)
    ]
