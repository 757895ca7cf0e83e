"""The reference implementation: everything in dictionaries, gone with the process."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar

from msgspec.structs import replace

from lastcall.engine.limits import (
    ACTIVITIES_MAX,
    FINISHED_KEPT,
    HISTORY_ROWS_MAX,
    OPERATIONS_KEPT,
)
from lastcall.engine.model import EventId, OperationId, Scope, ScopeId, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, ActivityFilter, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.engine.step import due_at
from lastcall.ports import Commit, Ended, HistoryFilter, Reader, Recorded, Transaction
from lastcall.store.changes import Changes, EffectKey, EffectRow, commit_of
from lastcall.store.ledger import Ledger

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class MemoryShelf:
    """Implements `store.shelf.Shelf`."""

    def __init__(self) -> None:
        self._scopes: dict[ScopeId, Scope] = {}
        self._due: dict[ScopeId, datetime] = {}
        self._scale_sets: dict[SetId, ScaleSet] = {}
        self._documents: dict[tuple[SetId, int], bytes] = {}
        self._operations: dict[OperationId, Operation] = {}
        self._resources: dict[ResourceId, Resource] = {}
        self._activities: list[Activity] = []
        self._activity_seq = 0
        self._effects: dict[EffectKey, EffectRow] = {}
        self._ended: dict[EventId, Ended] = {}
        self._history: list[Recorded] = []
        self._remembered: dict[str, str] = {}
        self._ordinal = 0
        self._seq = 0

    def find_scope(self, scope_id: ScopeId) -> Scope | None:
        """Return a scope."""
        return self._scopes.get(scope_id)

    def all_scopes(self) -> Iterable[Scope]:
        """Return every scope."""
        return tuple(self._scopes.values())

    def find_scale_set(self, set_id: SetId) -> ScaleSet | None:
        """Return a set."""
        return self._scale_sets.get(set_id)

    def all_scale_sets(self) -> Sequence[ScaleSet]:
        """Return every set."""
        return tuple(self._scale_sets.values())

    def find_document(self, set_id: SetId, number: int) -> bytes | None:
        """Return one version of a set's document."""
        return self._documents.get((set_id, number))

    def find_operation(self, operation_id: OperationId) -> Operation | None:
        """Return an operation."""
        return self._operations.get(operation_id)

    def find_resource(self, resource_id: ResourceId) -> Resource | None:
        """Return a resource."""
        return self._resources.get(resource_id)

    def find_resources(self, kind: str | None, group: str | None) -> Sequence[Resource]:
        """Return the resources of a type, of a group, of both or all."""
        return [
            found
            for found in self._resources.values()
            if kind in (None, found.kind) and group in (None, found.group)
        ]

    def find_resources_below(self, resource_id: ResourceId) -> Sequence[Resource]:
        """Return a resource and everything below it."""
        return [one for one in self._resources.values() if one.is_at_or_below(resource_id)]

    def find_activities(self, wanted: ActivityFilter) -> Sequence[Activity]:
        """Return who asked for what, newest first."""
        matching = (
            found
            for found in reversed(self._activities)
            if (wanted.since is None or found.at >= wanted.since)
            and (wanted.until is None or found.at <= wanted.until)
            and wanted.group in (None, found.group)
            and (wanted.before is None or found.seq < wanted.before)
        )
        return list(islice(matching, wanted.limit))

    def find_ended(self, scope_id: ScopeId, event_ids: Sequence[EventId]) -> frozenset[EventId]:
        """Return which of these events the scope once had."""
        found = (self._ended.get(event_id) for event_id in event_ids)
        return frozenset(e.event.id for e in found if e is not None and e.scope_id == scope_id)

    def find_ended_event(self, event_id: EventId) -> Ended | None:
        """Return an event that has ended."""
        return self._ended.get(event_id)

    def newest_ended(self, limit: int, skip: int) -> Sequence[Ended]:
        """Return the events that ended last, newest first, without the first `skip`."""
        return tuple(islice(reversed(self._ended.values()), skip, skip + limit))

    def find_history(self, wanted: HistoryFilter) -> Sequence[Recorded]:
        """Return the newest lines that match, oldest first."""
        matching = [
            line
            for line in self._history
            if line.seq > wanted.after
            and wanted.event_id in (None, line.event_id)
            and wanted.scope_id in (None, line.scope_id)
            and wanted.machine in (None, line.machine)
        ]
        return matching[max(0, len(matching) - wanted.limit) :]

    def due_scopes(self, now: datetime, limit: int) -> Sequence[ScopeId]:
        """Return the scopes that are due, most overdue first."""
        due = sorted((at, scope_id) for scope_id, at in self._due.items() if at <= now)
        return [scope_id for _, scope_id in due[:limit]]

    def due_scale_sets(self, now: datetime, limit: int) -> Sequence[SetId]:
        """Return the sets that are due, most overdue first."""
        due = sorted((s.due_at, s.id) for s in self._scale_sets.values() if s.due_at is not None)
        return [set_id for at, set_id in due if at <= now][:limit]

    def due_resources(self, now: datetime, limit: int) -> Sequence[ResourceId]:
        """Return the resources that are due, most overdue first."""
        due = sorted((r.due_at, r.id) for r in self._resources.values() if r.due_at is not None)
        return [resource_id for at, resource_id in due if at <= now][:limit]

    def due_effects(self, now: datetime, limit: int) -> Sequence[EffectRow]:
        """Return the effects that may be claimed, most overdue first."""
        due = [row for row in self._effects.values() if row.due_at <= now]
        return sorted(due, key=lambda row: row.due_at)[:limit]

    def next_due(self) -> datetime | None:
        """Return when something is next due."""
        due = [*self._due.values(), *(row.due_at for row in self._effects.values())]
        due.extend(s.due_at for s in self._scale_sets.values() if s.due_at is not None)
        due.extend(r.due_at for r in self._resources.values() if r.due_at is not None)
        return min(due, default=None)

    def recall(self, key: str) -> str | None:
        """Return what was remembered."""
        return self._remembered.get(key)

    def last_ordinal(self) -> int:
        """Return the last ordinal that was drawn."""
        return self._ordinal

    def write(self, changes: Changes) -> Sequence[Recorded]:
        """Make the changes, and return the history with its numbers."""
        for scope_id, scope in changes.scopes.items():
            self._write_scope(scope_id, scope)
        for set_id, scale_set in changes.scale_sets.items():
            if scale_set is None:
                self._scale_sets.pop(set_id, None)
                self._documents = {k: v for k, v in self._documents.items() if k[0] != set_id}
            else:
                self._scale_sets[set_id] = scale_set
        self._write_documents(changes)
        self._operations.update(changes.operations)
        _take_over(self._resources, changes.resources)
        for activity in changes.activities:
            self._activity_seq += 1
            self._activities.append(replace(activity, seq=self._activity_seq))
        _take_over(self._effects, changes.effects)
        self._ended.update((ended.event.id, ended) for ended in changes.ended)
        self._remembered.update(changes.remembered)
        if changes.ordinal is not None:
            self._ordinal = changes.ordinal
        if changes.pruned_at is not None:
            self._prune(changes.pruned_at)
        return self._append(changes.history)

    def _write_scope(self, scope_id: ScopeId, scope: Scope | None) -> None:
        self._due.pop(scope_id, None)
        if scope is None:
            self._scopes.pop(scope_id, None)
            return
        self._scopes[scope_id] = scope
        due = due_at(scope)
        if due is not None:
            self._due[scope_id] = due

    def _write_documents(self, changes: Changes) -> None:
        for key, body in changes.documents.items():
            if key[0] in self._scale_sets:
                self._documents[key] = body
        for set_id, numbers in changes.documents_kept.items():
            for key in [key for key in self._documents if key[0] == set_id]:
                if key[1] not in numbers:
                    del self._documents[key]

    def _append(self, history: Sequence[Recorded]) -> Sequence[Recorded]:
        numbered = [replace(line, seq=seq) for seq, line in enumerate(history, start=self._seq + 1)]
        self._seq += len(numbered)
        self._history.extend(numbered)
        return numbered

    def _prune(self, now: datetime) -> None:
        del self._history[:-HISTORY_ROWS_MAX]
        del self._activities[:-ACTIVITIES_MAX]
        self._ended = {
            key: ended for key, ended in self._ended.items() if ended.ended_at + FINISHED_KEPT > now
        }
        self._operations = {
            key: operation
            for key, operation in self._operations.items()
            if operation.is_kept
            or operation.ended_at is None
            or operation.ended_at + OPERATIONS_KEPT > now
        }


def _take_over(kept: dict[K, V], changed: Mapping[K, V | None]) -> None:
    for key, value in changed.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value


class MemoryStore:
    """Implements `ports.Store`; each transaction is a group of one."""

    def __init__(self) -> None:
        self._shelf = MemoryShelf()
        self._observers: list[Callable[[Commit], None]] = []

    def run(self, work: Callable[[Transaction], T]) -> T:
        """Run and commit at once, without an event loop: simulations count on it."""
        ledger = Ledger(self._shelf)
        result = work(ledger)
        if ledger.changes:
            self._tell(ledger.changes, self._shelf.write(ledger.changes))
        return result

    def transact(self, work: Callable[[Transaction], T]) -> "asyncio.Future[T]":
        """Run `work` and commit it."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            outcome.set_result(self.run(work))
        except Exception as refusal:  # noqa: BLE001 - it belongs to whoever asked
            outcome.set_exception(refusal)
        return outcome

    async def read(self, work: Callable[[Reader], T]) -> T:
        """Run `work` on the committed state."""
        return work(Ledger(self._shelf))

    def observe(self, observer: Callable[[Commit], None]) -> None:
        """Call `observer` after each commit."""
        self._observers.append(observer)

    async def close(self) -> None:
        """Let go of nothing: memory has no resources."""

    def _tell(self, changes: Changes, history: Sequence[Recorded]) -> None:
        commit = commit_of(changes, history, self._shelf.next_due())
        for observer in self._observers:
            observer(commit)
