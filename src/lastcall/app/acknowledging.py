"""Approval from outside the machine: an owner lets events of a resource start (R90)."""

from collections.abc import Iterable, Sequence

from lastcall.app import flexible, resources, set_keys
from lastcall.app.events import Approval, approve
from lastcall.app.learning import Moment
from lastcall.app.virtual_machines import machine_of
from lastcall.engine.errors import EventNotFoundError
from lastcall.engine.model import EventId, Scope, ScopeId
from lastcall.ports import Reader, Transaction
from lastcall.wire.names import SET_TYPE
from lastcall.wire.paths import Path
from lastcall.wire.quoting import shown
from lastcall.wire.virtual_machines import VM_TYPE


def acknowledge(
    tx: Transaction, path: Path, event_ids: Sequence[EventId], by: str, moment: Moment
) -> None:
    """Approve events in the scopes of a resource; all of them are known, or nothing changes."""
    scopes = [tx.scope(scope_id) for scope_id in scopes_of(tx, path)]
    wanted: dict[ScopeId, list[EventId]] = {}
    for event_id in event_ids:
        wanted.setdefault(_scope_with(tx, scopes, event_id), []).append(event_id)
    for scope_id, found in wanted.items():
        approve(tx, Approval(scope_id, tuple(found), by), moment)


def scopes_of(reader: Reader, path: Path) -> Sequence[ScopeId]:
    """Return the scopes in which a resource has machines, or refuse what does not exist."""
    if path.kind == SET_TYPE.lower():
        return _scopes_of_set(reader, path)
    if path.kind == VM_TYPE.lower():
        return [_scope_of_machine(reader, path)]
    found = resources.known(reader, path)
    assert found.scope_id is not None, "availability sets and cloud services have a scope"
    return [found.scope_id]


def _scopes_of_set(reader: Reader, path: Path) -> Sequence[ScopeId]:
    return [group.scope_id for group in set_keys.known(reader, set_keys.key_at(path)).groups]


def _scope_of_machine(reader: Reader, path: Path) -> ScopeId:
    """Return the scope of a virtual machine; the instances of a Flexible set are some too."""
    vm = resources.find(reader, path)
    if vm is not None:
        return machine_of(reader, vm)[0]
    found = flexible.find(reader, path)
    if found is not None:
        return found.scope_id
    resources.known(reader, path)
    raise AssertionError("what is not found is not known")


def _scope_with(reader: Reader, scopes: Iterable[Scope], event_id: EventId) -> ScopeId:
    for scope in scopes:
        event = scope.events.get(event_id)
        if (event is not None and event.type is not None) or reader.ended(scope.id, (event_id,)):
            return scope.id
    raise EventNotFoundError(f"There is no scheduled event '{shown(event_id)}'.")
