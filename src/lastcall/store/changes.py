"""What a transaction changes, as values: nothing is written until the whole of it is known."""

from collections.abc import Sequence
from datetime import datetime

from lastcall.engine.model import EventId, MachineId, OperationId, Scope, ScopeId, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.engine.value import Value
from lastcall.ports import Commit, Effect, Ended, Recorded

EffectKey = tuple[EventId, MachineId]


class EffectRow(Value, frozen=True):
    """An effect and when it may be claimed."""

    effect: Effect
    due_at: datetime


class Changes:
    """The writes of one or several transactions; None stands for a removal.

    `scopes_before` are the scopes as they are on disk, so that only what differs is written.
    """

    __slots__ = (
        "activities",
        "documents",
        "documents_kept",
        "effects",
        "ended",
        "history",
        "operations",
        "ordinal",
        "pruned_at",
        "remembered",
        "resources",
        "scale_sets",
        "scopes",
        "scopes_before",
    )

    def __init__(self) -> None:
        self.scopes: dict[ScopeId, Scope | None] = {}
        self.scopes_before: dict[ScopeId, Scope | None] = {}
        self.scale_sets: dict[SetId, ScaleSet | None] = {}
        self.documents: dict[tuple[SetId, int], bytes] = {}
        self.documents_kept: dict[SetId, frozenset[int]] = {}
        self.operations: dict[OperationId, Operation] = {}
        self.resources: dict[ResourceId, Resource | None] = {}
        self.activities: list[Activity] = []
        self.effects: dict[EffectKey, EffectRow | None] = {}
        self.ended: list[Ended] = []
        self.history: list[Recorded] = []
        self.remembered: dict[str, str] = {}
        self.ordinal: int | None = None
        self.pruned_at: datetime | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(
            self.scopes
            or self.scale_sets
            or self.operations
            or self.resources
            or self.activities
            or self.effects
            or self.history
            or self.remembered
            or self.ordinal is not None
            or self.pruned_at is not None
        )

    def merge(self, later: "Changes") -> None:
        """Add the writes of a transaction that came after."""
        self.scopes.update(later.scopes)
        for scope_id, before in later.scopes_before.items():
            self.scopes_before.setdefault(scope_id, before)
        self.scale_sets.update(later.scale_sets)
        self.documents.update(later.documents)
        self.documents_kept.update(later.documents_kept)
        self.operations.update(later.operations)
        self.resources.update(later.resources)
        self.activities.extend(later.activities)
        self.effects.update(later.effects)
        self.ended.extend(later.ended)
        self.history.extend(later.history)
        self.remembered.update(later.remembered)
        self.ordinal = self.ordinal if later.ordinal is None else later.ordinal
        self.pruned_at = self.pruned_at if later.pruned_at is None else later.pruned_at


def commit_of(changes: Changes, history: Sequence[Recorded], next_due: datetime | None) -> Commit:
    """Return what observers are told of some changes."""
    return Commit(
        scopes=tuple(scope for scope in changes.scopes.values() if scope is not None),
        forgotten=tuple(key for key, scope in changes.scopes.items() if scope is None),
        history=tuple(history),
        next_due=next_due,
    )
