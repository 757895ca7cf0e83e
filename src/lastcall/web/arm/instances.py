"""The instances of a set: shown, changed, acted on, evicted, deleted."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from lastcall.app import scale_sets
from lastcall.app.conditions import Conditions, refuse_stale
from lastcall.app.learning import Moment
from lastcall.app.own_parts import part, rewrite
from lastcall.app.platform import Platform
from lastcall.app.scale_sets import Order, member, members
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import Action
from lastcall.engine.operations import Operation
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import (
    INSTANCE,
    INSTANCES,
    accepted,
    api_version,
    arm_route,
    force,
    key_of,
    tracking,
    with_body,
)
from lastcall.web.arm.paging import by_ordinal, page
from lastcall.web.arm.scale_sets import ACTIONS, NEEDS_IDS
from lastcall.web.arm.views import Json, Manner, etag_header, show_instances
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.bodies import parse_body
from lastcall.wire.instance_filters import VIEW, parse_expand, parse_filter, parse_select, selected
from lastcall.wire.instances import encode_instance_view
from lastcall.wire.members import OF_INSTANCE, visible
from lastcall.wire.own_model import changed_disks, parse_disks, with_own_model
from lastcall.wire.requests import ALL, parse_protection
from lastcall.wire.versions import refuse_api_version

EVICTION_SINCE: Final = "2020-06-01"
WITH_VIEW: Final = frozenset({VIEW})
EVERYTHING: Final = WITH_VIEW | {"userData"}


class Write(Struct, frozen=True):
    """A PUT of an instance."""

    instance: str
    document: Json
    conditions: Conditions
    manner: Manner


class Instances:
    """Handlers for `virtualMachineScaleSets/virtualMachines`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List the instances of a set, those that pass the filter."""
        shown, link = await self._platform.read(lambda r: self._listed(r, key_of(call), call))
        return json(encode_list(shown, link))

    async def show(self, call: Call) -> Response:
        """Show one instance (R102)."""
        key, manner = key_of(call), self._manner(call)
        shown = await self._platform.read(lambda r: _shown(r, key, call.names["instance"], manner))
        return json(shown, headers=etag_header(shown))

    async def show_view(self, call: Call) -> Response:
        """Show how an instance is doing (R103)."""
        key, instance = key_of(call), call.names["instance"]
        scope_id, machine = await self._platform.read(lambda r: member(r, known(r, key), instance))
        view = encode_instance_view(machine, scope_id, self._platform.clock.now())
        whole = visible({"properties": {VIEW: view}}, api_version(call), OF_INSTANCE)
        return json(whole["properties"][VIEW])

    async def write(self, call: Call) -> Response:
        """Change what an instance has of its own: protection, data disks, user data, tags."""
        key, document = key_of(call), parse_body(await call.body())
        write = Write(call.names["instance"], document, conditions(call), self._manner(call))
        operation, shown = await self._platform.transact(
            lambda tx, moment: _written(tx, key, write, moment)
        )
        return json(shown, headers=tracking(call, operation) | etag_header(shown))

    async def change_disks(self, call: Call) -> Response:
        """Attach data disks to an instance, and detach others."""
        key, disks = key_of(call), parse_disks(parse_body(await call.body()))
        manner, instance = self._manner(call), call.names["instance"]

        def work(tx: Transaction, moment: Moment) -> Json:
            before = _shown(tx, key, instance, manner)
            edit = partial(changed_disks, before, disks)
            rewrite(tx, known(tx, key), instance, edit, moment)
            return _shown(tx, key, instance, manner)

        shown = await self._platform.transact(work)
        return json(shown["properties"].get("storageProfile", {}))

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

    def _manner(self, call: Call) -> Manner:
        return Manner(
            version=api_version(call),
            now=self._platform.clock.now(),
            expanded=parse_expand(call.query("$expand")),
        )

    def _listed(self, reader: Reader, key: SetKey, call: Call) -> tuple[list[Json], str | None]:
        scale_set, manner = known(reader, key), self._manner(call)
        chosen = list(members(reader, scale_set))
        wanted, passes = parse_select(call.query("$select")), parse_filter(call.query("$filter"))
        if call.query("$filter"):
            tested = show_instances(reader, scale_set, chosen, replace(manner, expanded=WITH_VIEW))
            chosen = [each for each, shown in zip(chosen, tested, strict=True) if passes(shown)]
        if wanted:
            manner = replace(manner, expanded=WITH_VIEW)
        found, link = page(call, chosen, by_ordinal)
        shown = show_instances(reader, scale_set, found, manner)
        return [selected(each, wanted) for each in shown], link


def _shown(reader: Reader, key: SetKey, instance: str, manner: Manner) -> Json:
    scale_set = known(reader, key)
    return show_instances(reader, scale_set, [member(reader, scale_set, instance)], manner)[0]


def _written(tx: Transaction, key: SetKey, write: Write, moment: Moment) -> tuple[Operation, Json]:
    found = part(tx, known(tx, key), write.instance)
    refuse_stale(found.number, write.conditions)
    protection = parse_protection(write.document, found.machine.protection)
    scale_sets.protect(tx, key.id, write.instance, protection, moment)
    before = _shown(tx, key, write.instance, replace(write.manner, expanded=EVERYTHING))
    edit = partial(with_own_model, before, write.document)
    operation = rewrite(tx, tx.scale_set(key.id), write.instance, edit, moment)
    return operation, _shown(tx, key, write.instance, write.manner)


def _order(call: Call, action: Action) -> Order:
    instance = call.names["instance"]
    return Order(
        action=action,
        instance_ids=None if instance == ALL else (instance,),
        force=force(call),
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
    yield with_body(route("PUT", INSTANCE, instances.write, "Change an instance"))
    yield route("DELETE", INSTANCE, instances.delete, "Delete an instance", (202, 204))
    yield route("GET", f"{INSTANCE}/instanceView", instances.show_view, "Show how it is doing")
    evict = f"{INSTANCE}/simulateEviction"
    yield route("POST", evict, instances.evict, "Evict a Spot instance", (204,))
    disks = f"{INSTANCE}/attachDetachDataDisks"
    yield with_body(route("POST", disks, instances.change_disks, "Attach and detach data disks"))
    for name, action in ACTIONS.items():
        if action not in NEEDS_IDS:
            handler = partial(instances.act, action=action)
            yield route("POST", f"{INSTANCE}/{name}", handler, f"{name} an instance", (202,))
