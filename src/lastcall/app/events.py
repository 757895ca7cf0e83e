"""What happens to events from outside: announced, read, approved, withdrawn."""

from collections.abc import Sequence

from lastcall.app.learning import Moment, learn
from lastcall.app.machines import admit, open_scope
from lastcall.engine.effects import Step
from lastcall.engine.errors import OperationNotAllowedError, ScopeNotFoundError
from lastcall.engine.facts import Announced, Approved, Requested, Watched, Withdrawn
from lastcall.engine.model import (
    Action,
    EventId,
    Machine,
    Model,
    Scope,
    ScopeId,
    ScopeKind,
)
from lastcall.engine.value import Value
from lastcall.ports import Transaction


class Approval(Value, frozen=True):
    """Somebody in a scope says that events may start."""

    scope_id: ScopeId
    event_ids: tuple[EventId, ...]
    by: str


def approve(tx: Transaction, approval: Approval, moment: Moment) -> Step:
    """Let events start; all of them are known, or nothing changes."""
    scope = tx.scope(approval.scope_id)
    missing = [event_id for event_id in approval.event_ids if event_id not in scope.events]
    fact = Approved(
        event_ids=approval.event_ids,
        by=approval.by,
        finished=tx.ended(scope.id, missing) if missing else frozenset(),
    )
    return learn(tx, scope.id, fact, moment)


def announce(tx: Transaction, scope_id: ScopeId, fact: Announced, moment: Moment) -> Step:
    """Announce that the platform will do something to machines of a scope."""
    return learn(tx, scope_id, fact, moment)


def withdraw(tx: Transaction, scope_id: ScopeId, event_id: EventId, moment: Moment) -> Step:
    """Take back an announcement that has not started."""
    return learn(tx, scope_id, Withdrawn(event_id=event_id), moment)


def watch(tx: Transaction, scope_ids: Sequence[ScopeId], moment: Moment) -> None:
    """Record that somebody reads the documents of these scopes (R33)."""
    for scope_id in scope_ids:
        try:
            learn(tx, scope_id, Watched(at=moment.now), moment)
        except ScopeNotFoundError:
            continue  # It went after it was read.


def create_scope(
    tx: Transaction, kind: ScopeKind, names: Sequence[str], model: Model, moment: Moment
) -> Scope:
    """Make a scope that no scale set owns: an availability set, a cloud service, a lone VM."""
    scope_id = moment.ids.scope_id()
    open_scope(tx, scope_id, kind, moment)
    machines = [
        Machine(
            id=moment.ids.machine_id(),
            name=name,
            computer_name=name,
            instance_id=name,
            ordinal=ordinal,
            created_at=moment.now,
            model=model,
        )
        for name, ordinal in zip(names, tx.take_ordinals(len(names)), strict=True)
    ]
    admit(tx, [(scope_id, machine) for machine in machines], None, moment)
    return tx.scope(scope_id)


def delete_scope(
    tx: Transaction, scope_id: ScopeId, moment: Moment, *, force: bool = False
) -> Scope:
    """Delete a scope that no scale set owns: its machines get their notices, and it goes last."""
    scope = tx.scope(scope_id)
    if scope.set_id is not None:
        raise OperationNotAllowedError(
            "The machines of this scope belong to a scale set; delete the set or its instances."
        )
    if any(resource.scope_id == scope_id for resource in tx.resources()):
        raise OperationNotAllowedError(
            "The machines of this scope belong to a resource; delete that."
        )
    if not scope.machines:
        tx.forget_scope(scope_id)
        return scope
    fact = Requested(
        action=Action.DELETE,
        machines=tuple(scope.machines),
        event_ids=tuple(moment.ids.event_id() for _ in scope.machines),
        force=force,
    )
    return learn(tx, scope_id, fact, moment).scope
