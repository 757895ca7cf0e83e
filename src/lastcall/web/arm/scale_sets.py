"""Scale sets: written, shown, acted on, deleted. Handlers parse, call once, encode."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import scale_sets
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.resources import demand_group
from lastcall.app.scale_sets import Order, SetKey, Written, members
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.model import Action, Provisioning
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    COMPUTE,
    LOCATION,
    SET,
    SETS,
    SUBSCRIPTION,
    accepted,
    api_version,
    arm_route,
    key_of,
    known,
    tracking,
)
from lastcall.web.arm.revisions import Change, apply, parse_change
from lastcall.web.arm.views import Json, show_set, show_sets
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list, encode_set_view, encode_skus
from lastcall.wire.bodies import parse_body
from lastcall.wire.names import place
from lastcall.wire.paths import group_path
from lastcall.wire.requests import parse_instance_ids

ACTIONS: Final = {
    "deallocate": Action.DEALLOCATE,
    "delete": Action.DELETE,
    "manualupgrade": Action.UPDATE,
    "poweroff": Action.POWER_OFF,
    "redeploy": Action.REDEPLOY,
    "reimage": Action.REIMAGE,
    "reimageall": Action.REIMAGE,
    "restart": Action.RESTART,
    "start": Action.START,
}
# R93: these must say which instances they mean.
NEEDS_IDS: Final = frozenset({Action.DELETE, Action.UPDATE})


class ScaleSets:
    """Handlers for `virtualMachineScaleSets`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def write(self, call: Call, *, may_create: bool) -> Response:
        """Create a set or change it (R95)."""
        change = await parse_change(call, may_create=may_create)
        written, shown = await self._platform.transact(
            lambda tx, moment: _written(tx, change, api_version(call), moment)
        )
        headers = tracking(call, written.operation) | _etag(shown)
        return json(shown, 201 if written.is_new else 200, headers)

    async def show(self, call: Call) -> Response:
        """Show one set."""
        key = key_of(call)
        shown = await self._platform.read(lambda r: show_set(r, known(r, key), api_version(call)))
        return json(shown, headers=_etag(shown))

    async def list_all(self, call: Call) -> Response:
        """List the sets of the subscription, of a resource group, or of a location."""
        location = place(call.names.get("location", ""))
        shown = await self._platform.read(
            lambda r: show_sets(
                r,
                [s for s in _listed(r, call) if location in ("", s.location)],
                api_version(call),
            )
        )
        return json(encode_list(shown))

    async def show_view(self, call: Call) -> Response:
        """Show how a set and its instances are doing."""
        key = key_of(call)
        return json(await self._platform.read(lambda r: self._view(r, key)))

    async def show_skus(self, call: Call) -> Response:
        """Show the sizes that a set can have: its own."""
        key = key_of(call)
        shown = await self._platform.read(lambda r: show_set(r, known(r, key), api_version(call)))
        return json(encode_skus(shown["sku"]))

    async def delete(self, call: Call) -> Response:
        """Delete a set, each instance with its notice (D4)."""
        key, force = key_of(call), call.flag("forceDeletion")
        operation = await self._platform.transact(
            lambda tx, moment: _deleted(tx, key, moment, force=force)
        )
        return Response(status_code=204) if operation is None else accepted(call, operation)

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to some or all instances of a set (R94)."""
        key, order = key_of(call), await _order(call, action)
        operation = await self._platform.transact(
            lambda tx, moment: scale_sets.act(tx, known(tx, key).id, order, moment)
        )
        return accepted(call, operation)

    def _view(self, reader: Reader, key: SetKey) -> Json:
        scale_set = known(reader, key)
        machines = [machine for _, machine in members(reader, scale_set)]
        return encode_set_view(scale_set, machines, self._platform.clock.now())


def _listed(reader: Reader, call: Call) -> Sequence[ScaleSet]:
    group = call.names.get("group")
    if group is not None:
        demand_group(reader, group_path(call.names["subscription"], group))
    return reader.scale_sets(group)


def _etag(shown: Json) -> dict[str, str]:
    """Return the header with a set's etag, for the api-versions that know it (R100)."""
    return {"ETag": shown["etag"]} if "etag" in shown else {}


def _written(tx: Transaction, change: Change, version: str, moment: Moment) -> tuple[Written, Json]:
    written = apply(tx, change, moment)
    state = Provisioning.CREATING if written.is_new else Provisioning.UPDATING
    return written, show_set(tx, written.scale_set, version, state)


def _deleted(tx: Transaction, key: SetKey, moment: Moment, *, force: bool) -> Operation | None:
    try:
        return scale_sets.delete(tx, key.id, moment, force=force)
    except ResourceNotFoundError:
        demand_group(tx, group_path(key.subscription, key.resource_group))
        return None


async def _order(call: Call, action: Action) -> Order:
    body = await call.body()
    document = parse_body(body) if body.strip() else None
    return Order(
        action=action,
        instance_ids=parse_instance_ids(document, required=action in NEEDS_IDS),
        force=call.flag("forceDeletion"),
    )


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on scale sets."""
    sets = ScaleSets(platform)
    route = partial(arm_route, account)
    everywhere = f"{SUBSCRIPTION}{COMPUTE}/virtualMachineScaleSets"
    yield route("GET", everywhere, sets.list_all, "List all sets")
    yield route("GET", f"{LOCATION}/virtualMachineScaleSets", sets.list_all, "List a location")
    yield route("GET", SETS, sets.list_all, "List the sets of a resource group")
    put, patch = partial(sets.write, may_create=True), partial(sets.write, may_create=False)
    yield route("PUT", SET, put, "Create or update a set", (200, 201))
    yield route("PATCH", SET, patch, "Update a set")
    yield route("GET", SET, sets.show, "Show a set")
    yield route("DELETE", SET, sets.delete, "Delete a set", (202, 204))
    yield route("GET", f"{SET}/instanceView", sets.show_view, "Show how a set is doing")
    yield route("GET", f"{SET}/skus", sets.show_skus, "Show the sizes of a set")
    for name, action in ACTIONS.items():
        handler = partial(sets.act, action=action)
        yield route("POST", f"{SET}/{name}", handler, f"{name} instances of a set", (202,))
