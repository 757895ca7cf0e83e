"""What a backend must be able to look up; everything else the ledger does for it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from lastcall.engine.model import EventId, OperationId, Scope, ScopeId, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, ActivityFilter, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Ended, HistoryFilter, Recorded
from lastcall.store.changes import EffectRow


class Shelf(Protocol):
    """The recorded state of one backend. A look-up that finds nothing returns None."""

    def find_scope(self, scope_id: ScopeId) -> Scope | None:
        """Return a scope."""
        ...

    def all_scopes(self) -> Iterable[Scope]:
        """Return every scope."""
        ...

    def find_scale_set(self, set_id: SetId) -> ScaleSet | None:
        """Return a set."""
        ...

    def all_scale_sets(self) -> Sequence[ScaleSet]:
        """Return every set."""
        ...

    def find_document(self, set_id: SetId, number: int) -> bytes | None:
        """Return one version of a set's document."""
        ...

    def find_operation(self, operation_id: OperationId) -> Operation | None:
        """Return an operation."""
        ...

    def find_resource(self, resource_id: ResourceId) -> Resource | None:
        """Return a resource."""
        ...

    def find_resources_below(self, resource_id: ResourceId) -> Sequence[Resource]:
        """Return a resource and everything below it."""
        ...

    def find_resources(self, kind: str | None, group: str | None) -> Sequence[Resource]:
        """Return the resources of a type, of a group, of both or all."""
        ...

    def find_activities(self, wanted: ActivityFilter) -> Sequence[Activity]:
        """Return who asked for what, newest first."""
        ...

    def find_ended(self, scope_id: ScopeId, event_ids: Sequence[EventId]) -> frozenset[EventId]:
        """Return which of these events the scope once had."""
        ...

    def find_ended_event(self, event_id: EventId) -> Ended | None:
        """Return an event that has ended."""
        ...

    def newest_ended(self, limit: int, skip: int) -> Sequence[Ended]:
        """Return the events that ended last, newest first, without the first `skip`."""
        ...

    def find_history(self, wanted: HistoryFilter) -> Sequence[Recorded]:
        """Return the newest lines that match, oldest first."""
        ...

    def due_scopes(self, now: datetime, limit: int) -> Sequence[ScopeId]:
        """Return the scopes that are due, most overdue first."""
        ...

    def due_scale_sets(self, now: datetime, limit: int) -> Sequence[SetId]:
        """Return the sets that are due, most overdue first."""
        ...

    def due_resources(self, now: datetime, limit: int) -> Sequence[ResourceId]:
        """Return the resources that are due, most overdue first."""
        ...

    def due_effects(self, now: datetime, limit: int) -> Sequence[EffectRow]:
        """Return the effects that may be claimed, most overdue first."""
        ...

    def next_due(self) -> datetime | None:
        """Return when something is next due."""
        ...

    def recall(self, key: str) -> str | None:
        """Return what was remembered."""
        ...

    def last_ordinal(self) -> int:
        """Return the last ordinal that was drawn."""
        ...
