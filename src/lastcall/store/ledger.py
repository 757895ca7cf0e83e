"""One transaction over any backend: it reads through its own writes and keeps them as values.

Because a decision is a new value and never a change to an old one, giving up means forgetting the
ledger, and committing means writing its changes.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from lastcall.engine.effects import Note, Step
from lastcall.engine.errors import ResourceNotFoundError, ScopeNotFoundError
from lastcall.engine.limits import ORDINALS_MAX
from lastcall.engine.model import Event, EventId, OperationId, Scope, ScopeId, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, ActivityFilter, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Effect, Ended, HistoryFilter, Recorded, Transaction
from lastcall.store.changes import Changes, EffectRow
from lastcall.store.shelf import Shelf

T = TypeVar("T")


class Ledger:
    """Implements `ports.Transaction`: `changes` on top of `earlier` on top of a shelf.

    `earlier` are the writes of transactions that came before and are not on the shelf yet, the
    latest first.
    """

    def __init__(self, shelf: Shelf, earlier: Sequence[Changes] = ()) -> None:
        self._shelf = shelf
        self._earlier = earlier
        self.changes = Changes()
        self._layers = (self.changes, *earlier)

    # Reading

    def scope(self, scope_id: ScopeId) -> Scope:
        """Return a scope as this transaction sees it."""
        found = self._find_scope(scope_id)
        if found is None:
            raise ScopeNotFoundError
        return found

    def _find_scope(self, scope_id: ScopeId) -> Scope | None:
        for layer in self._layers:
            if scope_id in layer.scopes:
                return layer.scopes[scope_id]
        return self._shelf.find_scope(scope_id)

    def scopes(self) -> Iterable[Scope]:
        """Return every committed scope."""
        return self._shelf.all_scopes()

    def scale_set(self, set_id: SetId) -> ScaleSet:
        """Return a set as this transaction sees it."""
        found = self._find_scale_set(set_id)
        if found is None:
            raise ResourceNotFoundError
        return found

    def _find_scale_set(self, set_id: SetId) -> ScaleSet | None:
        for layer in self._layers:
            if set_id in layer.scale_sets:
                return layer.scale_sets[set_id]
        return self._shelf.find_scale_set(set_id)

    def scale_sets(self, resource_group: str | None = None) -> Sequence[ScaleSet]:
        """Return the sets as this transaction sees them."""
        merged = {found.id: found for found in self._shelf.all_scale_sets()}
        for layer in reversed(self._layers):
            for set_id, changed in layer.scale_sets.items():
                if changed is None:
                    merged.pop(set_id, None)
                else:
                    merged[set_id] = changed
        wanted = None if resource_group is None else resource_group.lower()
        chosen = (s for s in merged.values() if wanted in (None, s.resource_group.lower()))
        return sorted(chosen, key=lambda found: found.id)

    def document(self, set_id: SetId, number: int) -> bytes:
        """Return one version of a set's document."""
        key = (set_id, number)
        for layer in self._layers:
            if key in layer.documents:
                return layer.documents[key]
        found = self._shelf.find_document(set_id, number)
        if found is None:
            raise ResourceNotFoundError
        return found

    def operation(self, operation_id: OperationId) -> Operation:
        """Return an operation as this transaction sees it."""
        for layer in self._layers:
            if operation_id in layer.operations:
                return layer.operations[operation_id]
        found = self._shelf.find_operation(operation_id)
        if found is None:
            raise ResourceNotFoundError
        return found

    def resource(self, resource_id: ResourceId) -> Resource:
        """Return a resource as this transaction sees it."""
        found = self._find_resource(resource_id)
        if found is None:
            raise ResourceNotFoundError
        return found

    def _find_resource(self, resource_id: ResourceId) -> Resource | None:
        for layer in self._layers:
            if resource_id in layer.resources:
                return layer.resources[resource_id]
        return self._shelf.find_resource(resource_id)

    def resources(self, kind: str | None = None, group: str | None = None) -> Sequence[Resource]:
        """Return resources as this transaction sees them."""
        found = self._shelf.find_resources(kind, group)
        return self._as_seen(found, lambda changed: _is_wanted(changed, kind, group))

    def resources_below(self, resource_id: ResourceId) -> Sequence[Resource]:
        """Return a resource and everything below it as this transaction sees them."""
        found = self._shelf.find_resources_below(resource_id)
        return self._as_seen(found, lambda changed: changed.is_at_or_below(resource_id))

    def _as_seen(
        self, found: Sequence[Resource], is_wanted: Callable[[Resource], bool]
    ) -> Sequence[Resource]:
        merged = {one.id: one for one in found}
        for layer in reversed(self._layers):
            for resource_id, changed in layer.resources.items():
                merged.pop(resource_id, None)
                if changed is not None and is_wanted(changed):
                    merged[resource_id] = changed
        return sorted(merged.values(), key=lambda one: one.id)

    def activities(self, wanted: ActivityFilter) -> Sequence[Activity]:
        """Return committed activities."""
        return self._shelf.find_activities(wanted)

    def ended(self, scope_id: ScopeId, event_ids: Sequence[EventId]) -> frozenset[EventId]:
        """Return which of these events the scope had and has no more."""
        recent = {
            ended.event.id
            for layer in self._layers
            for ended in layer.ended
            if ended.scope_id == scope_id and ended.event.id in event_ids
        }
        return self._shelf.find_ended(scope_id, event_ids) | recent

    def ended_event(self, event_id: EventId) -> Ended | None:
        """Return an event that has ended, as this transaction sees it."""
        for layer in self._layers:
            for ended in layer.ended:
                if ended.event.id == event_id:
                    return ended
        return self._shelf.find_ended_event(event_id)

    def ended_events(self, limit: int, skip: int = 0) -> Sequence[Ended]:
        """Return the committed events that ended last."""
        return self._shelf.newest_ended(limit, skip)

    def history(self, wanted: HistoryFilter) -> Sequence[Recorded]:
        """Return committed lines of history."""
        return self._shelf.find_history(wanted)

    def next_due(self) -> datetime | None:
        """Return when something committed is next due."""
        return self._shelf.next_due()

    def recall(self, key: str) -> str | None:
        """Return what was remembered under a key."""
        for layer in self._layers:
            if key in layer.remembered:
                return layer.remembered[key]
        return self._shelf.recall(key)

    # Writing

    def record(self, step: Step, at: datetime) -> None:
        """Write a decision whole."""
        scope = step.scope
        if scope.id not in self.changes.scopes_before:
            self.changes.scopes_before[scope.id] = step.before
        self.changes.scopes[scope.id] = replace(scope, version=scope.version + 1)
        for key in step.dropped:
            self.changes.effects[key] = None
        for perform in step.performs:
            effect = Effect(perform=perform, scope_id=scope.id)
            self.changes.effects[perform.event_id, perform.machine] = EffectRow(effect, at)
        self.changes.ended.extend(_ended(step, event, at) for event in step.ended)
        self.changes.history.extend(_recorded(step, note, at) for note in step.notes)

    def forget_scope(self, scope_id: ScopeId) -> None:
        """Remove a scope."""
        self.changes.scopes_before.setdefault(scope_id, self._find_scope(scope_id))
        self.changes.scopes[scope_id] = None

    def put_scale_set(self, scale_set: ScaleSet, document: bytes | None = None) -> None:
        """Write a set and, when given, the document of its present number."""
        self.changes.scale_sets[scale_set.id] = scale_set
        if document is not None:
            self.changes.documents[scale_set.id, scale_set.number] = document

    def keep_documents(self, set_id: SetId, numbers: frozenset[int]) -> None:
        """Forget the versions of a set's document that nobody needs any more."""
        self.changes.documents_kept[set_id] = numbers

    def forget_scale_set(self, set_id: SetId) -> None:
        """Remove a set."""
        self.changes.scale_sets[set_id] = None

    def put_operation(self, operation: Operation) -> None:
        """Write an operation."""
        self.changes.operations[operation.id] = operation

    def put_resource(self, resource: Resource) -> None:
        """Write a resource."""
        self.changes.resources[resource.id] = resource

    def forget_resource(self, resource_id: ResourceId) -> None:
        """Remove a resource."""
        self.changes.resources[resource_id] = None

    def log(self, activity: Activity) -> None:
        """Add to who asked for what."""
        self.changes.activities.append(activity)

    def has_logged(self) -> bool:
        """Whether this transaction has added to it."""
        return bool(self.changes.activities)

    def attempt(self, work: Callable[[Transaction], T]) -> T:
        """Run a part that may fail alone."""
        inner = Ledger(self._shelf, self._layers)
        result = work(inner)
        self.changes.merge(inner.changes)
        return result

    def take_ordinals(self, count: int) -> range:
        """Draw numbers that no machine has had before."""
        drawn = (layer.ordinal for layer in self._layers if layer.ordinal is not None)
        last = next(drawn, None)
        if last is None:
            last = self._shelf.last_ordinal()
        first = last + 1
        assert first + count <= ORDINALS_MAX, "16 million machines have had an address"
        self.changes.ordinal = last + count
        return range(first, first + count)

    def remember(self, key: str, value: str) -> None:
        """Keep a small thing about the platform itself."""
        self.changes.remembered[key] = value

    def prune(self, now: datetime) -> None:
        """Forget what is older than its keep."""
        self.changes.pruned_at = now

    # Work that is due. Only committed work is seen: what an uncommitted transaction has decided
    # is not yet to be acted on.

    def due_scopes(self, now: datetime, limit: int) -> Sequence[ScopeId]:
        """Return the scopes for which time has passed and that still exist."""
        due = self._shelf.due_scopes(now, limit)
        return [scope_id for scope_id in due if self._find_scope(scope_id) is not None]

    def due_scale_sets(self, now: datetime, limit: int) -> Sequence[SetId]:
        """Return the sets that want to be looked at and still exist."""
        due = self._shelf.due_scale_sets(now, limit)
        return [set_id for set_id in due if self._find_scale_set(set_id) is not None]

    def due_resources(self, now: datetime, limit: int) -> Sequence[ResourceId]:
        """Return the resources that want to be looked at and still exist."""
        due = self._shelf.due_resources(now, limit)
        return [key for key in due if self._find_resource(key) is not None]

    def claim_effects(self, now: datetime, until: datetime, limit: int) -> Sequence[Effect]:
        """Return effects that are due, and put them out of others' reach until `until`."""
        claimed: list[Effect] = []
        for row in self._shelf.due_effects(now, limit):
            perform = row.effect.perform
            key = (perform.event_id, perform.machine)
            if any(key in layer.effects for layer in self._earlier):
                continue  # Changed a moment ago: the next pass sees how.
            self.changes.effects[key] = EffectRow(row.effect, until)
            claimed.append(row.effect)
        return claimed

    def defer_effect(self, effect: Effect, until: datetime) -> None:
        """Give an effect back, unless it is no longer wanted."""
        perform = effect.perform
        event = self.scope(effect.scope_id).events.get(perform.event_id)
        if event is not None and perform.machine in event.remaining:
            self.changes.effects[perform.event_id, perform.machine] = EffectRow(effect, until)

    def forget_effect(self, effect: Effect) -> None:
        """Remove an effect that cannot be performed."""
        self.changes.effects[effect.perform.event_id, effect.perform.machine] = None


def _is_wanted(resource: Resource, kind: str | None, group: str | None) -> bool:
    return kind in (None, resource.kind) and group in (None, resource.group)


def _ended(step: Step, event: Event, at: datetime) -> Ended:
    assert step.before is not None, "an event ends in a scope that had it"
    machines = step.before.machines
    before = step.before.events.get(event.id, event)
    resources = tuple(machines[machine].name for machine in before.machines)
    return Ended(event=event, scope_id=step.scope.id, ended_at=at, resources=resources)


def _recorded(step: Step, note: Note, at: datetime) -> Recorded:
    machine = None
    if note.machine is not None:
        machine = step.scope.machines.get(note.machine)
        if machine is None and step.before is not None:
            machine = step.before.machines.get(note.machine)
    return Recorded(
        at=at,
        what=note.what,
        text=note.text,
        scope_id=step.scope.id,
        set_id=step.scope.set_id,
        event_id=note.event_id,
        machine=note.machine,
        name="" if machine is None else machine.name,
        by=note.by,
    )
