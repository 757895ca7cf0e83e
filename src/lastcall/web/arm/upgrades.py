"""Rolling upgrades of a set: started, cancelled, approved, shown."""

from collections.abc import Iterator
from functools import partial

from starlette.responses import Response

from lastcall.app import rollouts, set_services
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.scale_sets import member, members
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import Progress, RolloutKind, ScaleSet
from lastcall.engine.upgrade import progress
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    INSTANCE,
    SET,
    accepted,
    api_version,
    arm_route,
    key_of,
    with_body,
)
from lastcall.web.arm.views import Json, model_of
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.bodies import parse_body
from lastcall.wire.members import visible
from lastcall.wire.requests import ALL, parse_instance_ids
from lastcall.wire.upgrades import encode_latest, encode_os_history


class Upgrades:
    """Handlers for `virtualMachineScaleSets/rollingUpgrades` and its neighbours."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def show_latest(self, call: Call) -> Response:
        """Show the latest rolling upgrade; 404 where there was none."""
        key, version = key_of(call), api_version(call)
        shown = await self._platform.read(lambda r: _latest(r, key, version))
        if shown is None:
            raise InstanceNotFoundError
        return json(shown)

    async def show_history(self, call: Call) -> Response:
        """List the OS upgrades of a set."""
        key = key_of(call)
        return json(encode_list(await self._platform.read(lambda r: _history(r, key))))

    async def start(self, call: Call, *, kind: RolloutKind) -> Response:
        """Begin a rolling upgrade."""
        key = key_of(call)
        operation = await self._platform.transact(
            lambda tx, moment: rollouts.start(tx, known(tx, key).id, kind, moment)
        )
        return accepted(call, operation)

    async def cancel(self, call: Call) -> Response:
        """Stop the rolling upgrade under way."""
        key = key_of(call)
        operation = await self._platform.transact(
            lambda tx, moment: rollouts.cancel(tx, known(tx, key).id, moment)
        )
        return accepted(call, operation)

    async def approve(self, call: Call) -> Response:
        """Let deferred upgrades begin on instances of a set (R91)."""
        key, body = key_of(call), await call.body()
        document = parse_body(body) if body.strip() else None
        instance_ids = parse_instance_ids(document, required=False)
        operation = await self._platform.transact(
            lambda tx, moment: set_services.approve_upgrade(
                tx, known(tx, key).id, instance_ids, moment
            )
        )
        return accepted(call, operation)

    async def approve_one(self, call: Call) -> Response:
        """Let a deferred upgrade begin on one instance (R91)."""
        key, instance = key_of(call), call.names["instance"]
        operation = await self._platform.transact(
            lambda tx, moment: _approved(tx, key, instance, moment)
        )
        return accepted(call, operation)


def _approved(tx: Transaction, key: SetKey, instance: str, moment: Moment) -> Operation:
    scale_set = known(tx, key)
    if instance == ALL:
        return set_services.approve_upgrade(tx, scale_set.id, None, moment)
    member(tx, scale_set, instance)  # Here an unknown id is a 404 (R110), not R111.
    return set_services.approve_upgrade(tx, scale_set.id, (instance,), moment)


def _progress(reader: Reader, scale_set: ScaleSet) -> Progress | None:
    if scale_set.rollout is None:
        return None
    return progress(scale_set, [machine for _, machine in members(reader, scale_set)])


def _latest(reader: Reader, key: SetKey, version: str) -> Json | None:
    scale_set = known(reader, key)
    model = visible(model_of(reader, scale_set, version), version)
    return encode_latest(scale_set, model, _progress(reader, scale_set))


def _history(reader: Reader, key: SetKey) -> list[Json]:
    scale_set = known(reader, key)
    model = model_of(reader, scale_set)
    return encode_os_history(scale_set, model, _progress(reader, scale_set))


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on rolling upgrades."""
    upgrades = Upgrades(platform)
    route = partial(arm_route, account)
    latest, cancel = f"{SET}/rollingUpgrades/latest", f"{SET}/rollingUpgrades/cancel"
    yield route("GET", latest, upgrades.show_latest, "Show the latest rolling upgrade")
    yield route("POST", cancel, upgrades.cancel, "Cancel a rolling upgrade", (202,))
    for name, kind in (
        ("osRollingUpgrade", RolloutKind.OS),
        ("extensionRollingUpgrade", RolloutKind.EXTENSIONS),
    ):
        handler = partial(upgrades.start, kind=kind)
        yield route("POST", f"{SET}/{name}", handler, f"Start an upgrade: {kind}", (202,))
    yield route("GET", f"{SET}/osUpgradeHistory", upgrades.show_history, "List OS upgrades")
    approve = "approveRollingUpgrade"
    every = route("POST", f"{SET}/{approve}", upgrades.approve, "Approve deferred upgrades", (202,))
    yield with_body(every)
    one = f"{INSTANCE}/{approve}"
    yield route("POST", one, upgrades.approve_one, "Approve a deferred upgrade", (202,))
