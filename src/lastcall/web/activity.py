"""Lets the log know who asks for what: every route that changes something, wrapped in one place."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

from msgspec.structs import replace
from starlette.responses import Response

from lastcall.app import activities
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.engine.errors import DomainError, InvalidApiVersionError, MissingApiVersionError
from lastcall.engine.resources import Activity, Asked
from lastcall.ports import StoreUnavailableError, Transaction
from lastcall.web.errors import (
    STATUS_OF,
    SubscriptionNotFoundError,
    UnsupportedMediaTypeError,
)
from lastcall.web.routing import Call, Handler, Route
from lastcall.wire.activities import PATH_CHARACTERS_MAX, asked_for

ARM: Final = "/subscriptions/"
OWN: Final = "/lastcall/v1/"
CHANGES: Final = frozenset({"PUT", "PATCH", "POST", "DELETE"})
# Who is turned away at the door has asked for nothing yet.
TURNED_AWAY: Final = (
    MissingApiVersionError,
    InvalidApiVersionError,
    SubscriptionNotFoundError,
    UnsupportedMediaTypeError,
)


def logged(platform: Platform, routes: Iterable[Route]) -> Iterator[Route]:
    """Yield the routes, with those that change something saying so."""
    for route in routes:
        if route.is_logged and route.method in CHANGES and route.path.startswith((ARM, OWN)):
            yield replace(route, handler=_logged(platform, route))
        else:
            yield route


def _logged(platform: Platform, route: Route) -> Handler:
    async def handle(call: Call) -> Response:
        request = activities.Request(_asked(route, call))
        token = activities.UNDER_WAY.set(request)
        try:
            response = await route.handler(call)
            if not request.is_logged:  # It has changed nothing, and yet it was done.
                await _recorded(platform, lambda _tx, _moment: None)
        except DomainError as refusal:
            if not isinstance(refusal, TURNED_AWAY):
                failed = _failed(platform, request, refusal)
                await _recorded(platform, lambda tx, _moment: tx.log(failed))
            raise
        finally:
            activities.UNDER_WAY.reset(token)
        return response

    return handle


async def _recorded(platform: Platform, work: Callable[[Transaction, Moment], None]) -> None:
    """Log a request by itself. It is answered even when that cannot be done."""
    with suppress(StoreUnavailableError):
        await platform.transact(work)


def _failed(platform: Platform, request: activities.Request, refusal: DomainError) -> Activity:
    moment = platform.moment()
    correlation = moment.ids.operation_id()
    failed = activities.refused(request.asked, refusal, correlation, moment.now)
    return replace(failed, code=STATUS_OF[type(refusal)])


def _asked(route: Route, call: Call) -> Asked:
    path, caller = route.path.replace("*}", "}"), call.caller.name
    for name, value in call.names.items():
        path = path.replace(f"{{{name}}}", value)
    if path.startswith(ARM):
        return asked_for(route.method, path, caller)
    return Asked(
        operation=_own_operation(route), path=path[:PATH_CHARACTERS_MAX], group="", caller=caller
    )


def _own_operation(route: Route) -> str:
    """Return what an operation of our own is called, after the manner of Azure's."""
    parts = route.path.removeprefix(OWN).split("/")
    noun, *action = (part for part in parts if not part.startswith("{"))
    if route.method == "POST" and action:
        return f"lastcall/{noun}/{'/'.join(action)}/action"
    return f"lastcall/{noun}/{'delete' if route.method == 'DELETE' else 'write'}"
