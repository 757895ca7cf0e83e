"""Metrics of resources: samples come in, from whoever reports them, and rules look at them.

Users post them today; a driver that measures its machines would call `report` in the same way.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from lastcall.app import resources
from lastcall.app.learning import Moment
from lastcall.engine.errors import InvalidParameterError, OperationNotAllowedError
from lastcall.engine.limits import METRIC_AHEAD_MAX, METRIC_KEPT, METRICS_MAX
from lastcall.engine.measuring import Point, Sample, with_sample
from lastcall.engine.resources import Resource, ResourceId
from lastcall.ports import Reader, Transaction
from lastcall.wire.paths import SERIES_TYPE, Path

# Not one of Azure's: kept below the resource that is measured, and shown by nobody but us.

Points = tuple[Point, ...]


def report(tx: Transaction, target: Path, name: str, sample: Sample, moment: Moment) -> None:
    """Take one more sample of a metric of a resource."""
    if not moment.now - METRIC_KEPT < sample.at <= moment.now + METRIC_AHEAD_MAX:
        raise InvalidParameterError(
            "A sample is from the last 12 hours of the platform's clock, which says"
            f" {moment.now.isoformat()}.",
            target="at",
        )
    path = series_path(target, name)
    before = resources.find(tx, path)
    if before is None and len(tx.resources(SERIES_TYPE)) >= METRICS_MAX:
        raise OperationNotAllowedError(f"There are {METRICS_MAX} metrics, and no more are kept.")
    points = with_sample(() if before is None else points_of(before), sample, moment.now)
    resources.write(tx, path, _content(points), moment, due_at=_stale_at(points))


def series_path(target: Path, name: str) -> Path:
    """Return where a metric of a resource is kept."""
    return Path(
        subscription=target.subscription,
        group=target.group,
        type=SERIES_TYPE,
        names=(name,),
        base=target.text,
    )


def series_of(reader: Reader, target: ResourceId | None = None) -> list[Resource]:
    """Return the metrics of a resource, or all there are."""
    below = "" if target is None else f"{target}/"
    return [each for each in reader.resources(SERIES_TYPE) if each.id.startswith(below)]


def points(reader: Reader, target: ResourceId, name: str) -> Points:
    """Return what was reported of a metric of a resource, oldest first."""
    series = ResourceId(f"{target}/providers/{SERIES_TYPE}/{name.lower()}")
    found = resources.find_by_id(reader, series)
    return () if found is None else points_of(found)


def points_of(series: Resource) -> Points:
    """Return what a series has, oldest first."""
    return msgspec.convert(series.content["points"], Points)


def forget_when_stale(tx: Transaction, series: Resource, moment: Moment) -> datetime | None:
    """Drop a series that nothing was added to for so long that no rule can look at it."""
    stale_at = _stale_at(points_of(series))
    if stale_at > moment.now:
        return stale_at
    tx.forget_resource(series.id)
    return None


def _stale_at(kept: Points) -> datetime:
    return kept[-1].at + METRIC_KEPT + timedelta(minutes=1)


def _content(kept: Points) -> dict[str, Any]:
    return {"points": msgspec.to_builtins(kept)}
