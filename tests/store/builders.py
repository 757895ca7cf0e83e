"""One small scope with one event, one effect and one line of history."""

from datetime import UTC, datetime, timedelta

from lastcall.engine.effects import Note, Perform, Step
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    Scope,
    ScopeId,
    ScopeKind,
    Source,
    Status,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LEASE = timedelta(seconds=30)
MACHINE = MachineId("web_0")


def an_event(event_id: str = "E") -> Event:
    return Event(
        id=EventId(event_id),
        type=EventType.FREEZE,
        action=Action.FREEZE,
        source=Source.PLATFORM,
        status=Status.STARTED,
        machines=(MACHINE,),
        remaining=(MACHINE,),
        announced_at=NOON,
        not_before=NOON,
        started_at=NOON,
    )


def a_scope() -> Scope:
    machine = Machine(id=MACHINE, name="web_0", ordinal=1, created_at=NOON)
    return Scope(
        id=ScopeId("scope"),
        kind=ScopeKind.PLACEMENT_GROUP,
        machines={machine.id: machine},
        events={EventId("E"): an_event()},
    )


def created(scope: Scope) -> Step:
    return Step(before=None, scope=scope)


def a_step() -> Step:
    return Step(
        before=None,
        scope=a_scope(),
        performs=(Perform(EventId("E"), MACHINE, Action.FREEZE, NOON),),
        notes=(Note(what="note", text="said"),),
    )
