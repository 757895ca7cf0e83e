"""Metrics of a scale set, as they were reported."""

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from lastcall.app import metrics
from lastcall.app.platform import Platform
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.resources import ResourceId
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import INSIGHTS, SET, arm_route, key_of
from lastcall.web.routing import Call, Route, json
from lastcall.wire import versions
from lastcall.wire.metrics import (
    Json,
    Query,
    encode_metric,
    encode_metrics,
    parse_aggregations,
    parse_interval,
    parse_names,
    parse_timespan,
)
from lastcall.wire.names import scale_set_path

METRICS: Final = f"{SET}{INSIGHTS}/metrics"


class Metrics:
    """Handlers for `metrics`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def show(self, call: Call) -> Response:
        """Show what was reported of a set, in spans of time."""
        start, end = parse_timespan(call.query("timespan"), self._platform.clock.now())
        query = Query(
            start=start,
            end=end,
            interval=parse_interval(call.query("interval")),
            names=parse_names(call.query("metricnames")),
            aggregations=parse_aggregations(call.query("aggregation")),
        )
        key = key_of(call)
        return json(await self._platform.read(lambda r: _shown(r, key, query)))


def _shown(reader: Reader, key: SetKey, query: Query) -> Json:
    scale_set = known(reader, key)
    path = scale_set_path(scale_set)
    found = [
        encode_metric(query, path, series.name, metrics.points_of(series))
        for series in metrics.series_of(reader, ResourceId(path.lower()))
        if not query.names or series.name.lower() in query.names
    ]
    return encode_metrics(query, path, scale_set.location, found)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the one operation on metrics."""
    show = Metrics(platform).show
    yield arm_route(
        account, "GET", METRICS, show, "Show the metrics of a set", versions=versions.INSIGHTS
    )
