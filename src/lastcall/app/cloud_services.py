"""What users do to cloud services: roles, and machines that play them, all in one scope."""

from collections.abc import Mapping, Sequence
from itertools import count, islice
from typing import Any

from msgspec.structs import replace

from lastcall.app import machines, resources
from lastcall.app.learning import Moment
from lastcall.app.machines import Wish, machines_of, scope_of
from lastcall.app.resources import Written
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.limits import UPDATE_DOMAINS
from lastcall.engine.model import (
    Action,
    Machine,
    OperationId,
    Provisioning,
    ScopeKind,
)
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.wire.availability_sets import FAULT_DOMAINS_DEFAULT
from lastcall.wire.cloud_services import (
    INSTANCES,
    ROLES,
    Role,
    instance_name,
    merge_service,
    number_of,
    parse_roles,
    refuse_service_change,
    role_of,
)
from lastcall.wire.fields import lookup
from lastcall.wire.names import refuse_name
from lastcall.wire.paths import Path


def member(reader: Reader, service: Resource, name: str) -> Machine:
    """Return one role instance, or raise `InstanceNotFoundError`."""
    for machine in machines_of(reader, service):
        if machine.name.lower() == name.lower():
            return machine
    raise InstanceNotFoundError


def provisioning(service: Resource, present: Sequence[Machine]) -> Provisioning:
    """Return how a service stands: it is leaving, or it is as its role instances are."""
    if resources.is_deleting(service):
        return Provisioning.DELETING
    states = {machine.provisioning for machine in present}
    order = (Provisioning.CREATING, Provisioning.UPDATING, Provisioning.FAILED)
    return next((state for state in order if state in states), Provisioning.SUCCEEDED)


def write(
    tx: Transaction,
    path: Path,
    body: Mapping[str, Any],
    _api_version: str,
    moment: Moment,
    part_of: OperationId | None = None,
) -> Written:
    """Create a cloud service or change it, and begin what follows from its roles."""
    before = resources.find(tx, path)
    content = merge_service(None if before is None else before.content, body)
    roles = parse_roles(content)
    if before is not None:
        resources.refuse_deleting(before)
        refuse_service_change(before.content, content)
        service = resources.write(tx, path, content, moment)
    else:
        refuse_name(path.name, "cloud service")
        resources.demand_open_group(tx, path)
        scope_id = moment.ids.scope_id()
        machines.open_scope(tx, scope_id, ScopeKind.CLOUD_SERVICE, moment)
        service = resources.write(tx, path, content, moment, scope_id=scope_id)
    operation = resources.begin(tx, service, "write", moment, part_of=part_of)
    # Otherwise a change of tags would bring back what was deleted since.
    is_sized = before is None or lookup(body, ROLES) is not None
    parts = _adapt(tx, service, roles, operation.id, moment) if is_sized else 0
    operation = resources.expect(tx, operation, parts, moment)
    return Written(resource=service, operation=operation, is_new=before is None)


def act(
    tx: Transaction,
    service: Resource,
    wish: Wish,
    names: Sequence[str] | None,
    moment: Moment,
) -> Operation:
    """Do something to some role instances, to all of them where none is named."""
    if names is None:
        is_deletion = wish.action is Action.DELETE
        chosen = [m for m in machines_of(tx, service) if is_deletion or not m.is_leaving]
    else:
        unique = dict.fromkeys(map(str.lower, names))
        chosen = [member(tx, service, name) for name in unique]
    operation = resources.begin(tx, service, wish.action, moment)
    _request(tx, service, chosen, wish, operation.id, moment)
    return resources.expect(tx, operation, len(chosen), moment)


def delete(
    tx: Transaction,
    service: Resource,
    moment: Moment,
    *,
    force: bool = False,
    part_of: OperationId | None = None,
) -> Operation:
    """Delete a service with its role instances; it goes with the last of them."""
    leaving = resources.mark_deleting(tx, service)
    operation = resources.begin(tx, leaving, "delete", moment, removes=True, part_of=part_of)
    present = machines_of(tx, leaving)
    wish = Wish(action=Action.DELETE, force=force)
    _request(tx, leaving, present, wish, operation.id, moment)
    return resources.expect(tx, operation, len(present), moment)


def _adapt(
    tx: Transaction,
    service: Resource,
    roles: Sequence[Role],
    operation_id: OperationId,
    moment: Moment,
) -> int:
    """Give each role as many machines as it should have, and take away the rest; count them."""
    present = machines_of(tx, service)
    surplus = {machine.id: machine for machine in present if not machine.is_leaving}
    missing: list[str] = []
    for role in roles:
        playing = [m for m in surplus.values() if role_of(m).lower() == role.name.lower()]
        for machine in sorted(playing, key=number_of)[: role.capacity]:
            del surplus[machine.id]
        missing += _free_names(role, present, role.capacity - len(playing))
    leaving = list(surplus.values())
    _request(tx, service, leaving, Wish(action=Action.DELETE), operation_id, moment)
    born = [
        (scope_of(service), _machine(service, name, ordinal, moment))
        for name, ordinal in zip(missing, tx.take_ordinals(len(missing)), strict=True)
    ]
    machines.admit(tx, born, operation_id, moment)
    return len(leaving) + len(born)


def _free_names(role: Role, present: Sequence[Machine], wanted: int) -> list[str]:
    taken = {machine.name.lower() for machine in present}
    names = (instance_name(role.name, number) for number in count())
    return list(islice((n for n in names if n.lower() not in taken), max(0, wanted)))


def _machine(service: Resource, name: str, ordinal: int, moment: Moment) -> Machine:
    machine = Machine(
        id=moment.ids.machine_id(),
        name=name,
        ordinal=ordinal,
        created_at=moment.now,
        instance_id=name,
        computer_name=name,
        path=f"{service.path}/{INSTANCES}/{name}",
    )
    number = number_of(machine)
    return replace(
        machine,
        fault_domain=number % FAULT_DOMAINS_DEFAULT,
        update_domain=number % UPDATE_DOMAINS,
    )


def _request(
    tx: Transaction,
    service: Resource,
    chosen: Sequence[Machine],
    wish: Wish,
    operation_id: OperationId,
    moment: Moment,
) -> None:
    entries = [(scope_of(service), machine) for machine in chosen]
    machines.request(tx, entries, wish, operation_id, moment)
