"""Settings of a set that have an operation of their own."""

from collections.abc import Iterator
from enum import StrEnum
from functools import partial

from starlette.responses import Response

from lastcall.app import set_services
from lastcall.app.platform import Platform
from lastcall.app.set_keys import known
from lastcall.engine.errors import InvalidParameterError
from lastcall.web.account import Account
from lastcall.web.arm.front_door import SET, accepted, arm_route, key_of, with_body
from lastcall.web.routing import Call, Route
from lastcall.wire.bodies import parse_body
from lastcall.wire.fields import text_at, word


class Service(StrEnum):
    """What takes care of the instances of a set."""

    REPAIRS = "AutomaticRepairs"


class ServiceAction(StrEnum):
    """What a service can be told."""

    RESUME = "Resume"
    SUSPEND = "Suspend"


class Services:
    """Handlers for `setOrchestrationServiceState` and `convertToSinglePlacementGroup`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def set_state(self, call: Call) -> Response:
        """Suspend or resume automatic repairs."""
        key, document = key_of(call), parse_body(await call.body())
        for name in ("serviceName", "action"):
            if text_at(document, name) is None:
                raise InvalidParameterError(f"Required parameter '{name}' is missing.", target=name)
        word(document["serviceName"], "serviceName", Service)
        action = word(document["action"], "action", ServiceAction)
        operation = await self._platform.transact(
            lambda tx, moment: set_services.set_repairs(
                tx, known(tx, key).id, moment, are_suspended=action is ServiceAction.SUSPEND
            )
        )
        return accepted(call, operation)

    async def convert(self, call: Call) -> Response:
        """Make a set keep to one placement group."""
        key, document = key_of(call), parse_body(await call.body())
        active = text_at(document, "activePlacementGroupId")
        await self._platform.transact(
            lambda tx, _: set_services.convert_to_single_group(tx, known(tx, key).id, active)
        )
        return Response(status_code=200)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the operations on settings of a set."""
    services = Services(platform)
    route = partial(arm_route, account)
    state, convert = f"{SET}/setOrchestrationServiceState", f"{SET}/convertToSinglePlacementGroup"
    summary = "Suspend or resume automatic repairs"
    yield with_body(route("POST", state, services.set_state, summary, (202,)))
    yield with_body(route("POST", convert, services.convert, "Keep to one placement group"))
