"""What can happen to a scope: the engine's inputs, in the past tense. Ids and time are values."""

from datetime import datetime, timedelta

from lastcall.engine.model import (
    Action,
    EventId,
    EventType,
    Machine,
    MachineId,
    Model,
    OperationId,
    Protection,
)
from lastcall.engine.value import Value


class MachinesAdded(Value, frozen=True, kw_only=True):
    """Machines were placed in the scope and are to be created; one event id each."""

    machines: tuple[Machine, ...]
    event_ids: tuple[EventId, ...]
    operation: OperationId | None = None


class Requested(Value, frozen=True, kw_only=True):
    """A user asked for `action` on machines of the scope; one event id each.

    `force` skips the notice of a deletion; `auto_approve` starts the event at once (R87); `model`
    is what an update applies.
    """

    action: Action
    machines: tuple[MachineId, ...]
    event_ids: tuple[EventId, ...]
    operation: OperationId | None = None
    force: bool = False
    auto_approve: bool = False
    model: Model | None = None


class Announced(Value, frozen=True, kw_only=True):
    """The platform is going to do something to machines, as one event.

    `notice` None is the documented minimum; `has_started` is a failure that gave no notice (R55).
    """

    event_id: EventId
    type: EventType
    machines: tuple[MachineId, ...]
    notice: timedelta | None = None
    has_started: bool = False
    description: str | None = None
    duration_s: int | None = None


class Approved(Value, frozen=True, kw_only=True):
    """Somebody said that events may start. `finished` of them are known to have ended."""

    event_ids: tuple[EventId, ...]
    by: str
    finished: frozenset[EventId] = frozenset()


class Withdrawn(Value, frozen=True, kw_only=True):
    """The platform changed its mind about an event (R54)."""

    event_id: EventId


class TimePassed(Value, frozen=True):
    """Something of the scope's may be due."""


class Watched(Value, frozen=True, kw_only=True):
    """Somebody read the document (R33)."""

    at: datetime


class ActionDone(Value, frozen=True, kw_only=True):
    """The driver finished with one machine of an event.

    `number` is that of the set's latest document, which a guest sees once it has booted (R116).
    """

    event_id: EventId
    machine: MachineId
    number: int | None = None


class ActionFailed(Value, frozen=True, kw_only=True):
    """The driver gave up on one machine of an event."""

    event_id: EventId
    machine: MachineId
    reason: str


class ActionDelayed(Value, frozen=True, kw_only=True):
    """The driver had trouble with one machine of an event, and will be asked again."""

    event_id: EventId
    machine: MachineId
    reason: str


class Protected(Value, frozen=True, kw_only=True):
    """The owner changed what the set may do to an instance (R107)."""

    machine: MachineId
    protection: Protection


Fact = (
    MachinesAdded
    | Requested
    | Announced
    | Approved
    | Withdrawn
    | TimePassed
    | Watched
    | ActionDone
    | ActionFailed
    | ActionDelayed
    | Protected
)
