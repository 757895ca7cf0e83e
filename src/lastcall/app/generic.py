"""Resources of any type that nobody else looks after: written, found, listed, deleted.

Deployments and requests write them through the same `put`. Those that live inside another one's
document (subnets, rules, pools) are read from it and written into it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lastcall.app import resources, set_keys
from lastcall.app.addresses import with_addresses
from lastcall.app.conditions import UNCONDITIONAL, Conditions, refuse_stale
from lastcall.app.learning import Moment
from lastcall.app.resources import (
    begin,
    demand_group,
    demand_open_group,
    expect,
    number_of,
    refuse_move,
    write,
)
from lastcall.engine.errors import (
    InvalidResourceNamespaceError,
    InvalidResourceTypeError,
    LocationRequiredError,
    ParentResourceNotFoundError,
    QuotaExceededError,
)
from lastcall.engine.limits import RESOURCES_PER_GROUP_MAX
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.wire.catalogue import provider
from lastcall.wire.children import (
    child,
    child_resources,
    collection_of,
    parent_of,
    show,
    with_child,
    with_children,
)
from lastcall.wire.documents import Document, accepted_document, patched_document, refuse_size
from lastcall.wire.names import SET_TYPE, refuse_resource_name
from lastcall.wire.paths import Path, parse_path
from lastcall.wire.quoting import shown

__all__ = [
    "delete",
    "demand_namespace",
    "exists",
    "find",
    "is_generic",
    "known",
    "listed",
    "patch",
    "put",
    "show",
]

# Types, and whole namespaces, that have routes and rules of their own: never kept generically, nor
# what is below them. Whoever builds another one adds it here.
OWNED: Final = (
    "lastcall",
    "microsoft.compute/availabilitysets",
    "microsoft.compute/cloudservices",
    "microsoft.compute/locations",
    "microsoft.compute/skus",
    "microsoft.compute/virtualmachines",
    "microsoft.compute/virtualmachinescalesets",
    "microsoft.features",
    "microsoft.insights/autoscalesettings",
    "microsoft.insights/eventtypes",
    "microsoft.insights/metrics",
    "microsoft.maintenance/scheduledevents",
    "microsoft.resources",
)
# Whose resources are somewhere: they cannot be made without a location.
PLACED: Final = frozenset(
    {
        "microsoft.compute",
        "microsoft.managedidentity",
        "microsoft.network",
        "microsoft.storage",
    }
)
# Whose types are all listed: another one is a slip of the pen.
LISTED: Final = "microsoft.compute"
# What the service makes with its parent: storageAccounts/x/blobServices/default.
IMPLICIT: Final = "default"


def is_generic(path: Path) -> bool:
    """Whether nobody else looks after the resources of this type."""
    return not any(path.kind == owned or path.kind.startswith(f"{owned}/") for owned in OWNED)


def put(
    tx: Transaction,
    path: Path,
    body: Mapping[str, Any],
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
) -> Resource:
    """Create a resource or replace it, with everything that it holds."""
    _refuse_path(tx, path)
    before = find(tx, path)
    refuse_stale(number_of(before), conditions)
    document = with_children(accepted_document(body), path.kind)
    return _written(tx, path, document, before, moment)


def patch(
    tx: Transaction,
    path: Path,
    changes: Mapping[str, Any],
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
) -> Resource:
    """Change some of a resource."""
    before = known(tx, path)
    demand_open_group(tx, path)
    refuse_stale(number_of(before), conditions)
    document = with_children(patched_document(before.content, changes), path.kind)
    return _written(tx, path, document, before, moment)


def find(reader: Reader, path: Path) -> Resource | None:
    """Return a resource, or None where there is none; also one that lives inside another."""
    collection = collection_of(path)
    if collection is None:
        return resources.find(reader, path)
    parent = resources.find(reader, parent_of(path))
    return None if parent is None else child(parent, path, collection)


def known(reader: Reader, path: Path) -> Resource:
    """Return a resource, or refuse in ARM's words (R109)."""
    return find(reader, path) or resources.known(reader, path)


def listed(reader: Reader, path: Path) -> Sequence[Resource]:
    """Return the resources of a type: of the subscription, a group or a parent.

    `path` is that of any one of them, its last name does not count.
    """
    demand_group(reader, path)
    collection = collection_of(path)
    if collection is not None:
        return child_resources(resources.known(reader, parent_of(path)), collection)
    if len(path.names) > 1 or path.base:
        _demand_parent(reader, path)
        place = f"{path.id.rpartition('/')[0]}/"
        return [found for found in reader.resources(kind=path.kind) if found.id.startswith(place)]
    return reader.resources(kind=path.kind, group=path.group.lower() or None)


def delete(tx: Transaction, path: Path, moment: Moment) -> Operation | None:
    """Delete a resource and everything below it; None where there is none."""
    demand_group(tx, path)
    found = find(tx, path)
    if found is None:
        return None
    collection = collection_of(path)
    if collection is None:
        return expect(tx, begin(tx, found, "delete", moment, removes=True), 0, moment)
    parent = resources.known(tx, parent_of(path))
    write(tx, parent_of(path), with_child(parent, collection, path.name, None), moment)
    return expect(tx, begin(tx, parent, "delete", moment), 0, moment)


def exists(reader: Reader, path: Path) -> bool:
    """Whether there is something at a path, a scale set or an instance of one included."""
    if path.kind.split("/")[:2] != SET_TYPE.lower().split("/"):
        return find(reader, path) is not None
    return set_keys.find(reader, set_keys.key_at(path).id) is not None


def demand_namespace(path: Path) -> None:
    """Refuse a resource of a provider that nobody knows, or of a type that compute has not."""
    namespace, _, kind = path.type.partition("/")
    found = provider(namespace)
    if found is None:
        raise InvalidResourceNamespaceError(
            f"The resource namespace '{shown(namespace)}' is invalid."
        )
    known = {each.partition("/")[0].lower() for each in found.types}
    if namespace.lower() == LISTED and kind.partition("/")[0].lower() not in known:
        raise _unknown_type(path)


def _refuse_path(tx: Transaction, path: Path) -> None:
    demand_namespace(path)
    if not is_generic(path):
        raise _unknown_type(path)
    demand_open_group(tx, path)
    refuse_resource_name(path)
    _demand_parent(tx, path)


def _unknown_type(path: Path) -> InvalidResourceTypeError:
    namespace, _, kind = path.type.partition("/")
    return InvalidResourceTypeError(
        f"The resource type '{shown(kind)}' could not be found in the namespace"
        f" '{shown(namespace)}'."
    )


def _demand_parent(reader: Reader, path: Path) -> None:
    above = path
    while len(above.names) > 1:
        above = parent_of(above)
        if above.name.lower() != IMPLICIT:
            _demand(reader, above)
            return
    base = parse_path(path.base)
    if base is not None:
        _demand(reader, base)


def _demand(reader: Reader, path: Path) -> None:
    if not exists(reader, path):
        raise ParentResourceNotFoundError(
            "Can not perform requested operation on nested resource."
            f" Parent resource '{shown(path.name)}' not found."
        )


def _written(
    tx: Transaction, path: Path, document: Document, before: Resource | None, moment: Moment
) -> Resource:
    collection = collection_of(path)
    if collection is not None:
        return _written_inside(tx, path, collection, document, moment)
    _refuse_place(path, document, before)
    if before is None:
        _refuse_more(tx, path.group)
    return write(tx, path, with_addresses(tx, path, document, before), moment)


def _refuse_more(tx: Transaction, group: str) -> None:
    """Refuse one resource more than a group can have; what tells of resources is none of them."""
    if len(resources.present_in(tx, group)) >= RESOURCES_PER_GROUP_MAX:
        raise QuotaExceededError(
            f"There are {RESOURCES_PER_GROUP_MAX} resources in the resource group already, which"
            " is as many as there can be."
        )


def _written_inside(
    tx: Transaction, path: Path, collection: str, document: Document, moment: Moment
) -> Resource:
    parent = resources.known(tx, parent_of(path))
    # A child is where its parent is, and has no tags of its own.
    item = {key: each for key, each in document.items() if key not in ("location", "tags")}
    after = with_child(parent, collection, path.name, item)
    refuse_size(after)
    place = parent_of(path)
    written = write(tx, place, with_addresses(tx, place, after, parent), moment)
    found = child(written, path, collection)
    assert found is not None, "it has just been written"
    return found


def _refuse_place(path: Path, document: Document, before: Resource | None) -> None:
    """Refuse a resource that is nowhere, or one that would move."""
    location = document.get("location")
    is_tracked = len(path.names) == 1 and path.kind.partition("/")[0] in PLACED
    if location is None:
        if is_tracked and path.group and not path.base:
            raise LocationRequiredError
        return
    refuse_move(path, before, location)
