"""A scope while a decision about it is being made: the edges, and what each edge brings about.

Effects belong to the edge, not to the fact: approval, deadline and force start an event alike.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from lastcall.engine.effects import Failure, Finished, Note, Perform, Step
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    OperationId,
    Power,
    Provisioning,
    Scope,
    Status,
)
from lastcall.engine.policy import Policy
from lastcall.engine.transitions import Trigger, following
from lastcall.engine.watching import is_on

PREEMPTED: Final = Failure(
    "OperationPreempted",
    "Operation execution has been preempted by a more recent operation.",
)

POWER_AFTER: Final = {
    Action.CREATE: Power.RUNNING,
    Action.START: Power.RUNNING,
    Action.RESTART: Power.RUNNING,
    Action.REDEPLOY: Power.RUNNING,
    Action.REIMAGE: Power.RUNNING,
    Action.POWER_OFF: Power.STOPPED,
    Action.DEALLOCATE: Power.DEALLOCATED,
}
BOOTS: Final = frozenset({Action.START, Action.RESTART, Action.REDEPLOY, Action.REIMAGE})
# A pause or a restart leaves provisioningState alone; these are changes to the resource.
SHOWS_UPDATING: Final = frozenset(
    {Action.UPDATE, Action.START, Action.POWER_OFF, Action.REIMAGE, Action.DEALLOCATE}
)
CHANGES_RESOURCE: Final = SHOWS_UPDATING | {Action.CREATE}


class Draft:
    """The working copy behind one `step`; `done` turns it into a `Step`."""

    __slots__ = (
        "_before",
        "_changed",
        "_decided",
        "_dropped",
        "_ended",
        "_finished",
        "_notes",
        "_performs",
        "_writable",
        "events",
        "incarnation",
        "machines",
        "now",
        "policy",
        "watched_at",
    )

    def __init__(self, scope: Scope, now: datetime, policy: Policy) -> None:
        self._before = scope
        self.now = now
        self.policy = policy
        self.machines = scope.machines
        self._writable: dict[MachineId, Machine] | None = None
        self.events = dict(scope.events)
        self.incarnation = scope.incarnation
        self.watched_at = scope.watched_at
        self._changed = False
        self._decided: list[Event] = []
        self._performs: list[Perform] = []
        self._dropped: list[tuple[EventId, MachineId]] = []
        self._finished: list[Finished] = []
        self._ended: list[Event] = []
        self._notes: list[Note] = []

    def done(self) -> Step:
        """Return the decision. The incarnation rises exactly when the document changed (R21)."""
        scope = replace(
            self._before,
            machines=self.machines,
            events=self.events,
            incarnation=self.incarnation + 1 if self._changed else self.incarnation,
            watched_at=self.watched_at,
        )
        return Step(
            before=self._before,
            scope=scope,
            performs=tuple(self._performs),
            dropped=tuple(self._dropped),
            finished=tuple(self._finished),
            ended=tuple(self._ended),
            notes=tuple(self._notes),
        )

    @property
    def is_watched(self) -> bool:
        """Whether somebody reads the document, or the policy says to act as if."""
        if self.policy.always_notify:
            return True
        # The timer may be late, so the mark alone does not tell (R37).
        return is_on(self.watched_at, self.now)

    def note(
        self,
        what: str,
        text: str,
        event: Event | None = None,
        machine: MachineId | None = None,
        by: str = "",
    ) -> None:
        """Add a line of history."""
        if machine is None and event is not None and len(event.machines) == 1:
            machine = event.machines[0]
        event_id = None if event is None or event.type is None else event.id
        self._notes.append(Note(what=what, text=text, event_id=event_id, machine=machine, by=by))

    def begin(self, event: Event) -> None:
        """Add an event, performing it at once when it has no notice."""
        self.events[event.id] = event
        if event.status is Status.STARTED:
            self._perform(event)
        if event.type is not None:
            self._changed = True

    def move(self, event: Event, trigger: Trigger) -> Event:
        """Take one edge of the table and bring about what belongs to it."""
        status = following(event.status, trigger)
        if status is event.status:
            return event
        started_at = self.now if status is Status.STARTED else event.started_at
        after = replace(event, status=status, started_at=started_at)
        if status in (Status.COMPLETED, Status.CANCELLED):
            self._end(after)
        else:
            self.events[event.id] = after
        if status is Status.STARTED:
            self._perform(after)
        if event.status is Status.SCHEDULED:
            self._decided.append(after)
        # Guests see an approved event as Scheduled still: its document has not changed.
        if event.type is not None and status is not Status.APPROVED:
            self._changed = True
        return after

    def finish(self, event: Event, machine: MachineId, failure: Failure | None = None) -> None:
        """Count one machine of an event as performed, and end the event after the last."""
        after = replace(event, remaining=tuple(m for m in event.remaining if m != machine))
        self.events[event.id] = after
        self._dropped.append((event.id, machine))
        self.settle(event.operations, failure)
        if not after.remaining:
            self.move(after, Trigger.PERFORMED)

    def settle(self, operations: tuple[OperationId, ...], failure: Failure | None) -> None:
        """Count one machine's part of each operation as over."""
        self._finished.extend(Finished(operation, failure) for operation in operations)

    def remove(self, machine: Machine) -> None:
        """Let a machine go: it leaves the scope and every event that names it (R81)."""
        del self._own_machines()[machine.id]
        for event in [event for event in self.events.values() if machine.id in event.machines]:
            self._strike(event, machine.id)

    def _strike(self, event: Event, machine: MachineId) -> None:
        if machine in event.remaining:
            # Whoever asked for the machine's deletion has got it.
            self.settle(event.operations, None if event.action is Action.DELETE else PREEMPTED)
            if event.status is Status.STARTED:
                self._dropped.append((event.id, machine))
        after = replace(
            event,
            machines=tuple(m for m in event.machines if m != machine),
            remaining=tuple(m for m in event.remaining if m != machine),
        )
        self.events[event.id] = after
        if event.type is not None:
            self._changed = True
        if not after.machines:
            self.move(after, Trigger.DISSOLVED)
        elif after.status is Status.STARTED and not after.remaining:
            self.move(after, Trigger.PERFORMED)

    def release(self) -> None:
        """Start what is approved, but no Terminate while another is undecided (R78, R79).

        Only a decision about some event can let another start, so most steps look at nothing.
        """
        if not self._decided:
            return
        for event in self._decided:
            if event.status is Status.APPROVED and event.type is not EventType.TERMINATE:
                self._release(event)
        if not any(
            e.status is Status.SCHEDULED and e.type is EventType.TERMINATE
            for e in self.events.values()
        ):
            for event in [e for e in self.events.values() if e.status is Status.APPROVED]:
                self._release(event)

    def _release(self, event: Event) -> None:
        after = self.move(event, Trigger.RELEASED)
        self.note("started", "Started before NotBefore: it was approved.", after)

    def member(self, machine_id: MachineId) -> Machine:
        """Return a machine of the scope, or raise `InstanceNotFoundError`."""
        machine = self.machines.get(machine_id)
        if machine is None:
            raise InstanceNotFoundError
        return machine

    def update(self, machine: Machine) -> None:
        """Replace a machine by its changed self."""
        self._own_machines()[machine.id] = machine

    def _own_machines(self) -> dict[MachineId, Machine]:
        """Return the machines to write to; most decisions write to none and keep the same ones."""
        if self._writable is None:
            self.machines = self._writable = dict(self.machines)
        return self._writable

    def pending(self, machine: MachineId) -> Iterator[Event]:
        """Yield the events that will happen to a machine and have not started."""
        return (e for e in self.events.values() if e.is_pending and machine in e.machines)

    def is_changing(self, machine: MachineId) -> bool:
        """Whether the driver is still at a change that provisioningState tells of."""
        return any(
            e.status is Status.STARTED and e.action in CHANGES_RESOURCE and machine in e.remaining
            for e in self.events.values()
        )

    def _perform(self, event: Event) -> None:
        since = event.started_at or self.now
        for machine_id in event.remaining:
            self._performs.append(
                Perform(event.id, machine_id, event.action, since, event.duration_s)
            )
            machine = self.machines[machine_id]
            if event.action is Action.DELETE and not machine.is_leaving:
                self.update(replace(machine, provisioning=Provisioning.DELETING))
            elif event.action in SHOWS_UPDATING and not machine.is_leaving:
                self.update(replace(machine, provisioning=Provisioning.UPDATING))

    def _end(self, event: Event) -> None:
        del self.events[event.id]
        if event.type is None:
            return
        self._ended.append(event)
        if event.status is Status.COMPLETED:
            self.note("completed", "The event is over and has left the document.", event)
        else:
            self.note("cancelled", "Removed without having started: nothing happens.", event)


def announcement(event: Event) -> str:
    """Say what was announced, for the history."""
    notice_s = (event.not_before - event.announced_at).total_seconds()
    return f"{event.type} announced with {notice_s:g} s of notice."
