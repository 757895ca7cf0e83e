"""Who asked for what, of the control plane and of our own API."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict
from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.engine.resources import ActivityFilter
from lastcall.web.admin.bodies import LIMIT, ROOT, page_limit
from lastcall.web.routing import Call, Parameter, Route, json

BEFORE: Final = Parameter(
    name="before", type="integer", text="Only those before this one; see `next` of an answer."
)


class ActivityView(Struct, frozen=True, kw_only=True):
    """One request and what came of it; `code` is the HTTP status of a refusal."""

    seq: int
    at: datetime
    caller: str
    operation: str
    path: str
    group: str
    status: str
    code: int
    reason: str
    message: str
    correlation: str


class ActivityList(Struct, frozen=True):
    """Some activities, newest first; `next` is the `before` of the next page."""

    value: list[ActivityView]
    next: int | None


class Activities:
    """Handlers for activities."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List who asked for what, newest first."""
        group, limit = call.query("group"), page_limit(call)
        wanted = ActivityFilter(
            limit=limit + 1,
            before=call.number("before", 0, range(10**18)) or None,
            group=None if group is None else group.lower(),
        )
        found = await self._platform.read(lambda r: r.activities(wanted))
        shown = [ActivityView(**asdict(each)) for each in found[:limit]]
        return json(ActivityList(shown, shown[-1].seq if len(found) > limit else None))


def routes(platform: Platform) -> Iterator[Route]:
    """Yield the operation on activities."""
    yield Route(
        method="GET",
        path=f"{ROOT}/activities",
        handler=Activities(platform).list_all,
        summary="List who asked for what",
        gives=ActivityList,
        query=(
            LIMIT,
            BEFORE,
            Parameter(name="group", type="string", text="Only in this resource group."),
        ),
    )
