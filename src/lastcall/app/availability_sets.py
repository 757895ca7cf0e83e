"""What users do to availability sets: one scope for all virtual machines that name the set."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from lastcall.app import machines, resources
from lastcall.app.learning import Moment
from lastcall.app.machines import Wish, machines_of, scope_of
from lastcall.app.resources import Written
from lastcall.engine.errors import (
    ConflictError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.limits import SCOPE_MACHINES_MAX
from lastcall.engine.model import Action, Machine, OperationId, ScopeId, ScopeKind
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.wire.availability_sets import (
    SET_TYPE,
    merge_set,
    parse_set,
    refuse_set_change,
)
from lastcall.wire.names import refuse_name
from lastcall.wire.paths import Path, parse_path
from lastcall.wire.virtual_machines import AVAILABILITY_SET, VirtualMachine


def named(reader: Reader, set_path: str) -> Resource:
    """Return the set at a path, or refuse."""
    path = parse_path(set_path)
    if path is None or path.kind != SET_TYPE.lower():
        raise InvalidParameterError(
            f"'{AVAILABILITY_SET}.id' is not the id of an availability set.",
            target=f"{AVAILABILITY_SET}.id",
        )
    return resources.known(reader, path)


def placed(
    reader: Reader, path: Path, wanted: VirtualMachine, machine: Machine
) -> tuple[ScopeId, Machine]:
    """Return where a new machine goes: in the domains of the set that have the fewest machines."""
    found = named(reader, wanted.availability_set)
    resources.refuse_deleting(found)
    if not found.id.startswith(f"{path.id.partition('/providers/')[0]}/providers/"):
        raise InvalidParameterError(
            "A virtual machine and its availability set are in the same resource group.",
            target=f"{AVAILABILITY_SET}.id",
        )
    if found.content["location"] != wanted.location:
        raise InvalidParameterError(
            "A virtual machine and its availability set are in the same location.",
            target="location",
        )
    present = machines_of(reader, found)
    if len(present) >= SCOPE_MACHINES_MAX:
        raise ConflictError(
            f"The availability set '{found.name}' has {SCOPE_MACHINES_MAX} virtual machines"
            " already, which is the most it can have."
        )
    known = parse_set(found.content)
    faults = Counter(other.fault_domain for other in present if not other.is_leaving)
    updates = Counter(other.update_domain for other in present if not other.is_leaving)
    return scope_of(found), replace(
        machine,
        fault_domain=min(range(known.fault_domains), key=lambda domain: faults[domain]),
        update_domain=min(range(known.update_domains), key=lambda domain: updates[domain]),
    )


def write(
    tx: Transaction,
    path: Path,
    body: Mapping[str, Any],
    _api_version: str,
    moment: Moment,
    part_of: OperationId | None = None,
) -> Written:
    """Create an availability set or change it, whoever asks: a request or a deployment."""
    before = resources.find(tx, path)
    content = merge_set(None if before is None else before.content, body)
    parse_set(content)
    if before is not None:
        resources.refuse_deleting(before)
        refuse_set_change(before.content, content)
        found = resources.write(tx, path, content, moment)
    else:
        refuse_name(path.name, "availability set")
        resources.demand_open_group(tx, path)
        scope_id = moment.ids.scope_id()
        machines.open_scope(tx, scope_id, ScopeKind.AVAILABILITY_SET, moment)
        found = resources.write(tx, path, content, moment, scope_id=scope_id)
    operation = resources.begin(tx, found, "write", moment, part_of=part_of)
    operation = resources.expect(tx, operation, 0, moment)
    return Written(resource=found, operation=operation, is_new=before is None)


def delete(
    tx: Transaction,
    found: Resource,
    moment: Moment,
    *,
    force: bool = False,
    part_of: OperationId | None = None,
    with_machines: bool = False,
) -> Operation:
    """Delete a set that is empty, or whose machines are leaving; with its group, they leave too."""
    present = machines_of(tx, found)
    if not (with_machines or all(machine.is_leaving for machine in present)):
        raise OperationNotAllowedError(
            f"The availability set '{found.name}' cannot be deleted: it still contains"
            f" {len(present)} virtual machines."
        )
    found = resources.mark_deleting(tx, found)
    operation = resources.begin(tx, found, "delete", moment, removes=True, part_of=part_of)
    chosen = [(scope_of(found), machine) for machine in present]
    wish = Wish(action=Action.DELETE, force=force)
    machines.request(tx, chosen, wish, operation.id, moment)
    return resources.expect(tx, operation, len(chosen), moment)
