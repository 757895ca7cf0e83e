"""Scale sets: written, shown, acted on, deleted. Handlers parse, call once, encode."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import scale_sets, set_services
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.resources import demand_group
from lastcall.app.revisions import Change, apply
from lastcall.app.scale_sets import Order, Written, members
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.errors import OperationNotAllowedError, ResourceNotFoundError
from lastcall.engine.model import Action, Provisioning
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import Orchestration
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
    force,
    key_of,
    tracking,
    with_body,
)
from lastcall.web.arm.paging import page
from lastcall.web.arm.revisions import parse_change
from lastcall.web.arm.views import Json, Manner, etag_header, model_of, show_set, show_sets
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list, encode_set_view, encode_skus
from lastcall.wire.bodies import parse_body
from lastcall.wire.instance_filters import parse_expand
from lastcall.wire.members import OF_SET_VIEW, visible
from lastcall.wire.names import place
from lastcall.wire.paths import group_path
from lastcall.wire.requests import parse_instance_ids

ACTIONS: Final = {
    "deallocate": Action.DEALLOCATE,
    "delete": Action.DELETE,
    "manualupgrade": Action.UPDATE,
    # Maintenance that a user begins moves the instance to another host, as a redeploy does.
    "performMaintenance": Action.REDEPLOY,
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
        manner = self._manner(call)
        written, shown = await self._platform.transact(
            lambda tx, moment: _written(tx, change, manner, moment)
        )
        headers = tracking(call, written.operation) | etag_header(shown)
        return json(shown, 201 if written.is_new else 200, headers)

    async def show(self, call: Call) -> Response:
        """Show one set."""
        key, manner = key_of(call), self._manner(call)
        shown = await self._platform.read(lambda r: show_set(r, known(r, key), manner))
        return json(shown, headers=etag_header(shown))

    async def list_all(self, call: Call) -> Response:
        """List the sets of the subscription, of a resource group, or of a location."""
        shown, link = await self._platform.read(lambda r: self._listed(r, call))
        return json(encode_list(shown, link))

    async def show_view(self, call: Call) -> Response:
        """Show how a set and its instances are doing."""
        key = key_of(call)
        view = await self._platform.read(lambda r: self._view(r, key))
        return json(visible(view, api_version(call), OF_SET_VIEW))

    async def show_skus(self, call: Call) -> Response:
        """Show the sizes that a set can have: its own."""
        key, manner = key_of(call), self._manner(call)
        shown = await self._platform.read(lambda r: show_set(r, known(r, key), manner))
        return json(encode_skus(shown.get("sku", {})))

    async def delete(self, call: Call) -> Response:
        """Delete a set, each instance with its notice (D4)."""
        key, is_forced = key_of(call), force(call)
        operation = await self._platform.transact(
            lambda tx, moment: _deleted(tx, key, moment, force=is_forced)
        )
        return Response(status_code=204) if operation is None else accepted(call, operation)

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to some or all instances of a set (R94)."""
        key, order = key_of(call), await _order(call, action)
        hibernates = action is Action.DEALLOCATE and call.flag("hibernate")
        operation = await self._platform.transact(
            lambda tx, moment: _acted(tx, key, order, moment, hibernates=hibernates)
        )
        return accepted(call, operation)

    async def reapply(self, call: Call) -> Response:
        """Apply a set's own state again."""
        key = key_of(call)
        operation = await self._platform.transact(
            lambda tx, moment: set_services.reapply(tx, known(tx, key).id, moment)
        )
        return accepted(call, operation)

    def _manner(self, call: Call) -> Manner:
        return Manner(
            version=api_version(call),
            now=self._platform.clock.now(),
            expanded=parse_expand(call.query("$expand")),
        )

    def _listed(self, reader: Reader, call: Call) -> tuple[list[Json], str | None]:
        location = place(call.names.get("location", ""))
        group = call.names.get("group")
        if group is not None:
            demand_group(reader, group_path(call.names["subscription"], group))
        found = reader.scale_sets(group)
        here = [each for each in found if location in ("", each.location)]
        shown, link = page(call, here, lambda each: f"{each.name.lower()} {each.id}")
        return show_sets(reader, shown, self._manner(call)), link

    def _view(self, reader: Reader, key: SetKey) -> Json:
        scale_set = known(reader, key)
        machines = [machine for _, machine in members(reader, scale_set)]
        now = self._platform.clock.now()
        return encode_set_view(scale_set, machines, model_of(reader, scale_set), now)


def _written(
    tx: Transaction, change: Change, manner: Manner, moment: Moment
) -> tuple[Written, Json]:
    written = apply(tx, change, moment)
    state = Provisioning.CREATING if written.is_new else Provisioning.UPDATING
    return written, show_set(tx, written.scale_set, manner, state)


def _acted(
    tx: Transaction, key: SetKey, order: Order, moment: Moment, *, hibernates: bool
) -> Operation:
    scale_set = known(tx, key)
    if hibernates and scale_set.traits.orchestration is not Orchestration.FLEXIBLE:
        raise OperationNotAllowedError(
            "Only instances of a set with orchestrationMode Flexible can hibernate."
        )
    return scale_sets.act(tx, scale_set.id, order, moment)


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
        force=force(call),
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
    yield with_body(route("PUT", SET, put, "Create or update a set", (200, 201)))
    yield with_body(route("PATCH", SET, patch, "Update a set"))
    yield route("GET", SET, sets.show, "Show a set")
    yield route("DELETE", SET, sets.delete, "Delete a set", (202, 204))
    yield route("GET", f"{SET}/instanceView", sets.show_view, "Show how a set is doing")
    yield route("GET", f"{SET}/skus", sets.show_skus, "Show the sizes of a set")
    for name, action in ACTIONS.items():
        handler = partial(sets.act, action=action)
        summary = f"{name} instances of a set"
        yield with_body(route("POST", f"{SET}/{name}", handler, summary, (202,)))
    yield route("POST", f"{SET}/reapply", sets.reapply, "Apply a set's state again", (202,))
