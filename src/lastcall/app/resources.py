"""What users do to resources that are kept as given: write, find, delete."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import activities
from lastcall.app.learning import Moment, settle
from lastcall.engine.errors import (
    ConflictError,
    InvalidResourceLocationError,
    ResourceGroupBeingDeletedError,
    ResourceGroupNotFoundError,
    ResourceNotFoundError,
)
from lastcall.engine.model import OperationId, Provisioning, ScopeId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource, ResourceId
from lastcall.ports import Reader, Transaction
from lastcall.wire.paths import BOOKKEEPING, Path, group_path
from lastcall.wire.quoting import shown


class Written(Struct, frozen=True, kw_only=True):
    """The outcome of a write to a resource that has machines."""

    resource: Resource
    operation: Operation
    is_new: bool


def find(reader: Reader, path: Path) -> Resource | None:
    """Return a resource, or None where there is none."""
    found = find_by_id(reader, path.id)
    # A name with a slash in it must not pass for the path of something else.
    return None if found is None or found.kind != path.kind else found


def find_by_id(reader: Reader, resource_id: ResourceId) -> Resource | None:
    """Return a resource that we ourselves have named, or None where it is gone."""
    try:
        return reader.resource(resource_id)
    except ResourceNotFoundError:
        return None


def known(reader: Reader, path: Path) -> Resource:
    """Return a resource, or refuse in ARM's words (R109)."""
    found = find(reader, path)
    if found is None:
        demand_group(reader, path)
        raise ResourceNotFoundError(
            f"The Resource '{path.type}/{'/'.join(path.names)}' under resource group"
            f" '{path.group or '<null>'}' was not found. For more details please go to"
            " https://aka.ms/ARMResourceNotFoundFix"
        )
    return found


def number_of(found: Resource | None) -> int | None:
    """Return how often a resource was written, None where there is none."""
    return None if found is None else found.number


def demand_group(reader: Reader, path: Path) -> Resource | None:
    """Return the group of what is addressed, None outside of any; refuse one that is missing."""
    if not path.group:
        return None
    group = find(reader, group_path(path.subscription, path.group))
    if group is None:
        raise ResourceGroupNotFoundError(
            f"Resource group '{shown(path.group)}' could not be found."
        )
    return group


def demand_open_group(reader: Reader, path: Path) -> Resource | None:
    """Return the group into which something is written; refuse one that is being deleted too."""
    group = demand_group(reader, path)
    if group is not None and is_deleting(group):
        raise ResourceGroupBeingDeletedError(
            f"The resource group '{group.name}' is in deprovisioning state and cannot perform this"
            " operation."
        )
    return group


def present_in(reader: Reader, group: str) -> list[Resource]:
    """Return what somebody has made in a group; what only tells of that is left out."""
    found = reader.resources(group=group.lower())
    return [one for one in found if one.kind not in BOOKKEEPING]


def mark_deleting(tx: Transaction, resource: Resource) -> Resource:
    """Let everybody see that a resource is on its way out: it takes nothing in any more."""
    properties = resource.content.get("properties", {})
    state = {"properties": {**properties, "provisioningState": Provisioning.DELETING}}
    leaving = replace(resource, content={**resource.content, **state})
    tx.put_resource(leaving)
    return leaving


def refuse_deleting(resource: Resource) -> None:
    """Refuse to change what is on its way out."""
    if is_deleting(resource):
        raise ConflictError(f"The resource '{resource.name}' is being deleted.")


def is_deleting(resource: Resource) -> bool:
    """Whether a resource is on its way out."""
    properties = resource.content.get("properties", {})
    return bool(properties.get("provisioningState") == Provisioning.DELETING)


def refuse_move(path: Path, before: Resource | None, location: str) -> None:
    """Refuse to write a resource to another location than the one where it is."""
    old = None if before is None else before.content.get("location")
    if old is not None and old != location:
        raise InvalidResourceLocationError(
            f"The resource '{shown(path.name)}' already exists in location '{old}' in resource"
            f" group '{path.group}'. A resource with the same name cannot be created in location"
            f" '{shown(location)}'. Please select a new resource name."
        )


def write(
    tx: Transaction,
    path: Path,
    content: Mapping[str, Any],
    moment: Moment,
    *,
    due_at: datetime | None = None,
    scope_id: ScopeId | None = None,
) -> Resource:
    """Create a resource or replace its document; its path keeps its first spelling."""
    before = find(tx, path)
    if before is not None:
        after = replace(
            before,
            content=content,
            number=before.number + 1,
            due_at=due_at,
            scope_id=scope_id or before.scope_id,
        )
    else:
        after = Resource(
            id=path.id,
            path=path.text,
            kind=path.kind,
            group=path.group.lower(),
            content=content,
            created_at=moment.now,
            due_at=due_at,
            scope_id=scope_id,
        )
    tx.put_resource(after)
    return after


def begin(
    tx: Transaction,
    resource: Resource,
    name: str,
    moment: Moment,
    *,
    removes: bool = False,
    part_of: OperationId | None = None,
) -> Operation:
    """Begin an operation on a resource. It does not end before `expect` has said what it awaits."""
    operation = Operation(
        id=moment.ids.operation_id(),
        name=name,
        location=str(resource.content.get("location", "global")),
        started_at=moment.now,
        remaining=1,
        resource_id=resource.id,
        removes_resource=removes,
        part_of=part_of,
    )
    return activities.begin(tx, operation, moment.asked)


def expect(tx: Transaction, operation: Operation, parts: int, moment: Moment) -> Operation:
    """Set how many parts an operation waits for, and give back its place-holder."""
    tx.put_operation(replace(tx.operation(operation.id), remaining=parts + 1))
    settle(tx, operation.id, 1, None, moment)
    return tx.operation(operation.id)
