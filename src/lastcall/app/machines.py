"""What scale sets, virtual machines, availability sets and cloud services share: machines."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from lastcall.app.learning import Moment, learn
from lastcall.app.resources import find_by_id
from lastcall.engine.effects import Step
from lastcall.engine.facts import Announced, MachinesAdded, Requested
from lastcall.engine.model import (
    Action,
    EventType,
    Machine,
    Model,
    OperationId,
    Scope,
    ScopeId,
    ScopeKind,
    SetId,
)
from lastcall.engine.requests import TYPE_OF
from lastcall.engine.resources import Resource, ResourceId
from lastcall.ports import Reader, Transaction

Members = Sequence[tuple[ScopeId, Machine]]


class Wish(Struct, frozen=True, kw_only=True):
    """What a user wants done to machines.

    `auto_approve` are the events of users that the owner has approved in advance (R87); `model`
    is what an update applies.
    """

    action: Action
    force: bool = False
    auto_approve: tuple[EventType, ...] = ()
    model: Model | None = None


def open_scope(
    tx: Transaction, scope_id: ScopeId, kind: ScopeKind, moment: Moment, set_id: SetId | None = None
) -> None:
    """Make a scope that has no machines yet."""
    scope = Scope(id=scope_id, kind=kind, machines={}, events={}, set_id=set_id)
    tx.record(Step(before=None, scope=scope), moment.now)


def scope_of(resource: Resource) -> ScopeId:
    """Return the scope of a resource that was made with one of its own."""
    assert resource.scope_id is not None, "it was made with its scope"
    return resource.scope_id


def machines_of(reader: Reader, resource: Resource) -> list[Machine]:
    """Return the machines in a resource's own scope, oldest first."""
    present = reader.scope(scope_of(resource)).machines.values()
    return sorted(present, key=lambda machine: machine.ordinal)


def admit(
    tx: Transaction, entries: Members, operation_id: OperationId | None, moment: Moment
) -> None:
    """Take new machines into their scopes, and have them created."""
    for scope_id, machines in by_scope(entries).items():
        fact = MachinesAdded(
            machines=tuple(machines),
            event_ids=tuple(moment.ids.event_id() for _ in machines),
            operation=operation_id,
        )
        learn(tx, scope_id, fact, moment)


def request(
    tx: Transaction,
    chosen: Members,
    wish: Wish,
    operation_id: OperationId | None,
    moment: Moment,
) -> None:
    """Ask each machine's scope for what a user wants; the engine decides who is told before."""
    for scope_id, machines in by_scope(chosen).items():
        fact = Requested(
            action=wish.action,
            machines=tuple(machine.id for machine in machines),
            event_ids=tuple(moment.ids.event_id() for _ in machines),
            operation=operation_id,
            force=wish.force,
            auto_approve=TYPE_OF.get(wish.action) in wish.auto_approve,
            model=wish.model,
        )
        learn(tx, scope_id, fact, moment)


def announce_eviction(tx: Transaction, scope_id: ScopeId, machine: Machine, moment: Moment) -> Step:
    """Announce the eviction of a Spot machine (R82-R84)."""
    fact = Announced(event_id=moment.ids.event_id(), type=EventType.PREEMPT, machines=(machine.id,))
    return learn(tx, scope_id, fact, moment)


def owner(reader: Reader, machine: Machine) -> Resource | None:
    """Return the resource that a machine is, or a part of which it is; None where a set owns it."""
    path = machine.path.lower()
    for candidate in (path, path.rpartition("/roleinstances/")[0]):
        found = find_by_id(reader, ResourceId(candidate))
        if found is not None:
            return found
    return None


def by_scope(entries: Iterable[tuple[ScopeId, Machine]]) -> dict[ScopeId, list[Machine]]:
    """Return the machines of each scope."""
    grouped: dict[ScopeId, list[Machine]] = {}
    for scope_id, machine in entries:
        grouped.setdefault(scope_id, []).append(machine)
    return grouped
