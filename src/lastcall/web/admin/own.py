"""All of our own API, in one list."""

from collections.abc import Callable, Iterator

from lastcall.app.authority import Authority
from lastcall.app.platform import Platform
from lastcall.engine.model import Machine
from lastcall.web.admin import (
    activities,
    clock,
    events,
    fleet,
    health,
    history,
    metrics,
    openapi,
    principals,
)
from lastcall.web.admin.stream import Streams
from lastcall.web.routing import Route


def routes(
    platform: Platform,
    streams: Streams,
    metadata_url: Callable[[Machine], str | None],
    authority: Authority,
) -> Iterator[Route]:
    """Yield every operation of our own, and the one that describes them."""
    own = [
        *clock.routes(platform),
        *events.routes(platform),
        *fleet.routes(platform, metadata_url),
        *history.routes(platform, streams),
        *activities.routes(platform),
        *metrics.routes(platform),
        *principals.routes(authority),
        *health.routes(platform),
    ]
    yield from own
    yield openapi.route(own)
