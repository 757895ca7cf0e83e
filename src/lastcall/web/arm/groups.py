"""Resource groups: written, shown, listed, deleted with everything in them."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from lastcall.app import groups
from lastcall.app.platform import Platform
from lastcall.app.resources import known
from lastcall.engine.errors import (
    LocationNotAvailableForResourceGroupError,
    LocationRequiredError,
)
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.web.account import Account
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import GROUP, SUBSCRIPTION, api_version, arm_route
from lastcall.web.arm.operations import known_operation
from lastcall.web.arm.paging import paged
from lastcall.web.errors import JSON, RETRY_AFTER
from lastcall.web.routing import Call, Route, json
from lastcall.wire.bodies import encode_json, parse_object
from lastcall.wire.catalogue import region_names
from lastcall.wire.documents import accepted_document
from lastcall.wire.envelope import encode_error
from lastcall.wire.filters import matches, parse_filter
from lastcall.wire.names import refuse_resource_group_name
from lastcall.wire.paths import GROUP_TYPE, Path, group_path
from lastcall.wire.quoting import shown
from lastcall.wire.versions import RESOURCES

Json = dict[str, Any]
FIELDS = frozenset({"tagname", "tagvalue"})


class Groups:
    """Handlers for `resourceGroups`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def put(self, call: Call) -> Response:
        """Create a group or replace its tags."""
        path, content, wanted = _path(call), _content(await call.body()), conditions(call)
        refuse_resource_group_name(path.group)
        if "location" not in content:
            raise LocationRequiredError
        _refuse_location(content["location"])
        group, is_new = await self._platform.transact(
            lambda tx, moment: groups.put(tx, path, content, moment, wanted)
        )
        return json(encode_group(group), 201 if is_new else 200)

    async def patch(self, call: Call) -> Response:
        """Change a group's tags."""
        path, content, wanted = _path(call), _content(await call.body()), conditions(call)
        changes: Json = {key: content[key] for key in ("tags", "managedBy") if key in content}
        group = await self._platform.transact(
            lambda tx, moment: groups.patch(tx, path, changes, moment, wanted)
        )
        return json(encode_group(group))

    async def show(self, call: Call) -> Response:
        """Show a group; a HEAD asks only whether it exists."""
        path = _path(call)
        group = await self._platform.read(lambda r: known(r, path))
        return Response(status_code=204) if call.method == "HEAD" else json(encode_group(group))

    async def list_all(self, call: Call) -> Response:
        """List the groups of the subscription, some at a time if wanted."""
        wanted = parse_filter(call.query("$filter"), FIELDS)
        found = await self._platform.read(lambda r: r.resources(kind=groups.GROUP_KIND))
        chosen = [encode_group(group) for group in found if matches(group.content, wanted)]
        return json(paged(call, chosen))

    async def delete(self, call: Call) -> Response:
        """Delete a group with everything in it, each machine with its notice (D4)."""
        path, forced = _path(call), _kinds(call.query("forceDeletionTypes") or "")
        operation = await self._platform.transact(
            lambda tx, moment: groups.delete(tx, path, forced, moment)
        )
        return _under_way(call, operation)

    async def follow(self, call: Call) -> Response:
        """Say whether an operation is over: 202 while it is not."""
        operation = await self._platform.read(lambda r: known_operation(r, call.names["operation"]))
        if not operation.is_over:
            return _under_way(call, operation)
        failure = operation.failure
        if failure is None:
            return Response(status_code=200)
        return Response(encode_json(encode_error(failure.code, failure.message)), 409, None, JSON)


def encode_group(group: Resource) -> Json:
    """Return a group as GET shows it."""
    content = group.content
    encoded: Json = {"id": group.path, "name": group.name, "type": GROUP_TYPE}
    encoded |= {key: content[key] for key in ("location", "tags", "managedBy") if key in content}
    state = content.get("properties", {}).get("provisioningState", "Succeeded")
    return encoded | {"properties": {"provisioningState": state}}


def _path(call: Call) -> Path:
    return group_path(call.names["subscription"], call.names["group"])


def _content(body: bytes) -> Json:
    document = accepted_document(parse_object(body))
    return {key: document[key] for key in ("location", "tags", "managedBy") if key in document}


def _refuse_location(location: str) -> None:
    if location not in region_names():
        raise LocationNotAvailableForResourceGroupError(
            f"The provided location '{shown(location)}' is not available for resource group."
            f" List of available regions is '{','.join(region_names())}'."
        )


def _kinds(text: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in text.split(",") if part.strip())


def _under_way(call: Call, operation: Operation) -> Response:
    """Answer without Azure-AsyncOperation: clients of groups follow the Location alone."""
    url = (
        f"{call.base}/subscriptions/{quote(call.names['subscription'], safe='')}/operationresults"
        f"/{operation.id}?api-version={quote(api_version(call), safe='')}"
    )
    return Response(None, 202, {"Location": url, **RETRY_AFTER})


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on resource groups."""
    handlers = Groups(platform)
    route = partial(arm_route, account, versions=RESOURCES)
    everywhere = f"{SUBSCRIPTION}/resourceGroups"
    yield route("GET", everywhere, handlers.list_all, "List the resource groups")
    yield route("PUT", GROUP, handlers.put, "Create or update a resource group", (200, 201))
    yield route("PATCH", GROUP, handlers.patch, "Update a resource group")
    yield route("GET", GROUP, handlers.show, "Show a resource group; HEAD: 204", (200, 204))
    yield route("DELETE", GROUP, handlers.delete, "Delete a group and all in it", (202,))
    results = f"{SUBSCRIPTION}/operationresults/{{operation}}"
    yield route("GET", results, handlers.follow, "Follow the deletion of a group", (200, 202))
