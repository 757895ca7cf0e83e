"""The platform's clock: where it stands, and how a virtual one is moved."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from msgspec import Struct
from starlette.responses import Response

from lastcall.app.platform import MovableClock, Platform
from lastcall.engine.errors import InvalidParameterError
from lastcall.web.admin.bodies import ROOT, parse
from lastcall.web.admin.views import Clock
from lastcall.web.routing import Call, Route, json
from lastcall.wire.durations import parse_duration

ADVANCE_MAX: Final = timedelta(days=366)


class Advance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far to move: `by` an ISO 8601 duration such as PT10M, or `seconds`."""

    by: str | None = None
    seconds: float | None = None


class Time:
    """Handlers for the clock."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def show(self, _call: Call) -> Response:
        """Show the clock."""
        return json(self._shown())

    async def advance(self, call: Call) -> Response:
        """Move a virtual clock, doing everything that becomes due on the way."""
        by = _distance(await parse(call, Advance))
        await self._platform.advance(by)
        return json(self._shown())

    def _shown(self) -> Clock:
        clock = self._platform.clock
        mode = "virtual" if isinstance(clock, MovableClock) else "real"
        return Clock(now=clock.now(), mode=mode, pace=self._platform.policy.pace)


def _distance(wanted: Advance) -> timedelta:
    if (wanted.by is None) == (wanted.seconds is None):
        raise InvalidParameterError("Give either 'by' or 'seconds'.")
    if wanted.by is not None:
        by = parse_duration(wanted.by)
    elif wanted.seconds is not None and 0 <= wanted.seconds <= ADVANCE_MAX.total_seconds():
        by = timedelta(seconds=wanted.seconds)
    else:
        by = ADVANCE_MAX * 2
    if by > ADVANCE_MAX:
        raise InvalidParameterError(
            f"The clock moves forward by 0 to {ADVANCE_MAX.days} days at a time."
        )
    return by


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the operations on the clock."""
    time = Time(platform)
    yield Route(
        method="GET",
        path=f"{ROOT}/clock",
        handler=time.show,
        summary="Show where the clock stands",
        gives=Clock,
    )
    yield Route(
        method="POST",
        path=f"{ROOT}/clock/advance",
        handler=time.advance,
        summary="Move a virtual clock, doing everything that becomes due on the way",
        takes=Advance,
        gives=Clock,
    )
