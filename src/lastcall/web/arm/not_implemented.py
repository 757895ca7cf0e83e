"""Operations that the service has and that are not built here: they say so, in one place.

`docs/scale-sets.md` has the same table; a test compares them.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.app.scale_sets import member
from lastcall.app.set_keys import SetKey, known
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import INSTANCE, SET, arm_route, key_of
from lastcall.web.errors import NotBuiltError
from lastcall.web.routing import Call, Handler, Route


class Unbuilt(Struct, frozen=True):
    """An operation that is not built, and why."""

    method: str
    path: str
    why: str


NOT_IMPLEMENTED: Final = (
    Unbuilt(
        "POST",
        f"{SET}/forceRecoveryServiceFabricPlatformUpdateDomainWalk",
        "Service Fabric clusters are not built.",
    ),
    Unbuilt(
        "POST",
        f"{INSTANCE}/retrieveBootDiagnosticsData",
        "Machines have no screen and no serial console to read.",
    ),
    Unbuilt(
        "POST",
        f"{INSTANCE}/runCommand",
        "Machines have no guest agent that could run a script.",
    ),
)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the operations that are not built; each refuses what it would refuse, then itself."""
    for unbuilt in NOT_IMPLEMENTED:
        handler = _handler(platform, unbuilt)
        summary = f"Not implemented: {unbuilt.why}"
        yield arm_route(account, unbuilt.method, unbuilt.path, handler, summary, ())


def _handler(platform: Platform, unbuilt: Unbuilt) -> Handler:
    name = unbuilt.path.rpartition("/")[2]

    async def refuse(call: Call) -> Response:
        await platform.read(lambda r: _refuse_unknown(r, key_of(call), call.names.get("instance")))
        raise NotBuiltError(f"The operation '{name}' is not implemented. {unbuilt.why}")

    return refuse


def _refuse_unknown(reader: Reader, key: SetKey, instance: str | None) -> None:
    scale_set = known(reader, key)
    if instance is not None:
        member(reader, scale_set, instance)
