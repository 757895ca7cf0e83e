"""Whether the server lives, and whether it can do its work."""

from collections.abc import Iterator

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.ports import StoreUnavailableError
from lastcall.web.errors import RETRY_AFTER
from lastcall.web.routing import Call, Route, json


class Health:
    """Handlers for probes."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def live(self, _call: Call) -> Response:
        """Say that the server answers."""
        return json({"status": "live"})

    async def ready(self, _call: Call) -> Response:
        """Say that the store answers too and that what was last written to it was recorded."""
        trouble = self._platform.trouble or await self._trouble_reading()
        if trouble:
            return json({"status": "not ready", "reason": trouble}, 503, RETRY_AFTER)
        return json({"status": "ready"})

    async def _trouble_reading(self) -> str:
        try:
            await self._platform.read(lambda reader: reader.next_due())
        except StoreUnavailableError as trouble:
            return str(trouble)
        return ""


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the probes."""
    health = Health(platform)
    yield Route(
        method="GET",
        path="/healthz",
        handler=health.live,
        summary="Whether the server lives",
        is_open=True,
    )
    yield Route(
        method="GET",
        path="/readyz",
        handler=health.ready,
        summary="Whether it can do its work",
        is_open=True,
    )
