"""Resources that live inside another one's document: subnets, rules, pools, configurations.

They are kept there and nowhere else. Each can be addressed by a path of its own as well.
"""

from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.limits import CHILDREN_MAX
from lastcall.engine.resources import Resource
from lastcall.wire.documents import READ_ONLY, STATE, Document
from lastcall.wire.fields import object_at, refuse
from lastcall.wire.names import is_resource_name
from lastcall.wire.paths import Path, parse_path

NETWORK: Final = "Microsoft.Network"
# By kind: the properties that hold them, as documented.
COLLECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "microsoft.network/virtualnetworks": ("subnets", "virtualNetworkPeerings"),
    "microsoft.network/loadbalancers": (
        "frontendIPConfigurations",
        "backendAddressPools",
        "loadBalancingRules",
        "probes",
        "inboundNatRules",
        "inboundNatPools",
        "outboundRules",
    ),
    "microsoft.network/networksecuritygroups": ("securityRules",),
    "microsoft.network/networkinterfaces": ("ipConfigurations",),
    "microsoft.network/routetables": ("routes",),
}


def collections_of(kind: str) -> tuple[str, ...]:
    """Return the properties of a kind that hold children."""
    return COLLECTIONS.get(kind, ())


def collection_of(path: Path) -> str | None:
    """Return in which property of its parent a resource is kept, None where in none."""
    parent, _, last = path.kind.rpartition("/")
    return next((name for name in collections_of(parent) if name.lower() == last), None)


def parent_of(path: Path) -> Path:
    """Return the path of what a nested resource is part of."""
    return Path(
        subscription=path.subscription,
        group=path.group,
        type=path.type.rpartition("/")[0],
        names=path.names[:-1],
        base=path.base,
    )


def with_children(document: Document, kind: str) -> Document:
    """Return a document in which children are checked and bare of what the service adds."""
    properties = dict(document["properties"])
    for wanted in collections_of(kind):
        given = [name for name in properties if name.lower() == wanted.lower()]
        if len(given) > 1:
            refuse(f"properties.{wanted}", given, "given once")
        for name in given:
            properties[wanted] = _checked(properties.pop(name), f"properties.{wanted}")
    return {**document, "properties": properties}


def children(parent: Resource, collection: str) -> list[Document]:
    """Return the children of one kind."""
    return list(parent.content["properties"].get(collection, []))


def child(parent: Resource, path: Path, collection: str) -> Resource | None:
    """Return one child as a resource, None where there is none."""
    wanted = path.name.lower()
    for item in children(parent, collection):
        if item["name"].lower() == wanted:
            return _resource(parent, collection, item)
    return None


def child_resources(parent: Resource, collection: str) -> list[Resource]:
    """Return all children of one kind as resources."""
    return [_resource(parent, collection, item) for item in children(parent, collection)]


def with_child(parent: Resource, collection: str, name: str, item: Document | None) -> Document:
    """Return a parent's document with a child put in its place, or taken out where it is None."""
    items = children(parent, collection)
    index = next(
        (i for i, each in enumerate(items) if each["name"].lower() == name.lower()), len(items)
    )
    spelled = items[index]["name"] if index < len(items) else name
    items[index : index + 1] = [] if item is None else [{**item, "name": spelled}]
    if len(items) > CHILDREN_MAX:
        refuse(f"properties.{collection}", len(items), f"at most {CHILDREN_MAX} resources")
    properties = {**parent.content["properties"], collection: items}
    return {**parent.content, "properties": properties}


def show(resource: Resource) -> Document:
    """Return a resource as GET shows it: as given, and what the service adds, children too."""
    path = parse_path(resource.path)
    assert path is not None, "it was stored under a path"
    etag = f'W/"{resource.number}"'
    properties = dict(resource.content["properties"])
    for collection in collections_of(resource.kind):
        properties[collection] = [show(found) for found in child_resources(resource, collection)]
    return {
        "name": path.name,
        "id": resource.path,
        "etag": etag,
        "type": path.type,
        **{key: item for key, item in resource.content.items() if key != "name"},
        "properties": {STATE: "Succeeded", **properties},
    }


def _resource(parent: Resource, collection: str, item: Mapping[str, Any]) -> Resource:
    path = f"{parent.path}/{collection}/{item['name']}"
    found = parse_path(path)
    assert found is not None, "a child's name is checked"
    return Resource(
        id=found.id,
        path=path,
        kind=found.kind,
        group=parent.group,
        content={"properties": {}, **item},
        created_at=parent.created_at,
        number=parent.number,
    )


def _checked(value: Any, where: str) -> list[Document]:
    if not isinstance(value, list) or len(value) > CHILDREN_MAX:
        refuse(where, value, f"an array of at most {CHILDREN_MAX} resources")
    items = [_bare(item, where) for item in value]
    names = [item["name"].lower() for item in items]
    if len(set(names)) < len(names):
        refuse(where, names, "an array in which every name stands once")
    return items


def _bare(item: Any, where: str) -> Document:
    name = item.get("name") if isinstance(item, Mapping) else None
    if not isinstance(name, str) or not is_resource_name(name):
        refuse(where, item, "an array of resources with a name each")
    properties = {key: each for key, each in object_at(item, "properties").items() if key != STATE}
    kept = {key: each for key, each in item.items() if key not in READ_ONLY}
    return {"name": name, **kept, "properties": properties}
