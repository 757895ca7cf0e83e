"""What has happened: read back, or followed as it happens."""

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response, StreamingResponse

from lastcall.app.platform import Platform
from lastcall.engine.model import EventId, MachineId
from lastcall.ports import HistoryFilter
from lastcall.web.admin.bodies import LIMIT, ROOT, page_limit
from lastcall.web.admin.stream import Streams
from lastcall.web.admin.views import LineList, show_line
from lastcall.web.routing import Call, Parameter, Route, json
from lastcall.wire.scheduledevents import GUID

DIGITS_MAX: Final = 18
SEQ_ALLOWED: Final = range(10**DIGITS_MAX)
AFTER: Final = Parameter(name="after", type="integer", text="Only lines after this one.")
STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class History:
    """Handlers for history."""

    def __init__(self, platform: Platform, streams: Streams) -> None:
        self._platform = platform
        self._streams = streams

    async def list_lines(self, call: Call) -> Response:
        """List lines of history, the newest that fit, oldest first."""
        wanted = self._filter(call)
        lines = await self._platform.read(lambda r: r.history(wanted))
        return json(LineList([show_line(line) for line in lines]))

    async def follow(self, call: Call) -> Response:
        """Send lines of history as they are committed, from where the client left off."""
        lines = self._streams.follow(_left_off_at(call))
        return StreamingResponse(lines, headers=STREAM_HEADERS, media_type="text/event-stream")

    def _filter(self, call: Call) -> HistoryFilter:
        event, instance = call.query("event"), call.query("instance")
        machine = None if instance is None else self._machine(instance)
        scope = None if machine is None else self._platform.directory.scope_of(machine)
        return HistoryFilter(
            limit=page_limit(call),
            after=call.number("after", 0, SEQ_ALLOWED),
            event_id=None if event is None else EventId(event.upper()),
            machine=machine,
            scope_id=None if scope is None else scope.scope.id,
        )

    def _machine(self, text: str) -> MachineId:
        # A vmId needs no look-up: its history outlives the machine.
        if GUID.fullmatch(text):
            return MachineId(text.lower())
        return self._platform.directory.named(text)


def _left_off_at(call: Call) -> int | None:
    """Return the last line that the client has seen; browsers say it in a header of their own."""
    after = call.number("after", -1, SEQ_ALLOWED)
    resumed = call.header("last-event-id") or ""
    if resumed.isascii() and resumed.isdigit() and len(resumed) <= DIGITS_MAX:
        return int(resumed)
    return None if after < 0 else after


def routes(platform: Platform, streams: Streams) -> Iterator[Route]:
    """Yield the operations on history."""
    history = History(platform, streams)
    yield Route(
        method="GET",
        path=f"{ROOT}/history",
        handler=history.list_lines,
        summary="List lines of history",
        gives=LineList,
        query=(
            LIMIT,
            AFTER,
            Parameter(name="event", type="string", text="Only of this event."),
            Parameter(name="instance", type="string", text="Only of this name or vmId."),
        ),
    )
    yield Route(
        method="GET",
        path=f"{ROOT}/stream",
        handler=history.follow,
        summary="Follow history as server-sent events; Last-Event-ID resumes",
        query=(AFTER,),
    )
