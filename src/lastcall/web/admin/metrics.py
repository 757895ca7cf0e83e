"""Metrics of resources: posted by whoever measures, looked at by autoscale."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta, Struct
from starlette.responses import Response

from lastcall.app import generic, metrics
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.engine.errors import InvalidParameterError, ResourceNotFoundError
from lastcall.engine.limits import (
    METRIC_NAME_CHARACTERS_MAX,
    METRIC_VALUE_MAX,
    NAME_CHARACTERS_MAX,
)
from lastcall.engine.measuring import Sample
from lastcall.engine.resources import Resource
from lastcall.ports import Transaction
from lastcall.web.admin.bodies import PAGING, ROOT, page, parse
from lastcall.web.routing import Call, Parameter, Route, json
from lastcall.wire.paths import SERIES_TYPE, Path, parse_path
from lastcall.wire.quoting import shown

RESOURCE: Final = Parameter(
    name="resource", type="string", text="Only those of the resource with this id."
)


class NewSample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value of a metric of a resource; `at` is now unless told, `instance` whose it is."""

    resource: Annotated[str, Meta(max_length=1024)]
    name: Annotated[
        str,
        Meta(min_length=1, max_length=METRIC_NAME_CHARACTERS_MAX, pattern=r"^[^/\x00-\x1f]+$"),
    ]
    value: Annotated[float, Meta(ge=-METRIC_VALUE_MAX, le=METRIC_VALUE_MAX)]
    at: datetime | None = None
    instance: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)] = ""


class PointView(Struct, frozen=True, kw_only=True):
    """What one instance reported in one minute."""

    at: datetime
    instance: str
    count: int
    average: float
    minimum: float
    maximum: float


class MetricView(Struct, frozen=True, kw_only=True):
    """One metric of a resource, with what was reported of it, oldest first."""

    resource: str
    name: str
    points: list[PointView]


class MetricList(Struct, frozen=True):
    """Some metrics; `next` is the `skip` of the next page."""

    value: list[MetricView]
    next: int | None


class Metrics:
    """Handlers for metrics."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def post(self, call: Call) -> Response:
        """Take one sample."""
        given = await parse(call, NewSample)
        target = _target(given.resource)
        now = self._platform.clock.now()
        sample = Sample(at=_instant(given.at, now), value=given.value, instance=given.instance)
        await self._platform.transact(
            lambda tx, moment: _reported(tx, target, given.name, sample, moment)
        )
        return Response(status_code=204)

    async def list_all(self, call: Call) -> Response:
        """List metrics with what was reported."""
        resource = call.query("resource")
        wanted = None if resource is None else _target(resource).id
        found = await self._platform.read(lambda r: metrics.series_of(r, wanted))
        some, following = page(call, found)
        return json(MetricList([_shown(each) for each in some], following))


def _reported(tx: Transaction, target: Path, name: str, sample: Sample, moment: Moment) -> None:
    if not generic.exists(tx, target):
        raise ResourceNotFoundError(f"There is no resource '{shown(target.text)}'.")
    metrics.report(tx, target, name, sample, moment)


def _target(text: str) -> Path:
    path = parse_path(text)
    if path is None or not path.names:
        raise InvalidParameterError(
            f"'{shown(text)}' is not the id of a resource.", target="resource"
        )
    return path


def _instant(given: datetime | None, now: datetime) -> datetime:
    if given is None:
        return now
    try:
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise InvalidParameterError("The time 'at' is out of range.", target="at") from None


def _shown(series: Resource) -> MetricView:
    points = [
        PointView(
            at=point.at,
            instance=point.instance,
            count=point.count,
            average=point.total / point.count,
            minimum=point.least,
            maximum=point.most,
        )
        for point in metrics.points_of(series)
    ]
    resource = series.path.rpartition(f"/providers/{SERIES_TYPE}/")[0]
    return MetricView(resource=resource, name=series.name, points=points)


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the operations on metrics."""
    handlers = Metrics(platform)
    yield Route(
        method="GET",
        path=f"{ROOT}/metrics",
        handler=handlers.list_all,
        summary="List metrics with what was reported of them",
        gives=MetricList,
        query=(RESOURCE, *PAGING),
    )
    yield Route(
        method="POST",
        path=f"{ROOT}/metrics",
        handler=handlers.post,
        summary="Report one value of a metric of a resource",
        answers=(204,),
        takes=NewSample,
        is_logged=False,  # Samples come all the time, and say nothing about who did what.
    )
