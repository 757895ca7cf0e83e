"""What is on disk in SQLite: look-ups, and one method that writes changes in one transaction."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

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
from lastcall.ports import Ended, HistoryFilter, Recorded
from lastcall.store import rows
from lastcall.store.changes import Changes, EffectRow
from lastcall.store.queries import QUERIES

SCOPES_CACHED_MAX: Final = 256
ORDINAL_KEY: Final = "ordinal"


class SqliteShelf:
    """Implements `store.shelf.Shelf` over one connection, used by one thread.

    The writer's shelf keeps the scopes it used last: it alone writes, so they stay true. A reader's
    shelf keeps none.
    """

    def __init__(self, connection: sqlite3.Connection, *, scopes_cached_max: int) -> None:
        self._connection = connection
        self._cache: OrderedDict[ScopeId, Scope] = OrderedDict()
        self._scopes_cached_max = scopes_cached_max
        self._history_seq: int | None = None

    def _one(self, query: str, *values: object) -> Any:
        return self._connection.execute(QUERIES[query], values).fetchone()

    def _all(self, query: str, *values: object) -> list[Any]:
        return self._connection.execute(QUERIES[query], values).fetchall()

    def _many(self, query: str, parameters: Iterable[rows.Row]) -> None:
        self._connection.executemany(QUERIES[query], parameters)

    # Looking up

    def find_scope(self, scope_id: ScopeId) -> Scope | None:
        """Return a scope."""
        cached = self._cache.get(scope_id)
        if cached is not None:
            return cached
        row = self._one("find_scope", scope_id)
        if row is None:
            return None
        machines = (body for (body,) in self._all("scope_machines", scope_id))
        events = (body for (body,) in self._all("scope_events", scope_id))
        scope = rows.scope_value((scope_id, *row), machines, events)
        self._keep(scope)
        return scope

    def _keep(self, scope: Scope) -> None:
        self._cache[scope.id] = scope
        self._cache.move_to_end(scope.id)
        while len(self._cache) > self._scopes_cached_max:
            self._cache.popitem(last=False)

    def all_scopes(self) -> Iterable[Scope]:
        """Return every scope."""
        machines: dict[str, list[bytes]] = {}
        for scope_id, body in self._all("all_machines"):
            machines.setdefault(scope_id, []).append(body)
        events: dict[str, list[bytes]] = {}
        for scope_id, body in self._all("all_events"):
            events.setdefault(scope_id, []).append(body)
        return [
            rows.scope_value(row, machines.get(row[0], ()), events.get(row[0], ()))
            for row in self._all("all_scopes")
        ]

    def find_scale_set(self, set_id: SetId) -> ScaleSet | None:
        """Return a set."""
        row = self._one("find_scale_set", set_id)
        return None if row is None else rows.decode_scale_set(row[0])

    def all_scale_sets(self) -> Sequence[ScaleSet]:
        """Return every set."""
        return [rows.decode_scale_set(body) for (body,) in self._all("all_scale_sets")]

    def find_document(self, set_id: SetId, number: int) -> bytes | None:
        """Return one version of a set's document."""
        row = self._one("find_document", set_id, number)
        return None if row is None else bytes(row[0])

    def find_operation(self, operation_id: OperationId) -> Operation | None:
        """Return an operation."""
        row = self._one("find_operation", operation_id)
        return None if row is None else rows.decode_operation(row[0])

    def find_resource(self, resource_id: ResourceId) -> Resource | None:
        """Return a resource."""
        row = self._one("find_resource", resource_id)
        return None if row is None else rows.decode_resource(row[0])

    def find_resources_below(self, resource_id: ResourceId) -> Sequence[Resource]:
        """Return a resource and everything below it."""
        found = self._all("find_resources_below", resource_id)
        return [rows.decode_resource(body) for (body,) in found]

    def find_resources(self, kind: str | None, group: str | None) -> Sequence[Resource]:
        """Return the resources of a type, of a group, of both or all."""
        return [rows.decode_resource(body) for (body,) in self._all("find_resources", kind, group)]

    def find_activities(self, wanted: ActivityFilter) -> Sequence[Activity]:
        """Return who asked for what, newest first."""
        span = (rows.optional_micros(wanted.since), rows.optional_micros(wanted.until))
        found = self._all("find_activities", wanted.limit, *span, wanted.group, wanted.before)
        return [replace(rows.decode_activity(body), seq=seq) for seq, body in found]

    def find_ended(self, scope_id: ScopeId, event_ids: Sequence[EventId]) -> frozenset[EventId]:
        """Return which of these events the scope once had."""
        return frozenset(
            event_id for event_id in event_ids if self._one("find_ended", scope_id, event_id)
        )

    def find_ended_event(self, event_id: EventId) -> Ended | None:
        """Return an event that has ended."""
        row = self._one("find_ended_event", event_id)
        return None if row is None else rows.decode_ended(row[0])

    def newest_ended(self, limit: int, skip: int) -> Sequence[Ended]:
        """Return the events that ended last, newest first, without the first `skip`."""
        return [rows.decode_ended(body) for (body,) in self._all("newest_ended", limit, skip)]

    def find_history(self, wanted: HistoryFilter) -> Sequence[Recorded]:
        """Return the newest lines that match, oldest first."""
        window = (wanted.after, wanted.limit, wanted.machine)
        scope_id: str | None = wanted.scope_id
        if scope_id is None and wanted.event_id is not None:
            (scope_id,) = self._one("scope_of_event", wanted.event_id) or (None,)
        if scope_id is None:
            found = self._all("find_history", *window, wanted.event_id)
        else:
            found = self._all("scope_history", *window, scope_id, wanted.event_id)
        return [replace(rows.decode_recorded(body), seq=seq) for seq, body in reversed(found)]

    def due_scopes(self, now: datetime, limit: int) -> Sequence[ScopeId]:
        """Return the scopes that are due, most overdue first."""
        return [ScopeId(key) for (key,) in self._all("due_scopes", rows.micros(now), limit)]

    def due_scale_sets(self, now: datetime, limit: int) -> Sequence[SetId]:
        """Return the sets that are due, most overdue first."""
        return [SetId(key) for (key,) in self._all("due_scale_sets", rows.micros(now), limit)]

    def due_resources(self, now: datetime, limit: int) -> Sequence[ResourceId]:
        """Return the resources that are due, most overdue first."""
        return [ResourceId(key) for (key,) in self._all("due_resources", rows.micros(now), limit)]

    def due_effects(self, now: datetime, limit: int) -> Sequence[EffectRow]:
        """Return the effects that may be claimed, most overdue first."""
        return [
            EffectRow(rows.decode_effect(body), rows.instant(due_at))
            for due_at, body in self._all("due_effects", rows.micros(now), limit)
        ]

    def next_due(self) -> datetime | None:
        """Return when something is next due."""
        (due,) = self._one("next_due")
        return None if due is None else rows.instant(due)

    def recall(self, key: str) -> str | None:
        """Return what was remembered."""
        row = self._one("recall", key)
        return None if row is None else str(row[0])

    def last_ordinal(self) -> int:
        """Return the last ordinal that was drawn."""
        return int(self.recall(ORDINAL_KEY) or 0)

    # Writing

    def write(self, changes: Changes) -> Sequence[Recorded]:
        """Write everything in one transaction, durably, or nothing at all."""
        history = self._numbered(changes.history)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._write_scopes(changes)
            self._write_scale_sets(changes)
            self._write_resources(changes)
            self._write_rest(changes, history)
            if changes.pruned_at is not None:
                self._prune(changes.pruned_at)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._history_seq = history[-1].seq if history else self._history_seq
        for scope_id, scope in changes.scopes.items():
            if scope is None:
                self._cache.pop(scope_id, None)
            else:
                self._keep(scope)
        return history

    def _numbered(self, history: Sequence[Recorded]) -> Sequence[Recorded]:
        if self._history_seq is None:
            self._history_seq = int(self._one("last_history")[0] or 0)
        first = self._history_seq + 1
        return [replace(line, seq=seq) for seq, line in enumerate(history, start=first)]

    def _write_scopes(self, changes: Changes) -> None:
        changed = rows.ScopeRows()
        for scope_id, scope in changes.scopes.items():
            changed.add(scope_id, changes.scopes_before.get(scope_id), scope)
        present = [scope for scope in changes.scopes.values() if scope is not None]
        self._many("put_scope", map(rows.scope_row, present))
        forgotten = ((key,) for key, scope in changes.scopes.items() if scope is None)
        self._many("forget_scope", forgotten)
        self._many("put_machine", changed.put_machines)
        self._many("forget_machine", changed.forget_machines)
        self._many("put_event", changed.put_events)
        self._many("forget_event", changed.forget_events)

    def _write_scale_sets(self, changes: Changes) -> None:
        for set_id, scale_set in changes.scale_sets.items():
            if scale_set is None:
                self._one("forget_scale_set", set_id)
                self._one("forget_documents", set_id)
            else:
                due_at = rows.optional_micros(scale_set.due_at)
                self._one("put_scale_set", set_id, due_at, rows.encode(scale_set))
        for (set_id, number), body in changes.documents.items():
            if changes.scale_sets.get(set_id) is not None:
                self._one("put_document", set_id, number, body)
        for set_id, numbers in changes.documents_kept.items():
            self._one("keep_documents", set_id, rows.encode(sorted(numbers)))

    def _write_resources(self, changes: Changes) -> None:
        present = [found for found in changes.resources.values() if found is not None]
        self._many(
            "put_resource",
            (
                (r.id, r.kind, r.group, rows.optional_micros(r.due_at), rows.encode(r))
                for r in present
            ),
        )
        gone = ((key,) for key, found in changes.resources.items() if found is None)
        self._many("forget_resource", gone)
        self._many(
            "put_activity",
            ((rows.micros(a.at), a.group, rows.encode(a)) for a in changes.activities),
        )

    def _write_rest(self, changes: Changes, history: Sequence[Recorded]) -> None:
        self._many(
            "put_operation",
            (
                (operation.id, rows.prunable_from(operation), rows.encode(operation))
                for operation in changes.operations.values()
            ),
        )
        effects = changes.effects
        self._many("forget_effect", (key for key, row in effects.items() if row is None))
        self._many(
            "put_effect",
            (
                (*key, rows.micros(row.due_at), rows.encode(row.effect))
                for key, row in effects.items()
                if row is not None
            ),
        )
        self._many(
            "put_ended",
            (
                (ended.event.id, ended.scope_id, rows.micros(ended.ended_at), rows.encode(ended))
                for ended in changes.ended
            ),
        )
        self._many("put_history", rows.history_rows(history))
        self._many("remember", changes.remembered.items())
        if changes.ordinal is not None:
            self._one("remember", ORDINAL_KEY, str(changes.ordinal))

    def _prune(self, now: datetime) -> None:
        self._one("prune_history", HISTORY_ROWS_MAX)
        self._one("prune_activities", ACTIVITIES_MAX)
        self._one("prune_ended", rows.micros(now - FINISHED_KEPT))
        self._one("prune_operations", rows.micros(now - OPERATIONS_KEPT))
