"""What users do to virtual machines that no scale set owns: write, act on, evict, delete.

A lone machine is a scope of its own; one that names an availability set is in that set's.
"""

from collections.abc import Mapping
from typing import Any

from lastcall.app import availability_sets, flexible, machines, resources
from lastcall.app.learning import Moment
from lastcall.app.machines import Wish
from lastcall.app.resources import Written
from lastcall.engine.effects import Step
from lastcall.engine.errors import ConflictError, ResourceNotFoundError
from lastcall.engine.model import Action, Machine, OperationId, ScopeId, ScopeKind
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.wire.members import refuse_members
from lastcall.wire.names import refuse_name
from lastcall.wire.paths import Path
from lastcall.wire.virtual_machines import (
    MEMBERS,
    VirtualMachine,
    merge_machine,
    parse_machine,
    refuse_machine_change,
)


def machine_of(reader: Reader, vm: Resource) -> tuple[ScopeId, Machine]:
    """Return the machine that a resource is, with its scope."""
    home = parse_machine(vm.content, vm.name).availability_set
    owner = availability_sets.named(reader, home) if home else vm
    assert owner.scope_id is not None, "a machine's resource has a scope, or its set has"
    for machine in reader.scope(owner.scope_id).machines.values():
        if machine.path.lower() == vm.id:
            return owner.scope_id, machine
    raise ResourceNotFoundError  # Never: a resource goes with its machine.


def write(
    tx: Transaction,
    path: Path,
    body: Mapping[str, Any],
    api_version: str,
    moment: Moment,
    part_of: OperationId | None = None,
) -> Written:
    """Create a virtual machine or change it, whoever asks: a request or a deployment."""
    flexible.refuse_write(tx, path)
    refuse_members(body, api_version, members=MEMBERS, root="vm")
    before = resources.find(tx, path)
    content = merge_machine(None if before is None else before.content, body)
    wanted = parse_machine(content, path.name)
    if before is None:
        return _create(tx, path, content, wanted, moment, part_of)
    refuse_machine_change(before.content, content, path.name)
    _, machine = machine_of(tx, before)
    if machine.is_leaving:
        raise ConflictError(f"The virtual machine '{before.name}' is being deleted.")
    vm = resources.write(tx, path, content, moment)
    wish = Wish(action=Action.UPDATE, model=wanted.model(vm.number))
    operation = resources.begin(tx, vm, "write", moment, part_of=part_of)
    operation = _ask(tx, vm, wish, operation, moment)
    return Written(resource=vm, operation=operation, is_new=False)


def act(tx: Transaction, vm: Resource, action: Action, moment: Moment) -> Operation:
    """Do something to a virtual machine."""
    wanted = parse_machine(vm.content, vm.name)
    wish = Wish(
        action=action,
        auto_approve=wanted.auto_approve,
        model=wanted.model(vm.number) if action is Action.UPDATE else None,
    )
    return _ask(tx, vm, wish, resources.begin(tx, vm, action, moment), moment)


def delete(
    tx: Transaction,
    vm: Resource,
    moment: Moment,
    *,
    force: bool = False,
    part_of: OperationId | None = None,
) -> Operation:
    """Delete a virtual machine, with its notice; the resource goes with the machine."""
    operation = resources.begin(tx, vm, "delete", moment, part_of=part_of)
    return _ask(tx, vm, Wish(action=Action.DELETE, force=force), operation, moment)


def evict(tx: Transaction, vm: Resource, moment: Moment) -> Step:
    """Announce the eviction of a Spot virtual machine (R82-R84)."""
    return machines.announce_eviction(tx, *machine_of(tx, vm), moment)


def _create(
    tx: Transaction,
    path: Path,
    content: Mapping[str, Any],
    wanted: VirtualMachine,
    moment: Moment,
    part_of: OperationId | None,
) -> Written:
    refuse_name(path.name, "virtual machine")
    resources.demand_open_group(tx, path)
    machine = Machine(
        id=moment.ids.machine_id(),
        name=path.name,
        ordinal=tx.take_ordinals(1)[0],
        created_at=moment.now,
        instance_id=path.name,
        computer_name=wanted.computer_name,
        zone=wanted.zone,
        model=wanted.model(1),
        path=path.text,
    )
    own_scope = None
    if wanted.availability_set:
        scope_id, machine = availability_sets.placed(tx, path, wanted, machine)
    else:
        scope_id = own_scope = moment.ids.scope_id()
        machines.open_scope(tx, scope_id, ScopeKind.VIRTUAL_MACHINE, moment)
    vm = resources.write(tx, path, content, moment, scope_id=own_scope)
    operation = resources.begin(tx, vm, "write", moment, part_of=part_of)
    machines.admit(tx, [(scope_id, machine)], operation.id, moment)
    operation = resources.expect(tx, operation, 1, moment)
    return Written(resource=vm, operation=operation, is_new=True)


def _ask(
    tx: Transaction, vm: Resource, wish: Wish, operation: Operation, moment: Moment
) -> Operation:
    machines.request(tx, [machine_of(tx, vm)], wish, operation.id, moment)
    return resources.expect(tx, operation, 1, moment)
