"""Whether the server lives, and whether it can do its work."""

from collections.abc import Iterator

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.web.routing import Call, Route, json


class Health:
    """Handlers for probes."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def live(self, _call: Call) -> Response:
        """Say that the server answers."""
        return json({"status": "live"})

    async def ready(self, _call: Call) -> Response:
        """Say that the store answers too; it is a 503 when it does not."""
        await self._platform.read(lambda reader: reader.next_due())
        return json({"status": "ready"})


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the probes."""
    health = Health(platform)
    yield Route(
        method="GET", path="/healthz", handler=health.live, summary="Whether the server lives"
    )
    yield Route(
        method="GET", path="/readyz", handler=health.ready, summary="Whether it can do its work"
    )
