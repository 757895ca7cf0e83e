"""Events from the platform's side: announced, looked at, approved for the guests, cancelled."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from operator import attrgetter
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from lastcall.app import events
from lastcall.app.directory import Directory
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.engine.errors import (
    EventNotFoundError,
    IllegalTransitionError,
    InvalidParameterError,
)
from lastcall.engine.facts import Announced
from lastcall.engine.limits import (
    DESCRIPTION_CHARACTERS_MAX,
    DURATION_S_MAX,
    EVENT_MACHINES_MAX,
    HISTORY_PAGE_MAX,
    NOTICE_MIN,
)
from lastcall.engine.model import Event, EventId, EventType, MachineId, Scope, ScopeId
from lastcall.ports import Ended, HistoryFilter, Reader, Recorded, Transaction
from lastcall.web.admin.bodies import PAGING, ROOT, page, page_window, parse
from lastcall.web.admin.views import (
    EventDetail,
    EventList,
    EventView,
    show_detail,
    show_ended,
    show_event,
)
from lastcall.web.routing import Call, Parameter, Route, json
from lastcall.wire.durations import encode_duration, parse_duration
from lastcall.wire.quoting import shown

OPERATOR = "operator"


class Announcement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What the platform will do: to `instances` of one scope, given by name or vmId.

    `notice` is an ISO 8601 duration, the documented minimum unless told; less than that needs
    `short`. `started` is a failure that gives no notice at all.
    """

    type: EventType
    instances: Annotated[tuple[str, ...], Meta(min_length=1, max_length=EVENT_MACHINES_MAX)]
    notice: str | None = None
    description: Annotated[str, Meta(max_length=DESCRIPTION_CHARACTERS_MAX)] | None = None
    duration_in_seconds: Annotated[int, Meta(ge=-1, le=DURATION_S_MAX)] | None = None
    started: bool = False
    short: bool = False


class Events:
    """Handlers for events."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List the events that are pending or started, on request with those that ended."""
        present = sorted(
            _present(self._platform.directory), key=attrgetter("announced_at"), reverse=True
        )
        if not call.flag("all"):
            return json(EventList(*page(call, present)))
        window = page_window(call)
        shown = present[window.start : window.stop + 1]
        rest, skip = len(window) + 1 - len(shown), max(0, window.start - len(present))
        ended = await self._platform.read(lambda r: r.ended_events(rest, skip))
        # One that ends in between is told as it was: it stands in the list once.
        known = {event.id for event in present}
        shown += [show_ended(one) for one in ended if one.event.id not in known]
        is_last = len(ended) < rest
        return json(EventList(shown[: len(window)], None if is_last else window.stop))

    async def show(self, call: Call) -> Response:
        """Show one event, present or past, with its history."""
        event_id = _event_id(call)
        present = _find(self._platform.directory, event_id)
        history, ended = await self._platform.read(lambda r: _past(r, event_id))
        if ended is not None:
            return json(show_detail(show_ended(ended), history))
        if present is None:
            raise _unknown(event_id)
        return json(show_detail(show_event(present[1], present[0]), history))

    async def announce(self, call: Call) -> Response:
        """Announce an event."""
        fact = self._fact(await parse(call, Announcement))
        step = await self._platform.announce(self._scope_of(fact.machines), fact)
        return json(show_event(step.scope.events[fact.event_id], step.scope), 201)

    async def approve(self, call: Call) -> Response:
        """Approve an event in the guests' stead."""
        event_id = _event_id(call)
        scope_id = self._scope_with(event_id)
        return json(
            await self._platform.transact(
                lambda tx, moment: _approved(tx, scope_id, event_id, moment)
            )
        )

    async def cancel(self, call: Call) -> Response:
        """Take back an announcement that has not started (R54)."""
        event_id = _event_id(call)
        scope_id = self._scope_with(event_id)
        await self._platform.transact(lambda tx, moment: _cancel(tx, scope_id, event_id, moment))
        return Response(status_code=204)

    def _scope_with(self, event_id: EventId) -> ScopeId | None:
        """Return where an event was last seen; only the transaction knows whether it still is."""
        found = _find(self._platform.directory, event_id)
        return None if found is None else found[0].id

    def _fact(self, wanted: Announcement) -> Announced:
        directory = self._platform.directory
        return Announced(
            event_id=self._platform.moment().ids.event_id(),
            type=wanted.type,
            machines=tuple(dict.fromkeys(directory.named(name) for name in wanted.instances)),
            notice=_notice(wanted),
            has_started=wanted.started,
            description=wanted.description,
            duration_s=wanted.duration_in_seconds,
        )

    def _scope_of(self, machines: Sequence[MachineId]) -> ScopeId:
        found = {self._platform.directory.scope_of(machine) for machine in machines}
        scopes = {published.scope.id for published in found if published is not None}
        if len(scopes) != 1:
            raise InvalidParameterError(
                f"The instances are in {len(scopes)} scopes; an event is about machines of one.",
                target="instances",
            )
        return scopes.pop()


def _notice(wanted: Announcement) -> timedelta | None:
    if wanted.notice is None:
        return None
    notice = parse_duration(wanted.notice)
    least = NOTICE_MIN.get(wanted.type, timedelta(0))
    if notice < least and not wanted.short:
        raise InvalidParameterError(
            f"{wanted.type} gives at least {encode_duration(least)} of notice;"
            ' add "short": true to give less.',
            target="notice",
        )
    return notice


def _event_id(call: Call) -> EventId:
    return EventId(call.names["event"].upper())


def _present(directory: Directory) -> Iterator[EventView]:
    for published in directory.scopes():
        scope = published.scope
        for event in scope.events.values():
            if event.type is not None:
                yield show_event(event, scope)


def _find(directory: Directory, event_id: EventId) -> tuple[Scope, Event] | None:
    for published in directory.scopes():
        event = published.scope.events.get(event_id)
        if event is not None and event.type is not None:
            return published.scope, event
    return None


def _unknown(event_id: EventId) -> EventNotFoundError:
    return EventNotFoundError(f"There is no scheduled event '{shown(event_id)}'.")


def _past(reader: Reader, event_id: EventId) -> tuple[Sequence[Recorded], Ended | None]:
    history = reader.history(HistoryFilter(limit=HISTORY_PAGE_MAX, event_id=event_id))
    return history, reader.ended_event(event_id)


def _approved(
    tx: Transaction, scope_id: ScopeId | None, event_id: EventId, moment: Moment
) -> EventView:
    """Approve an event and return it as it then stands; one that has ended needs nothing (D3)."""
    ended = tx.ended_event(event_id)
    if ended is not None:
        return show_ended(ended)
    if scope_id is None:
        raise _unknown(event_id)
    approval = events.Approval(scope_id, (event_id,), OPERATOR)
    scope = events.approve(tx, approval, moment).scope
    return show_event(scope.events[event_id], scope)


def _cancel(tx: Transaction, scope_id: ScopeId | None, event_id: EventId, moment: Moment) -> None:
    ended = tx.ended_event(event_id)
    if ended is not None:
        raise IllegalTransitionError(
            f"{event_id} is past the point where it could be cancelled: it is"
            f" {ended.event.status} already."
        )
    if scope_id is None:
        raise _unknown(event_id)
    events.withdraw(tx, scope_id, event_id, moment)


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the operations on events."""
    handlers = Events(platform)
    everything, one = f"{ROOT}/events", f"{ROOT}/events/{{event}}"
    with_ended = Parameter(name="all", type="boolean", text="With those that have ended.")
    yield Route(
        method="GET",
        path=everything,
        handler=handlers.list_all,
        summary="List events",
        gives=EventList,
        query=(with_ended, *PAGING),
    )
    yield Route(
        method="POST",
        path=everything,
        handler=handlers.announce,
        summary="Announce an event, as the platform does",
        answers=(201,),
        takes=Announcement,
        gives=EventView,
    )
    yield Route(
        method="GET",
        path=one,
        handler=handlers.show,
        summary="Show an event with its history",
        gives=EventDetail,
    )
    yield Route(
        method="DELETE",
        path=one,
        handler=handlers.cancel,
        summary="Cancel an announced event",
        answers=(204,),
    )
    yield Route(
        method="POST",
        path=f"{one}/approve",
        handler=handlers.approve,
        summary="Approve an event in the guests' stead",
        gives=EventView,
    )
