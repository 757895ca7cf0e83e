"""What our own API shows, as typed values; its description is made of the same types."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from lastcall.engine.model import (
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    Power,
    Provisioning,
    Scope,
    ScopeId,
    ScopeKind,
    SetId,
    Source,
    Status,
)
from lastcall.ports import Ended, Recorded


class Clock(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the clock stands; `pace` is how much shorter every notice is."""

    now: datetime
    mode: str
    pace: float


class Line(Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of history."""

    seq: int
    at: datetime
    what: str
    text: str
    scope: ScopeId
    set: SetId | None
    event: EventId | None
    vm_id: MachineId | None
    instance: str
    by: str


class EventView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One event; status Approved is one that guests still see as Scheduled."""

    id: EventId
    type: EventType
    status: Status
    source: Source
    scope: ScopeId
    set: SetId | None
    resources: tuple[str, ...]
    announced_at: datetime
    not_before: datetime
    started_at: datetime | None
    ended_at: datetime | None
    description: str
    duration_in_seconds: int


class EventDetail(EventView, frozen=True, kw_only=True, rename="camel"):
    """One event with who approved it and everything that happened to it."""

    approved_by: tuple[str, ...]
    history: tuple[Line, ...]


class InstanceView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One instance; `metadata` is the base URL of its own metadata endpoint."""

    name: str
    vm_id: MachineId
    instance_id: str
    computer_name: str
    set: SetId | None
    scope: ScopeId
    zone: str
    state: Provisioning
    power: Power
    created_at: datetime
    metadata: str | None


class ScopeView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One group of machines that share an events document."""

    id: ScopeId
    kind: ScopeKind
    set: SetId | None
    members: tuple[str, ...]
    watched_at: datetime | None
    incarnation: int
    events: int


class EventList(Struct, frozen=True):
    """Some events; `next` is the `skip` of the next page."""

    value: list[EventView]
    next: int | None


class InstanceList(Struct, frozen=True):
    """Some instances; `next` is the `skip` of the next page."""

    value: list[InstanceView]
    next: int | None


class ScopeList(Struct, frozen=True):
    """Some scopes; `next` is the `skip` of the next page."""

    value: list[ScopeView]
    next: int | None


class LineList(Struct, frozen=True):
    """Some lines of history, oldest first."""

    value: list[Line]


def show_event(event: Event, scope: Scope) -> EventView:
    """Return an event that is known to its scope."""
    names = tuple(scope.machines[machine].name for machine in event.machines)
    return _event_view(event, scope.id, scope.set_id, names, None)


def show_ended(ended: Ended) -> EventView:
    """Return an event that has left its scope."""
    return _event_view(ended.event, ended.scope_id, None, ended.resources, ended.ended_at)


def show_detail(event: EventView, history: Sequence[Recorded]) -> EventDetail:
    """Return an event with its history."""
    return EventDetail(
        **asdict(event),
        approved_by=tuple(line.by for line in history if line.what == "approved"),
        history=tuple(show_line(line) for line in history),
    )


def show_instance(machine: Machine, scope_id: ScopeId, metadata: str | None) -> InstanceView:
    """Return an instance."""
    return InstanceView(
        name=machine.name,
        vm_id=machine.id,
        instance_id=machine.instance_id,
        computer_name=machine.computer_name,
        set=machine.set_id,
        scope=scope_id,
        zone=machine.zone,
        state=machine.provisioning,
        power=machine.power,
        created_at=machine.created_at,
        metadata=metadata,
    )


def show_scope(scope: Scope) -> ScopeView:
    """Return a scope."""
    return ScopeView(
        id=scope.id,
        kind=scope.kind,
        set=scope.set_id,
        members=tuple(machine.name for machine in scope.machines.values()),
        watched_at=scope.watched_at,
        incarnation=scope.incarnation,
        events=sum(event.type is not None for event in scope.events.values()),
    )


def show_line(line: Recorded) -> Line:
    """Return a line of history."""
    return Line(
        seq=line.seq,
        at=line.at,
        what=line.what,
        text=line.text,
        scope=line.scope_id,
        set=line.set_id,
        event=line.event_id,
        vm_id=line.machine,
        instance=line.name,
        by=line.by,
    )


def _event_view(
    event: Event,
    scope_id: ScopeId,
    set_id: SetId | None,
    names: tuple[str, ...],
    ended_at: datetime | None,
) -> EventView:
    assert event.type is not None, "quiet events are nobody's business"
    return EventView(
        id=event.id,
        type=event.type,
        status=event.status,
        source=event.source,
        scope=scope_id,
        set=set_id,
        resources=names,
        announced_at=event.announced_at,
        not_before=event.not_before,
        started_at=event.started_at,
        ended_at=ended_at,
        description=event.description,
        duration_in_seconds=event.duration_s,
    )
