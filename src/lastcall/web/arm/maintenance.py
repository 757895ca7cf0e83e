"""Approval from outside the machine: the scheduled events of a resource, acknowledged (R90)."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app.acknowledging import acknowledge
from lastcall.app.platform import Platform
from lastcall.engine.errors import InvalidResourceTypeError
from lastcall.engine.model import EventId
from lastcall.web.account import Account
from lastcall.web.arm.front_door import COMPUTE, SUBSCRIPTION, api_version, arm_route
from lastcall.web.arm.kinds import optional_body
from lastcall.web.routing import Call, Route, json
from lastcall.wire import availability_sets, cloud_services, names, virtual_machines
from lastcall.wire.bodies import parse_body
from lastcall.wire.maintenance import (
    APPROVED,
    LIST_VERSIONS,
    PROVIDER,
    VERSIONS,
    parse_event_id,
    parse_event_ids,
    refuse_older,
)
from lastcall.wire.paths import Path
from lastcall.wire.quoting import shown

EVENTS: Final = (
    f"{SUBSCRIPTION}/resourcegroups/{{group}}{COMPUTE}/{{resourceType}}/{{resource}}"
    f"/providers/{PROVIDER}/scheduledevents"
)
TYPES: Final = {
    kind.partition("/")[2].lower(): kind
    for kind in (
        names.SET_TYPE,
        virtual_machines.VM_TYPE,
        availability_sets.SET_TYPE,
        cloud_services.SERVICE_TYPE,
    )
}


class Maintenance:
    """Handlers for `scheduledevents`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def acknowledge(self, call: Call) -> Response:
        """Approve one event."""
        await optional_body(call)
        refuse_older(api_version(call), VERSIONS)
        return await self._approved(call, (parse_event_id(call.names["event"]),))

    async def acknowledge_list(self, call: Call) -> Response:
        """Approve several events: all of them are known, or nothing changes."""
        event_ids = parse_event_ids(parse_body(await call.body()))
        refuse_older(api_version(call), LIST_VERSIONS)
        return await self._approved(call, event_ids)

    async def _approved(self, call: Call, event_ids: Sequence[EventId]) -> Response:
        path = _path(call)
        await self._platform.transact(
            lambda tx, moment: acknowledge(tx, path, event_ids, call.caller.name, moment)
        )
        return json(APPROVED)


def _path(call: Call) -> Path:
    given = call.names["resourceType"]
    kind = TYPES.get(given.lower())
    if kind is None:
        raise InvalidResourceTypeError(
            f"The resource type '{shown(given)}' has no scheduled events; these have:"
            f" {', '.join(kind.partition('/')[2] for kind in TYPES.values())}."
        )
    return Path(
        subscription=call.names["subscription"],
        group=call.names["group"],
        type=kind,
        names=(call.names["resource"],),
    )


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the two ways to acknowledge."""
    maintenance = Maintenance(platform)
    route = partial(arm_route, account)
    one = f"{EVENTS}/{{event}}/acknowledge"
    yield route("POST", one, maintenance.acknowledge, "Approve an event of a resource")
    yield route("POST", EVENTS, maintenance.acknowledge_list, "Approve several events")
