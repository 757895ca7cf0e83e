"""What follows from a decision: the engine's outputs. They are recorded whole, then performed."""

from datetime import datetime

from lastcall.engine.model import Action, Event, EventId, MachineId, OperationId, Scope
from lastcall.engine.value import Value


class Perform(Value, frozen=True):
    """Ask the driver to do `action` to `machine`, because of `event_id`, since `since`."""

    event_id: EventId
    machine: MachineId
    action: Action
    since: datetime
    duration_s: int = -1


class Failure(Value, frozen=True):
    """Why an operation did not succeed."""

    code: str
    message: str


class Finished(Value, frozen=True):
    """One machine's part of an operation has ended."""

    operation: OperationId
    failure: Failure | None = None


class Note(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One line of history: what happened, to whom, through whom, in words."""

    what: str
    text: str
    event_id: EventId | None = None
    machine: MachineId | None = None
    by: str = ""


class Step(Value, frozen=True, kw_only=True):
    """A decision about one scope: how it stood, how it stands, and what follows.

    Record all of it before performing any of `performs`. `dropped` are effects that are done
    or no longer wanted, `ended` the events that left the scope.
    """

    before: Scope | None
    scope: Scope
    performs: tuple[Perform, ...] = ()
    dropped: tuple[tuple[EventId, MachineId], ...] = ()
    finished: tuple[Finished, ...] = ()
    ended: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()
