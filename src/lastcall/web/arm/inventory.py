"""All resources of a group or of the subscription, of whatever type, in one list."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.app.resources import demand_group
from lastcall.engine.resources import Resource
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import GROUP, SUBSCRIPTION, arm_route
from lastcall.web.arm.paging import paged
from lastcall.web.routing import Call, Route, json
from lastcall.wire.bodies import parse_body
from lastcall.wire.filters import Clause, matches, parse_filter
from lastcall.wire.names import SET_TYPE, scale_set_path
from lastcall.wire.paths import group_path, parse_path
from lastcall.wire.versions import RESOURCES

Json = dict[str, Any]
FIELDS: Final = frozenset(
    {"location", "name", "resourcegroup", "resourcetype", "tagname", "tagvalue"}
)
SHOWN: Final = ("location", "tags", "sku", "kind", "plan", "identity", "managedBy", "zones")
# Groups and deployments are not what is meant by resources.
NOT_LISTED: Final = "microsoft.resources/"


class Inventory:
    """Handlers for `resources`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List resources, those that a filter lets pass."""
        wanted = parse_filter(call.query("$filter"), FIELDS)
        found = await self._platform.read(lambda r: _found(r, call))
        chosen = [item for item in found if _is_wanted(item, wanted)]
        return json(paged(call, sorted(chosen, key=lambda item: str(item["id"]).lower())))


def _found(reader: Reader, call: Call) -> list[Json]:
    group = call.names.get("group")
    if group is not None:
        demand_group(reader, group_path(call.names["subscription"], group))
    resources = reader.resources(group=None if group is None else group.lower())
    tracked = [item for item in map(_resource, resources) if item is not None]
    return tracked + [_scale_set(reader, each) for each in reader.scale_sets(group)]


def _resource(resource: Resource) -> Json | None:
    """Return a resource, None for what has no place of its own: rules, locks, deployments."""
    path = parse_path(resource.path)
    is_tracked = "location" in resource.content and not resource.kind.startswith(NOT_LISTED)
    if path is None or not is_tracked:
        return None
    item = {"id": resource.path, "name": "/".join(path.names), "type": path.type}
    return item | {key: resource.content[key] for key in SHOWN if key in resource.content}


def _scale_set(reader: Reader, scale_set: ScaleSet) -> Json:
    model = parse_body(reader.document(scale_set.id, scale_set.number))
    item = {"id": scale_set_path(scale_set), "name": scale_set.name, "type": SET_TYPE}
    item |= {key: model[key] for key in SHOWN if key in model}
    return item | {"location": scale_set.location}


def _is_wanted(item: Json, wanted: Sequence[Clause]) -> bool:
    def value_of(field: str) -> str:
        if field == "resourcegroup":
            return str(item["id"]).split("/")[4]
        return str(item["type" if field == "resourcetype" else field])

    return matches(item, wanted, value_of)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every list of resources."""
    handlers = Inventory(platform)
    route = partial(arm_route, account, versions=RESOURCES)
    everywhere, in_group = f"{SUBSCRIPTION}/resources", f"{GROUP}/resources"
    yield route("GET", everywhere, handlers.list_all, "List all resources")
    yield route("GET", in_group, handlers.list_all, "List the resources of a group")
