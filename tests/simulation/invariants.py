"""What must hold, judged by somebody outside: from documents, lists, orders and answers alone.

The witness is told what was asked for (a `Cause`), sees what readers see after each commit, and
sees every order that reaches the driver. It never asks the engine why.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lastcall.engine.document import Document, VisibleEvent, document
from lastcall.engine.limits import FINISHED_KEPT, IDLE_AFTER
from lastcall.engine.model import (
    Action,
    EventId,
    EventType,
    Machine,
    MachineId,
    OperationId,
    Scope,
    ScopeId,
    SetId,
    Source,
)
from lastcall.ports import Commit, Order

TYPE_OF = {Action.RESTART: EventType.REBOOT, Action.REDEPLOY: EventType.REDEPLOY}
ACTIONS_OF = {
    EventType.FREEZE: {Action.FREEZE},
    EventType.REBOOT: {Action.RESTART},
    EventType.REDEPLOY: {Action.REDEPLOY},
    EventType.PREEMPT: {Action.DEALLOCATE, Action.DELETE},
    EventType.TERMINATE: {Action.DELETE},
}
ANNOUNCED_ONLY = {Action.FREEZE, Action.RESTART, Action.REDEPLOY, Action.DELETE}
NOTHING = Document(incarnation=1, events=())


class BrokenPromiseError(AssertionError):
    """Something happened that a user or a guest was promised would not."""


@dataclass(slots=True)
class Cause:
    """What somebody asked for, and what came of it inside the transaction."""

    kind: str
    scope_id: ScopeId | None = None
    event_ids: tuple[EventId, ...] = ()
    set_id: SetId | None = None
    action: Action | None = None
    targets: frozenset[MachineId] = frozenset()
    force: bool = False
    approves_itself: bool = False
    capacity: int | None = None
    operation: OperationId | None = None


@dataclass(slots=True)
class View:
    """One scope, as last seen by its readers."""

    set_id: SetId | None
    shown: Document = NOTHING
    events: dict[EventId, VisibleEvent] = field(default_factory=dict)
    machines: dict[MachineId, Machine] = field(default_factory=dict)
    version: int = 0
    marked_at: datetime | None = None


class Witness:
    """Sees everything that can be seen from outside, and objects."""

    def __init__(self) -> None:
        self.views: dict[ScopeId, View] = {}
        self.steps = 0
        self.types: set[EventType] = set()
        self.known: dict[EventId, ScopeId] = {}
        self.gone: dict[EventId, datetime] = {}
        self.approved: set[EventId] = set()  # committed
        self.answered: set[EventId] = set()  # and told so
        self.withdrawn: set[EventId] = set()
        self.forced: set[MachineId] = set()
        self.quiet: set[tuple[MachineId, Action]] = set()
        self.leaving: set[MachineId] = set()
        self.deleted: set[MachineId] = set()  # by the driver
        self.capacity: dict[SetId, int] = {}
        self.operations: dict[OperationId, Cause] = {}

    # What is seen

    def committed(self, causes: Sequence[Cause], commit: Commit, now: datetime) -> None:
        """See what a commit shows to readers, knowing who had asked for what."""
        resets: set[ScopeId] = set()
        deletion: tuple[Cause, set[ScopeId]] | None = None
        for cause in causes:
            deletion = self._hear(cause, now, resets) or deletion
        for scope in commit.scopes:
            self._see(scope, now, causes, resets, deletion)
        for scope_id in commit.forgotten:
            view = self.views.pop(scope_id, None)
            if view is not None:
                self._vanish(view.machines)
                for event_id in view.events:
                    self.gone[event_id] = now

    def answer_approval(self, scope_id: ScopeId, event_ids: Iterable[EventId]) -> None:
        """Remember that a guest was told 200."""
        self.answered.update(event_ids)
        view = self.views.get(scope_id)
        if view is not None:
            self._check_kept(view.shown, self.answered)

    def order(self, order: Order, now: datetime) -> None:
        """See an order reach the driver."""
        action, machine = order.perform.action, order.machine
        if action not in ANNOUNCED_ONLY or (machine.id, action) in self.quiet:
            return
        view = self.views.get(order.scope_id)
        events = () if view is None else view.shown.events
        for event in events:
            happens = event.has_started and machine.name in event.resources
            if happens and action in ACTIONS_OF[event.type]:
                return
        raise BrokenPromiseError(f"{action} of {machine.name} at {now} without a started event")

    def carried_out(self, order: Order) -> None:
        """See the driver do what it was asked."""
        if order.perform.action is Action.DELETE:
            self.deleted.add(order.machine.id)

    def is_watched(self, scope_id: ScopeId, now: datetime) -> bool:
        """Whether somebody's reading of the scope was recorded in the last 24 hours."""
        view = self.views.get(scope_id)
        marked_at = None if view is None else view.marked_at
        return marked_at is not None and now < marked_at + IDLE_AFTER

    def is_approvable(self, scope_id: ScopeId, event_id: EventId, now: datetime) -> bool:
        """Whether the id is or was valid in the scope, so that a 200 is due (R43)."""
        gone_at = self.gone.get(event_id)
        fresh = gone_at is None or now < gone_at + FINISHED_KEPT
        return self.known.get(event_id) == scope_id and fresh

    # What was asked for

    def _hear(
        self, cause: Cause, now: datetime, resets: set[ScopeId]
    ) -> tuple[Cause, set[ScopeId]] | None:
        if cause.operation is not None:
            self.operations[cause.operation] = cause
        match cause.kind:
            case "watch":
                view = self.views.get(cause.scope_id)
                if view is not None:
                    if not self.is_watched(cause.scope_id, now):
                        resets.add(cause.scope_id)
                    view.marked_at = now
            case "approve":
                self.approved.update(cause.event_ids)
            case "withdraw":
                self.withdrawn.update(cause.event_ids)
            case "write" | "delete" | "delete set":
                return self._hear_deletion(cause, now)
            case "act":
                self._hear_action(cause, now)
        return None

    def _hear_deletion(self, cause: Cause, now: datetime) -> tuple[Cause, set[ScopeId]]:
        if cause.kind == "write":
            before = self.capacity.get(cause.set_id, 1)
            self.capacity[cause.set_id] = before if cause.capacity is None else cause.capacity
        elif cause.set_id in self.capacity:
            self.capacity[cause.set_id] -= len(cause.targets - self.leaving)
        if cause.force:
            self.forced |= cause.targets
        return cause, {key for key in self.views if self.is_watched(key, now)}

    def _hear_action(self, cause: Cause, now: datetime) -> None:
        for view_id, view in self.views.items():
            if not self.is_watched(view_id, now):
                self.quiet |= {(m, cause.action) for m in cause.targets if m in view.machines}

    # What is shown

    def _see(
        self,
        scope: Scope,
        now: datetime,
        causes: Sequence[Cause],
        resets: set[ScopeId],
        deletion: tuple[Cause, set[ScopeId]] | None,
    ) -> None:
        view = self.views.get(scope.id)
        if view is None:
            view = self.views[scope.id] = View(scope.set_id)
        self.steps += scope.version - view.version
        view.version = scope.version
        self._see_machines(view, scope, deletion)
        shown = document(scope)
        if shown.events != view.shown.events:
            self._see_events(view, scope, shown, now, causes)
        self._check_incarnation(view.shown, shown, scope.id in resets, len(causes))
        view.shown = shown
        self._check_kept(shown, self.approved)
        self._check_kept(shown, self.answered)
        for cause in causes:
            if cause.kind == "act" and cause.action in TYPE_OF:
                self._check_announced(view, cause)
        if deletion is not None:
            self._check_held(view, deletion[0], now)

    def _see_machines(
        self, view: View, scope: Scope, deletion: tuple[Cause, set[ScopeId]] | None
    ) -> None:
        before, after = view.machines, scope.machines
        for machine_id, machine in after.items():
            if before.get(machine_id) is machine:
                continue
            if machine.is_leaving and machine_id not in self.leaving:
                self._see_leaving(scope, machine, deletion)
        if before.keys() - after.keys():
            self._vanish([m for m in before if m not in after])
        view.machines = after

    def _see_leaving(
        self, scope: Scope, machine: Machine, deletion: tuple[Cause, set[ScopeId]] | None
    ) -> None:
        self.leaving.add(machine.id)
        if deletion is None or not _concerns(deletion[0], machine):
            # Nobody asked, so it must be an eviction; `order` insists on its started event.
            if scope.set_id in self.capacity:
                self.capacity[scope.set_id] -= 1
            return
        cause, watched = deletion
        if machine.model.notice is None or cause.force or scope.id not in watched:
            self.quiet.add((machine.id, Action.DELETE))

    def _vanish(self, machines: Iterable[MachineId]) -> None:
        for machine_id in machines:
            if machine_id not in self.deleted:
                raise BrokenPromiseError(f"{machine_id} vanished, but no driver deleted it")

    def _see_events(
        self, view: View, scope: Scope, shown: Document, now: datetime, causes: Sequence[Cause]
    ) -> None:
        names = {machine.name for machine in scope.machines.values()}
        after = {event.id: event for event in shown.events}
        for event in shown.events:
            before = view.events.get(event.id)
            if before is event:
                continue
            if not names.issuperset(event.resources) or not event.resources:
                raise BrokenPromiseError(f"{event} names a machine outside {names}")
            if before is None:
                self._see_new(scope, event, now, causes)
            elif before != event:
                self._see_change(view, after, before, event, now)
        for event_id, event in view.events.items():
            if event_id not in after:
                self._see_gone(event, names, now)
        view.events = after

    def _see_new(
        self, scope: Scope, event: VisibleEvent, now: datetime, causes: Sequence[Cause]
    ) -> None:
        if event.id in self.known:
            raise BrokenPromiseError(f"{event.id} was used twice")
        self.known[event.id] = scope.id
        self.types.add(event.type)
        if event.has_started:
            at_once = any(c.kind == "fail host" or c.approves_itself for c in causes)
            if event.type is EventType.TERMINATE or not at_once:
                raise BrokenPromiseError(f"{event} started without having been announced")
            return
        if event.not_before < now:
            raise BrokenPromiseError(f"{event} was announced too late at {now}")
        if event.type is EventType.TERMINATE:
            (name,) = event.resources
            (machine,) = (m for m in scope.machines.values() if m.name == name)
            if (machine.id, Action.DELETE) in self.quiet:
                raise BrokenPromiseError(f"{event} is held, but nobody watches or it was forced")
            if event.not_before - now != machine.model.notice:
                raise BrokenPromiseError(f"{event}: the model promises {machine.model.notice}")

    def _see_change(
        self,
        view: View,
        after: dict[EventId, VisibleEvent],
        before: VisibleEvent,
        event: VisibleEvent,
        now: datetime,
    ) -> None:
        if (before.type, before.source) != (event.type, event.source):
            raise BrokenPromiseError(f"{before} became {event}")
        if not set(before.resources).issuperset(event.resources):
            raise BrokenPromiseError(f"{before} grew into {event}")
        if before.has_started and not event.has_started:
            raise BrokenPromiseError(f"{event.id} went back from Started")
        if not event.has_started and before.not_before != event.not_before:
            raise BrokenPromiseError(f"NotBefore of {event.id} moved")
        if event.has_started and not before.has_started:
            self._see_start(view, after, before, now)

    def _see_start(
        self,
        view: View,
        after: dict[EventId, VisibleEvent],
        event: VisibleEvent,
        now: datetime,
    ) -> None:
        """Judge a start: due, forced, or approved together with every other Terminate (R78)."""
        if now >= event.not_before:
            return
        if event.type is EventType.TERMINATE and any(
            machine.id in self.forced
            for machine in view.machines.values()
            if machine.name in event.resources
        ):
            return
        if event.id not in self.approved:
            raise BrokenPromiseError(f"{event} started at {now}, neither approved nor due")
        if event.type is not EventType.TERMINATE:
            return
        for other_id, other in view.events.items():
            undecided = (
                other.type is EventType.TERMINATE
                and not other.has_started
                and other_id not in self.approved
                and other_id in after
                and not after[other_id].has_started
            )
            if undecided:
                raise BrokenPromiseError(f"{event} started while {other} was undecided")

    def _see_gone(self, event: VisibleEvent, names: set[str], now: datetime) -> None:
        self.gone[event.id] = now
        if event.has_started or event.id in self.withdrawn:
            return
        if not names.isdisjoint(event.resources):
            raise BrokenPromiseError(f"{event} disappeared before it started")

    # What must hold

    def _check_incarnation(
        self, before: Document, shown: Document, is_reset: bool, causes: int
    ) -> None:
        changed = before.events != shown.events
        if is_reset:
            right = shown.incarnation == 1 if causes == 1 else shown.incarnation >= 1
        elif changed:
            right = shown.incarnation > before.incarnation
        else:
            right = shown.incarnation == before.incarnation
        if not right:
            raise BrokenPromiseError(
                f"incarnation {before.incarnation} became {shown.incarnation},"
                f" changed={changed}, reset={is_reset}"
            )

    def _check_kept(self, shown: Document, approved: set[EventId]) -> None:
        """Insist that approvals count: alone, or for a Terminate once all others have theirs."""
        waiting = False
        undecided = False
        for event in shown.events:
            if event.has_started:
                continue
            if event.type is EventType.TERMINATE:
                waiting = True
                undecided = undecided or event.id not in approved
            elif event.id in approved:
                raise BrokenPromiseError(f"{event} was approved and has not started")
        if waiting and not undecided:
            raise BrokenPromiseError(f"all of {shown.events} were approved and none has started")

    def _check_announced(self, view: View, cause: Cause) -> None:
        for machine_id in cause.targets & view.machines.keys():
            if (machine_id, cause.action) in self.quiet:
                continue
            name = view.machines[machine_id].name
            if not any(
                event.type is TYPE_OF[cause.action]
                and event.source is Source.USER
                and name in event.resources
                for event in view.shown.events
            ):
                raise BrokenPromiseError(f"{cause.action} of {name} was not announced")

    def _check_held(self, view: View, cause: Cause, now: datetime) -> None:
        """Insist that who leaves with a notice can read of it, and that the forced do not wait."""
        named = {
            name
            for event in view.shown.events
            if event.type in (EventType.TERMINATE, EventType.PREEMPT)
            for name in event.resources
        }
        for machine_id, machine in view.machines.items():
            told = machine.name in named or (machine_id, Action.DELETE) in self.quiet
            if machine.is_leaving and not told:
                raise BrokenPromiseError(f"{machine.name} is to go at {now} and nobody is told")
        if not cause.force:
            return
        forced = {view.machines[m].name for m in cause.targets & view.machines.keys()}
        for event in view.shown.events:
            if event.has_started:  # An eviction that has started is as good.
                forced.difference_update(event.resources)
        for event in view.shown.events:
            waits = event.type is EventType.TERMINATE and not event.has_started
            if waits and not forced.isdisjoint(event.resources):
                raise BrokenPromiseError(f"{event} waits, though it was forced")


def _concerns(cause: Cause, machine: Machine) -> bool:
    if cause.kind == "write":
        return machine.set_id == cause.set_id
    return machine.id in cause.targets
