"""Resources of any type that has no routes of its own: written, shown, listed, deleted."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace
from starlette.responses import Response

from lastcall.app import generic
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.engine.resources import Resource
from lastcall.ports import Transaction
from lastcall.web.account import Account
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import GROUP, SUBSCRIPTION, accepted, arm_route
from lastcall.web.arm.paging import paged
from lastcall.web.routing import Call, Handler, Route, json
from lastcall.wire.bodies import parse_object
from lastcall.wire.children import show
from lastcall.wire.paths import Path, parse_path, resource_scope
from lastcall.wire.versions import RESOURCES

ONE: Final = "resource"
SEVERAL: Final = "types"
# Whose clients expect a deletion to take a while; those of others would not understand a 202.
SLOW: Final = frozenset({"microsoft.compute", "microsoft.network"})
# Whose clients know no 201.
NEVER_CREATED: Final = frozenset({"microsoft.storage/storageaccounts"})


class Generic:
    """Handlers for all types that nobody else looks after."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def put(self, call: Call) -> Response:
        """Create a resource or replace it."""
        path, body, wanted = _path(call), parse_object(await call.body()), conditions(call)

        def work(tx: Transaction, moment: Moment) -> tuple[Resource, bool]:
            is_new = generic.find(tx, path) is None
            return generic.put(tx, path, body, moment, wanted), is_new

        resource, is_new = await self._platform.transact(work)
        created = is_new and path.kind not in NEVER_CREATED
        return json(show(resource), 201 if created else 200)

    async def patch(self, call: Call) -> Response:
        """Change some of a resource."""
        path, body, wanted = _path(call), parse_object(await call.body()), conditions(call)
        generic.demand_namespace(path)
        resource = await self._platform.transact(
            lambda tx, moment: generic.patch(tx, path, body, moment, wanted)
        )
        return json(show(resource))

    async def show(self, call: Call) -> Response:
        """Show a resource; a HEAD asks only whether it exists."""
        path = _path(call)
        generic.demand_namespace(path)
        resource = await self._platform.read(lambda r: generic.known(r, path))
        return Response(status_code=204) if call.method == "HEAD" else json(show(resource))

    async def list_all(self, call: Call) -> Response:
        """List the resources of a type: of the subscription, of a group or of a parent."""
        path = _parsed(call.names, f"{call.names[SEVERAL]}/-")
        assert path is not None, "the route takes no others"
        generic.demand_namespace(path)
        found = await self._platform.read(lambda r: generic.listed(r, path))
        return json(paged(call, [show(resource) for resource in found]))

    async def delete(self, call: Call) -> Response:
        """Delete a resource and everything below it."""
        path = _path(call)
        generic.demand_namespace(path)
        operation = await self._platform.transact(
            lambda tx, moment: generic.delete(tx, path, moment)
        )
        if operation is None:
            return Response(status_code=204)
        namespace = path.type.partition("/")[0]
        if namespace.lower() in SLOW:
            return accepted(call, operation, namespace)
        return Response(status_code=200)


def _path(call: Call) -> Path:
    path = _parsed(call.names, call.names[ONE])
    assert path is not None, "the route takes no others"
    return path


def _parsed(names: Mapping[str, str], rest: str) -> Path | None:
    scope = resource_scope(names["subscription"], names.get("group", "").replace("/", "%2F"))
    return parse_path(f"{scope}/providers/{rest}")


def _is_one(names: Mapping[str, str]) -> bool:
    path = _parsed(names, names[ONE])
    return path is not None and generic.is_generic(path)


def _are_several(names: Mapping[str, str]) -> bool:
    path = _parsed(names, f"{names[SEVERAL]}/-")
    return path is not None and generic.is_generic(path)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on resources of other types; they are tried after all others."""
    handlers = Generic(platform)

    def route(method: str, path: str, handler: Handler, text: str, *answers: int) -> Route:
        answers = answers or (200,)
        made = arm_route(account, method, path, handler, text, answers, versions=RESOURCES)
        return replace(made, own=_is_one if path.endswith(f"{{{ONE}*}}") else _are_several)

    for place in (GROUP, SUBSCRIPTION):
        several, one = f"{place}/providers/{{{SEVERAL}*}}", f"{place}/providers/{{{ONE}*}}"
        yield route("GET", several, handlers.list_all, "List the resources of any other type")
        yield route("PUT", one, handlers.put, "Create or replace any other resource", 200, 201)
        yield route("PATCH", one, handlers.patch, "Change any other resource")
        yield route("GET", one, handlers.show, "Show any other resource; HEAD: 204", 200, 204)
        yield route("DELETE", one, handlers.delete, "Delete any other resource", 200, 202, 204)
