"""What we need from the world: a clock, ids, a store, a driver. No logic lives here."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from lastcall.engine.effects import Perform, Step
from lastcall.engine.model import (
    Event,
    EventId,
    Machine,
    MachineId,
    OperationId,
    Scope,
    ScopeId,
    SetId,
)
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, ActivityFilter, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.engine.value import Value

T = TypeVar("T")


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class Ids(Protocol):
    """The only source of identity and of chance."""

    def machine_id(self) -> MachineId:
        """Return a new vmId: a lower-case GUID."""
        ...

    def event_id(self) -> EventId:
        """Return a new EventId: an upper-case GUID (R23)."""
        ...

    def operation_id(self) -> OperationId:
        """Return a new operation id: a lower-case GUID."""
        ...

    def scope_id(self) -> ScopeId:
        """Return a new scope id, which is also a placement group id: a lower-case GUID."""
        ...

    def principal_id(self) -> str:
        """Return a new id of a service principal or of its object: a lower-case GUID."""
        ...

    def secret(self) -> str:
        """Return a secret that nobody can guess."""
        ...

    def chance(self) -> float:
        """Return a number from 0 to 1."""
        ...


class Effect(Value, frozen=True, kw_only=True):
    """Something that was decided and must be performed, at least once."""

    perform: Perform
    scope_id: ScopeId
    attempts: int = 0


class Ended(Value, frozen=True, kw_only=True):
    """An event that has left its scope, kept so that its id stays known (D3)."""

    event: Event
    scope_id: ScopeId
    ended_at: datetime
    resources: tuple[str, ...]


class Recorded(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One line of history, with when and where."""

    at: datetime
    what: str
    text: str
    scope_id: ScopeId
    set_id: SetId | None = None
    event_id: EventId | None = None
    machine: MachineId | None = None
    name: str = ""
    by: str = ""
    seq: int = 0


class HistoryFilter(Value, frozen=True, kw_only=True):
    """Which lines of history are wanted: the newest `limit` after `after`."""

    limit: int
    after: int = 0
    event_id: EventId | None = None
    scope_id: ScopeId | None = None
    machine: MachineId | None = None


class Reader(Protocol):
    """What can be asked of everything that was recorded."""

    def scope(self, scope_id: ScopeId) -> Scope:
        """Return a scope with its machines and events, or raise `ScopeNotFoundError`."""
        ...

    def scopes(self) -> Iterable[Scope]:
        """Return every scope."""
        ...

    def scale_set(self, set_id: SetId) -> ScaleSet:
        """Return a set, or raise `ResourceNotFoundError`."""
        ...

    def scale_sets(self, resource_group: str | None = None) -> Sequence[ScaleSet]:
        """Return the sets of a resource group, or all, by name."""
        ...

    def document(self, set_id: SetId, number: int) -> bytes:
        """Return the model as its `number`-th write left it, as JSON."""
        ...

    def operation(self, operation_id: OperationId) -> Operation:
        """Return an operation, or raise `ResourceNotFoundError`."""
        ...

    def resource(self, resource_id: ResourceId) -> Resource:
        """Return a resource, or raise `ResourceNotFoundError`."""
        ...

    def resources(self, kind: str | None = None, group: str | None = None) -> Sequence[Resource]:
        """Return the resources of a type, of a group, of both or all, by id."""
        ...

    def resources_below(self, resource_id: ResourceId) -> Sequence[Resource]:
        """Return a resource, if there is one, and everything below it, by id."""
        ...

    def activities(self, wanted: ActivityFilter) -> Sequence[Activity]:
        """Return who asked for what, newest first."""
        ...

    def ended(self, scope_id: ScopeId, event_ids: Sequence[EventId]) -> frozenset[EventId]:
        """Return which of these events the scope had and has no more."""
        ...

    def ended_event(self, event_id: EventId) -> Ended | None:
        """Return an event that some scope had and has no more, None where there is none."""
        ...

    def ended_events(self, limit: int, skip: int = 0) -> Sequence[Ended]:
        """Return the events that ended last, newest first, without the first `skip`."""
        ...

    def history(self, wanted: HistoryFilter) -> Sequence[Recorded]:
        """Return lines of history, oldest first."""
        ...

    def next_due(self) -> datetime | None:
        """Return when a scope, a set or an effect is next due."""
        ...

    def recall(self, key: str) -> str | None:
        """Return what was remembered under a key."""
        ...


class Transaction(Reader, Protocol):
    """One atomic change, seen whole or not at all."""

    def record(self, step: Step, at: datetime) -> None:
        """Write a decision whole: scope, timer, effects, ended events and history."""
        ...

    def forget_scope(self, scope_id: ScopeId) -> None:
        """Remove a scope that has no machines left."""
        ...

    def put_scale_set(self, scale_set: ScaleSet, document: bytes | None = None) -> None:
        """Write a set and, when given, the document of its present number."""
        ...

    def keep_documents(self, set_id: SetId, numbers: frozenset[int]) -> None:
        """Forget the versions of a set's document that nobody needs any more."""
        ...

    def forget_scale_set(self, set_id: SetId) -> None:
        """Remove a set and its documents."""
        ...

    def put_operation(self, operation: Operation) -> None:
        """Write an operation."""
        ...

    def put_resource(self, resource: Resource) -> None:
        """Write a resource."""
        ...

    def forget_resource(self, resource_id: ResourceId) -> None:
        """Remove a resource."""
        ...

    def log(self, activity: Activity) -> None:
        """Add to who asked for what."""
        ...

    def has_logged(self) -> bool:
        """Whether this transaction has added to who asked for what."""
        ...

    def attempt(self, work: "Callable[[Transaction], T]") -> T:
        """Run a part of this transaction that may fail alone: an exception undoes the part."""
        ...

    def take_ordinals(self, count: int) -> range:
        """Draw numbers that no machine has had before."""
        ...

    def due_scopes(self, now: datetime, limit: int) -> Sequence[ScopeId]:
        """Return the scopes for which time has passed, most overdue first."""
        ...

    def due_scale_sets(self, now: datetime, limit: int) -> Sequence[SetId]:
        """Return the sets that want to be looked at, most overdue first."""
        ...

    def due_resources(self, now: datetime, limit: int) -> Sequence[ResourceId]:
        """Return the resources that want to be looked at, most overdue first."""
        ...

    def claim_effects(self, now: datetime, until: datetime, limit: int) -> Sequence[Effect]:
        """Return effects that are due and nobody else's until `until`."""
        ...

    def defer_effect(self, effect: Effect, until: datetime) -> None:
        """Give an effect back, to be claimed again from `until` on."""
        ...

    def forget_effect(self, effect: Effect) -> None:
        """Remove an effect that cannot be performed."""
        ...

    def remember(self, key: str, value: str) -> None:
        """Keep a small thing about the platform itself."""
        ...

    def prune(self, now: datetime) -> None:
        """Forget what is older than its keep: history, ended events, finished operations."""
        ...


class Commit(Value, frozen=True, kw_only=True):
    """What a committed change means to readers; told in the order of the commits.

    `trouble` says why nothing could be committed, and then nothing has changed.
    """

    scopes: tuple[Scope, ...] = ()
    forgotten: tuple[ScopeId, ...] = ()
    history: tuple[Recorded, ...] = ()
    next_due: datetime | None = None
    trouble: str = ""


class Store(Protocol):
    """Everything that survives a restart."""

    def transact(self, work: Callable[[Transaction], T]) -> Awaitable[T]:
        """Run `work`, commit it durably, tell the observers, then give its result.

        Whoever stops waiting for the result does not stop the work.
        `work` may run more than once and must do nothing but read and write the transaction.
        An exception from it leaves no trace.
        """
        ...

    async def read(self, work: Callable[[Reader], T]) -> T:
        """Run `work` on one consistent, committed state."""
        ...

    def observe(self, observer: Callable[[Commit], None]) -> None:
        """Call `observer` on the event loop after each commit, before `transact` returns."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go of every resource."""
        ...


class StoreUnavailableError(Exception):
    """The store cannot record anything at present; nothing was changed."""


class Order(Value, frozen=True, kw_only=True):
    """What a driver is asked to do; the same order may come again after a crash."""

    perform: Perform
    machine: Machine
    scope_id: ScopeId


class Done(Value, frozen=True):
    """The driver has finished."""


class Failed(Value, frozen=True):
    """The driver gives up. A deletion is never given up: it is asked for again."""

    reason: str


class Pending(Value, frozen=True):
    """The driver is at it; ask again at `until`."""

    until: datetime


Report = Done | Failed | Pending


class DriverError(Exception):
    """The driver could not do it this time; ask again."""


class Driver(Protocol):
    """Something that runs machines. Every order may be repeated and must then be harmless."""

    async def perform(self, order: Order, now: datetime) -> Report:
        """Carry out an order, or go on with it; raise `DriverError` for trouble that may pass."""
        ...


class SignerUnavailableError(Exception):
    """There is no key to sign with; the message says why."""


class Signer(Protocol):
    """A signature that stays the same for as long as the platform's state does."""

    def prepare(self) -> None:
        """Have the key at hand, which may take a while; raise `SignerUnavailableError`."""
        ...

    def sign(self, claims: Mapping[str, object]) -> str:
        """Return a signed statement of these claims."""
        ...

    def read(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a statement that was signed here, None for any other."""
        ...

    def public_keys(self) -> list[dict[str, Any]]:
        """Return the keys that others verify with, as JSON Web Keys."""
        ...
