"""The activity log: who asked for what, as Azure's own clients read it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final
from urllib.parse import urlencode

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.engine.limits import HISTORY_PAGE_MAX
from lastcall.engine.resources import Activity, ActivityFilter
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import INSIGHTS, SUBSCRIPTION, api_version, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire import versions
from lastcall.wire.activities import Wanted, encode_activity, parse_filter, select

EVENTS: Final = f"{SUBSCRIPTION}{INSIGHTS}/eventtypes/management/values"
PAGE: Final = 200
SKIP_TOKEN: Final = "$skipToken"  # noqa: S105  # ARM's word for a place in a list


class ActivityLog:
    """Handlers for `eventtypes/management/values`."""

    def __init__(self, platform: Platform, account: Account) -> None:
        self._platform = platform
        self._account = account

    async def list_events(self, call: Call) -> Response:
        """List what was asked of the control plane, newest first."""
        wanted = parse_filter(call.query("$filter"))
        before = call.number(SKIP_TOKEN, 0, range(10**18)) or None
        found = await self._platform.read(
            lambda r: tuple(islice(_found(r, wanted, before), PAGE + 1))
        )
        names, account = call.query("$select"), self._account
        shown = {
            "value": [
                select(encode_activity(each, account.subscription, account.tenant), names)
                for each in found[:PAGE]
            ]
        }
        following = {} if len(found) <= PAGE else {"nextLink": _next(call, found)}
        return json(shown | following)


def _found(reader: Reader, wanted: Wanted, before: int | None) -> Iterator[Activity]:
    """Yield the activities that are wanted, reading no more of them than somebody takes."""
    while True:
        page = reader.activities(
            ActivityFilter(
                limit=HISTORY_PAGE_MAX,
                before=before,
                since=wanted.since,
                until=wanted.until,
                group=wanted.group,
            )
        )
        for activity in page:
            if activity.path.startswith("/subscriptions/") and wanted.lets(activity):
                yield activity
        if len(page) < HISTORY_PAGE_MAX:
            return
        before = page[-1].seq


def _next(call: Call, found: Sequence[Activity]) -> str:
    given = {name: call.query(name) for name in ("$filter", "$select")}
    query = {name: value for name, value in given.items() if value is not None}
    query |= {"api-version": api_version(call), SKIP_TOKEN: str(found[PAGE - 1].seq)}
    path = EVENTS.replace("{subscription}", call.names["subscription"])
    return f"{call.base}{path}?{urlencode(query)}"


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the one operation on the activity log."""
    log = ActivityLog(platform, account)
    yield arm_route(
        account, "GET", EVENTS, log.list_events, "List who did what", versions=versions.INSIGHTS
    )
