"""The instances of a set: shown, protected, acted on, evicted, deleted."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import scale_sets
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.scale_sets import Order, SetKey, member, members
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import Action
from lastcall.engine.operations import Operation
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    INSTANCE,
    INSTANCES,
    accepted,
    api_version,
    arm_route,
    key_of,
    known,
    tracking,
)
from lastcall.web.arm.scale_sets import ACTIONS, NEEDS_IDS
from lastcall.web.arm.views import Json, show_instances
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_instance_view, encode_list
from lastcall.wire.bodies import parse_body
from lastcall.wire.requests import ALL, parse_protection
from lastcall.wire.versions import refuse_api_version

EVICTION_SINCE: Final = "2020-06-01"


class Instances:
    """Handlers for `virtualMachineScaleSets/virtualMachines`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List the instances of a set."""
        key = key_of(call)
        shown = await self._platform.read(lambda r: self._shown(r, key, call, None))
        return json(encode_list(shown))

    async def show(self, call: Call) -> Response:
        """Show one instance (R102)."""
        key, instance = key_of(call), call.names["instance"]
        shown = await self._platform.read(lambda r: self._shown(r, key, call, instance))
        return json(shown[0])

    async def show_view(self, call: Call) -> Response:
        """Show how an instance is doing (R103)."""
        key, instance = key_of(call), call.names["instance"]
        scope_id, machine = await self._platform.read(lambda r: member(r, known(r, key), instance))
        return json(encode_instance_view(machine, scope_id, self._platform.clock.now()))

    async def protect(self, call: Call) -> Response:
        """Change what the set may do to an instance (R107)."""
        key, document = key_of(call), parse_body(await call.body())
        operation, shown = await self._platform.transact(
            lambda tx, moment: self._protected(tx, key, call, document, moment)
        )
        return json(shown, headers=tracking(call, operation))

    async def delete(self, call: Call) -> Response:
        """Delete an instance, with its notice (D4)."""
        key, order = key_of(call), _order(call, Action.DELETE)
        try:
            operation = await self._platform.transact(
                lambda tx, moment: _acted(tx, key, order, moment)
            )
        except InstanceNotFoundError:
            return Response(status_code=204)
        return accepted(call, operation)

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to an instance."""
        key, order = key_of(call), _order(call, action)
        operation = await self._platform.transact(lambda tx, moment: _acted(tx, key, order, moment))
        return accepted(call, operation)

    async def evict(self, call: Call) -> Response:
        """Evict a Spot instance (R83)."""
        refuse_api_version(api_version(call), EVICTION_SINCE)
        key, instance = key_of(call), call.names["instance"]
        await self._platform.transact(
            lambda tx, moment: scale_sets.evict(tx, known(tx, key).id, instance, moment)
        )
        return Response(status_code=204)

    def _shown(self, reader: Reader, key: SetKey, call: Call, instance: str | None) -> list[Json]:
        scale_set = known(reader, key)
        if instance is None:
            chosen = members(reader, scale_set)
        else:
            chosen = [member(reader, scale_set, instance)]
        expanded = (call.query("$expand") or "").lower() == "instanceview"
        now = self._platform.clock.now() if expanded else None
        return show_instances(reader, scale_set, chosen, api_version(call), now)

    def _protected(
        self, tx: Transaction, key: SetKey, call: Call, document: Json, moment: Moment
    ) -> tuple[Operation, Json]:
        instance = call.names["instance"]
        _, machine = member(tx, known(tx, key), instance)
        protection = parse_protection(document, machine.protection)
        operation = scale_sets.protect(tx, key.id, instance, protection, moment)
        return operation, self._shown(tx, key, call, instance)[0]


def _order(call: Call, action: Action) -> Order:
    instance = call.names["instance"]
    return Order(
        action=action,
        instance_ids=None if instance == ALL else (instance,),
        force=call.flag("forceDeletion"),
    )


def _acted(tx: Transaction, key: SetKey, order: Order, moment: Moment) -> Operation:
    scale_set = known(tx, key)
    for instance in order.instance_ids or ():
        member(tx, scale_set, instance)  # Here an unknown id is a 404 (R110), not R111.
    return scale_sets.act(tx, scale_set.id, order, moment)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on instances."""
    instances = Instances(platform)
    route = partial(arm_route, account)
    yield route("GET", INSTANCES, instances.list_all, "List the instances of a set")
    yield route("GET", INSTANCE, instances.show, "Show an instance")
    yield route("PUT", INSTANCE, instances.protect, "Change an instance's protection")
    yield route("DELETE", INSTANCE, instances.delete, "Delete an instance", (202, 204))
    yield route("GET", f"{INSTANCE}/instanceView", instances.show_view, "Show how it is doing")
    evict = f"{INSTANCE}/simulateEviction"
    yield route("POST", evict, instances.evict, "Evict a Spot instance", (204,))
    for name, action in ACTIONS.items():
        if action not in NEEDS_IDS:
            handler = partial(instances.act, action=action)
            yield route("POST", f"{INSTANCE}/{name}", handler, f"{name} an instance", (202,))
