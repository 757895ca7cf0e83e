"""Resource groups: written, shown, and deleted with everything in them."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol

from msgspec.structs import replace

from lastcall.app import availability_sets, cloud_services, scale_sets, virtual_machines
from lastcall.app.conditions import UNCONDITIONAL, Conditions, refuse_stale
from lastcall.app.learning import Moment
from lastcall.app.resources import (
    begin,
    demand_open_group,
    expect,
    find,
    is_deleting,
    known,
    mark_deleting,
    number_of,
    write,
)
from lastcall.engine.errors import InvalidResourceGroupLocationError, QuotaExceededError
from lastcall.engine.limits import RESOURCE_GROUPS_MAX
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Transaction
from lastcall.wire.availability_sets import SET_TYPE as AVAILABILITY_SET_TYPE
from lastcall.wire.cloud_services import SERVICE_TYPE
from lastcall.wire.names import SET_TYPE
from lastcall.wire.paths import GROUP_TYPE, Path
from lastcall.wire.virtual_machines import VM_TYPE

GROUP_KIND: Final = GROUP_TYPE.lower()
SET_KIND: Final = SET_TYPE.lower()


class Delete(Protocol):
    """How a resource that has machines is deleted with its group.

    It begins exactly one operation, `part_of` the group's.
    """

    def __call__(
        self,
        tx: Transaction,
        resource: Resource,
        moment: Moment,
        /,
        *,
        force: bool,
        part_of: OperationId,
    ) -> object:
        """Begin the deletion."""
        ...


# By kind. Everything else goes with the group, when the last operation has ended.
DELETIONS: Final[dict[str, Delete]] = {
    VM_TYPE.lower(): virtual_machines.delete,
    AVAILABILITY_SET_TYPE.lower(): partial(availability_sets.delete, with_machines=True),
    SERVICE_TYPE.lower(): cloud_services.delete,
}


def put(
    tx: Transaction,
    path: Path,
    content: Mapping[str, Any],
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
) -> tuple[Resource, bool]:
    """Create a group or replace its tags, and say whether it is new."""
    before = find(tx, path)
    refuse_stale(number_of(before), conditions)
    if before is None:
        if len(tx.resources(kind=GROUP_KIND)) >= RESOURCE_GROUPS_MAX:
            raise QuotaExceededError(
                f"The subscription has {RESOURCE_GROUPS_MAX} resource groups already, which is as"
                " many as there can be."
            )
        return write(tx, path, content, moment), True
    demand_open_group(tx, path)
    if content["location"] != before.content["location"]:
        raise InvalidResourceGroupLocationError(
            f"Invalid resource group location '{content['location']}'. The Resource group already"
            f" exists in location '{before.content['location']}'."
        )
    return write(tx, path, content, moment), False


def patch(
    tx: Transaction,
    path: Path,
    changes: Mapping[str, Any],
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
) -> Resource:
    """Change the tags of a group."""
    before = known(tx, path)
    demand_open_group(tx, path)
    refuse_stale(before.number, conditions)
    return write(tx, path, {**before.content, **changes}, moment)


def delete(tx: Transaction, path: Path, forced: frozenset[str], moment: Moment) -> Operation:
    """Delete a group: sets and machines get their notices, the rest goes with the last of them.

    `forced` are the kinds that are to go without notice. A group that is being deleted already
    goes on being deleted by the same operation.
    """
    group = known(tx, path)
    sets, others = tx.scale_sets(path.group), _with_machines(tx, group.group)
    if is_deleting(group):
        # All that is left has its notice; only what is to go without it is asked once more.
        sets = sets if SET_KIND in forced else []
        others = [found for found in others if found.kind in forced]
        operation = _await_more(tx, group, len(sets) + len(others))
    else:
        operation = _begin_deletion(tx, group, len(sets) + len(others), moment)
    for scale_set in sets:
        is_forced = SET_KIND in forced
        scale_sets.delete(tx, scale_set.id, moment, force=is_forced, part_of=operation.id)
    for resource in others:
        is_forced = resource.kind in forced
        DELETIONS[resource.kind](tx, resource, moment, force=is_forced, part_of=operation.id)
    return tx.operation(operation.id)


def _begin_deletion(tx: Transaction, group: Resource, parts: int, moment: Moment) -> Operation:
    operation = begin(tx, group, "delete group", moment, removes=True)
    leaving = mark_deleting(tx, group)
    tx.put_resource(replace(leaving, operation=operation.id, number=group.number + 1))
    # All parts are counted before the first begins: one without machines ends at once.
    return expect(tx, operation, parts, moment)


def _await_more(tx: Transaction, group: Resource, parts: int) -> Operation:
    assert group.operation is not None, "a group on its way out has the operation that deletes it"
    running = tx.operation(group.operation)
    awaiting = replace(running, remaining=running.remaining + parts)
    tx.put_operation(awaiting)
    return awaiting


def _with_machines(tx: Transaction, group: str) -> list[Resource]:
    return [found for found in tx.resources(group=group) if found.kind in DELETIONS]
