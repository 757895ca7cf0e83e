"""What every control-plane request has in common: admission, addresses, tracking of operations."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace
from starlette.responses import Response

from lastcall.app.set_keys import SetKey, key_at
from lastcall.engine.operations import Operation
from lastcall.web.account import Account
from lastcall.web.errors import (
    RETRY_AFTER,
    SubscriptionNotFoundError,
    UnsupportedMediaTypeError,
)
from lastcall.web.routing import Call, Handler, Route
from lastcall.wire.names import PROVIDER, SET_TYPE
from lastcall.wire.paths import Path
from lastcall.wire.quoting import shown
from lastcall.wire.versions import KNOWN, refuse_api_version

SUBSCRIPTION: Final = "/subscriptions/{subscription}"
COMPUTE: Final = f"/providers/{PROVIDER}"
GROUP: Final = f"{SUBSCRIPTION}/resourceGroups/{{group}}"
SETS: Final = f"{GROUP}{COMPUTE}/virtualMachineScaleSets"
SET: Final = f"{SETS}/{{set}}"
INSTANCES: Final = f"{SET}/virtualMachines"
INSTANCE: Final = f"{INSTANCES}/{{instance}}"
INSIGHTS: Final = "/providers/Microsoft.Insights"
MEDIA_TYPE: Final = "application/json"
# `forceDeletion` means something from here on; older versions ignore what they do not know.
FORCE_SINCE: Final = "2020-12-01"
LOCATION: Final = f"{SUBSCRIPTION}{COMPUTE}/locations/{{location}}"


def arm_route(  # noqa: PLR0913  (an operation has that many sides)
    account: Account,
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answers: tuple[int, ...] = (200,),
    *,
    versions: Sequence[str] = KNOWN,
) -> Route:
    """Return a route whose handler stands behind the checks that all requests pass first."""
    return Route(
        method=method,
        path=path,
        handler=_admitted(handler, account, versions),
        summary=summary,
        answers=answers,
    )


def with_body(route: Route) -> Route:
    """Return a route that says that it reads a body."""
    return replace(route, takes=dict)


def _admitted(handler: Handler, account: Account, versions: Sequence[str]) -> Handler:
    async def admit(call: Call) -> Response:
        refuse_api_version(call.query("api-version"), known=versions)
        subscription = call.names.get("subscription", account.subscription)
        if subscription.lower() != account.subscription.lower():
            raise SubscriptionNotFoundError(
                f"The subscription '{shown(subscription)}' could not be found."
            )
        _refuse_media_type(call)
        return await handler(call)

    return admit


def _refuse_media_type(call: Call) -> None:
    """Refuse a body that is not said to be JSON, in the words of the service."""
    has_body = call.header("content-length") not in (None, "0") or call.header("transfer-encoding")
    given = call.header("content-type") or "<null>"
    if has_body and given.partition(";")[0].strip().lower() != MEDIA_TYPE:
        raise UnsupportedMediaTypeError(
            f"The content media type '{shown(given)}' is not supported."
            f" Only '{MEDIA_TYPE}' is supported."
        )


def api_version(call: Call) -> str:
    """Return the api-version of an admitted request."""
    version = call.query("api-version")
    assert version is not None, "admission demands it"
    return version


def force(call: Call) -> bool:
    """Return whether a deletion is to be forced; older api-versions do not know how to ask."""
    return api_version(call) >= FORCE_SINCE and call.flag("forceDeletion")


def key_of(call: Call) -> SetKey:
    """Return which set a request is about, in the request's own spelling."""
    names = call.names
    return key_at(
        Path(
            subscription=names["subscription"],
            group=names["group"],
            type=SET_TYPE,
            names=(names["set"],),
        )
    )


def operation_url(call: Call, operation: Operation, namespace: str = PROVIDER) -> str:
    """Return where an operation can be followed, at the address that the client used."""
    return (
        f"{call.base}/subscriptions/{quote(call.names['subscription'], safe='')}"
        f"/providers/{quote(namespace, safe='')}"
        f"/locations/{quote(operation.location, safe='')}/operations/{operation.id}"
        f"?api-version={quote(api_version(call), safe='')}"
    )


def tracking(call: Call, operation: Operation, namespace: str = PROVIDER) -> dict[str, str]:
    """Return the headers of a write: no Location, or az would read the resource from it (R95)."""
    return {
        "Azure-AsyncOperation": operation_url(call, operation, namespace),
        "Azure-AsyncNotification": "Enabled",
        "x-ms-request-id": operation.id,
        **RETRY_AFTER,
    }


def accepted(call: Call, operation: Operation, namespace: str = PROVIDER) -> Response:
    """Answer that an action or a deletion is under way (R96)."""
    monitor = {"Location": f"{operation_url(call, operation, namespace)}&monitor=true"}
    return Response(None, 202, tracking(call, operation, namespace) | monitor)
