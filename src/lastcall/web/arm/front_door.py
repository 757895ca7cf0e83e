"""What every control-plane request has in common: admission, addresses, tracking of operations."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from lastcall.app.scale_sets import SetKey
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.errors import RETRY_AFTER, SubscriptionNotFoundError
from lastcall.web.routing import Call, Handler, Route
from lastcall.wire.names import PROVIDER, set_id
from lastcall.wire.quoting import shown
from lastcall.wire.versions import refuse_api_version, versions_of

SUBSCRIPTION: Final = "/subscriptions/{subscription}"
COMPUTE: Final = f"/providers/{PROVIDER}"
SETS: Final = f"{SUBSCRIPTION}/resourceGroups/{{group}}{COMPUTE}/virtualMachineScaleSets"
SET: Final = f"{SETS}/{{set}}"
INSTANCES: Final = f"{SET}/virtualMachines"
INSTANCE: Final = f"{INSTANCES}/{{instance}}"
INSIGHTS: Final = "/providers/Microsoft.Insights"
LOCATION: Final = f"{SUBSCRIPTION}{COMPUTE}/locations/{{location}}"


def arm_route(
    account: Account,
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answers: tuple[int, ...] = (200,),
) -> Route:
    """Return a route whose handler stands behind the checks that all requests pass first."""
    return Route(
        method=method,
        path=path,
        handler=_admitted(handler, account, versions_of(path)),
        summary=summary,
        answers=answers,
    )


def _admitted(handler: Handler, account: Account, versions: Sequence[str]) -> Handler:
    async def admit(call: Call) -> Response:
        refuse_api_version(call.query("api-version"), known=versions)
        subscription = call.names["subscription"]
        if subscription.lower() != account.subscription.lower():
            raise SubscriptionNotFoundError(
                f"The subscription '{shown(subscription)}' could not be found."
            )
        return await handler(call)

    return admit


def api_version(call: Call) -> str:
    """Return the api-version of an admitted request."""
    version = call.query("api-version")
    assert version is not None, "admission demands it"
    return version


def key_of(call: Call) -> SetKey:
    """Return which set a request is about, in the request's own spelling."""
    names = call.names
    return SetKey(
        id=set_id(names["subscription"], names["group"], names["set"]),
        subscription=names["subscription"],
        resource_group=names["group"],
        name=names["set"],
    )


def known(reader: Reader, key: SetKey) -> ScaleSet:
    """Return a set, or refuse in ARM's words (R109)."""
    try:
        return reader.scale_set(key.id)
    except ResourceNotFoundError:
        raise missing(key) from None


def missing(key: SetKey) -> ResourceNotFoundError:
    """Return the refusal for a set that does not exist (R109)."""
    return ResourceNotFoundError(
        f"The Resource 'Microsoft.Compute/virtualMachineScaleSets/{key.name}' under resource group"
        f" '{key.resource_group}' was not found. For more details please go to"
        " https://aka.ms/ARMResourceNotFoundFix"
    )


def operation_url(call: Call, operation: Operation) -> str:
    """Return where an operation can be followed, at the address that the client used."""
    return (
        f"{call.base}/subscriptions/{quote(call.names['subscription'], safe='')}{COMPUTE}"
        f"/locations/{quote(operation.location, safe='')}/operations/{operation.id}"
        f"?api-version={quote(api_version(call), safe='')}"
    )


def tracking(call: Call, operation: Operation) -> dict[str, str]:
    """Return the headers of a write: no Location, or az would read the resource from it (R95)."""
    return {
        "Azure-AsyncOperation": operation_url(call, operation),
        "Azure-AsyncNotification": "Enabled",
        "x-ms-request-id": operation.id,
        **RETRY_AFTER,
    }


def accepted(call: Call, operation: Operation) -> Response:
    """Answer that an action or a deletion is under way (R96)."""
    monitor = {"Location": f"{operation_url(call, operation)}&monitor=true"}
    return Response(None, 202, tracking(call, operation) | monitor)
