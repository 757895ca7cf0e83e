"""Lets the log know who asks for what: every route that changes something, wrapped in one place."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from msgspec.structs import replace
from starlette.responses import Response

from lastcall.app import activities
from lastcall.app.platform import Platform
from lastcall.engine.errors import DomainError, InvalidApiVersionError, MissingApiVersionError
from lastcall.engine.resources import Asked
from lastcall.ports import StoreUnavailableError
from lastcall.web.errors import STATUS_OF, SubscriptionNotFoundError
from lastcall.web.routing import Call, Handler, Route
from lastcall.wire.activities import PATH_CHARACTERS_MAX, asked_for

ARM: Final = "/subscriptions/"
OWN: Final = "/lastcall/v1/"
CHANGES: Final = frozenset({"PUT", "PATCH", "POST", "DELETE"})
# Who is turned away at the door has asked for nothing yet.
TURNED_AWAY: Final = (MissingApiVersionError, InvalidApiVersionError, SubscriptionNotFoundError)
CALLER: Final = "portal"


def logged(platform: Platform, routes: Iterable[Route]) -> Iterator[Route]:
    """Yield the routes, with those that change something saying so."""
    for route in routes:
        if route.is_logged and route.method in CHANGES and route.path.startswith((ARM, OWN)):
            yield replace(route, handler=_logged(platform, route))
        else:
            yield route


def _logged(platform: Platform, route: Route) -> Handler:
    async def handle(call: Call) -> Response:
        asked = _asked(route, call)
        token = activities.UNDER_WAY.set(asked)
        try:
            return await route.handler(call)
        except DomainError as refusal:
            activities.UNDER_WAY.set(None)
            if not isinstance(refusal, TURNED_AWAY):
                await _note(platform, asked, refusal)
            raise
        finally:
            activities.UNDER_WAY.reset(token)

    return handle


async def _note(platform: Platform, asked: Asked, refusal: DomainError) -> None:
    """Log a refusal. It is answered even when that cannot be done."""
    moment = platform.moment()
    failed = activities.refused(asked, refusal, moment.ids.operation_id(), moment.now)
    failed = replace(failed, code=STATUS_OF[type(refusal)])
    with suppress(StoreUnavailableError):
        await platform.transact(lambda tx, _moment: tx.log(failed))


def _asked(route: Route, call: Call) -> Asked:
    path = route.path
    for name, value in call.names.items():
        path = path.replace(f"{{{name}}}", value)
    if path.startswith(ARM):
        return asked_for(route.method, path, CALLER)
    return Asked(
        operation=_own_operation(route), path=path[:PATH_CHARACTERS_MAX], group="", caller=CALLER
    )


def _own_operation(route: Route) -> str:
    """Return what an operation of our own is called, after the manner of Azure's."""
    parts = route.path.removeprefix(OWN).split("/")
    noun, *action = (part for part in parts if not part.startswith("{"))
    if route.method == "POST" and action:
        return f"lastcall/{noun}/{'/'.join(action)}/action"
    return f"lastcall/{noun}/{'delete' if route.method == 'DELETE' else 'write'}"
