"""Functions that make resource ids."""

import re
from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.identifiers import relative_id
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given, Library
from lastcall.wire.templates.values import Kind

RESOURCES = Library()
STRING: Final = Kind.STRING
GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@RESOURCES.define("resourceId", STRING, STRING, more=STRING, given=Given.SCOPE_AND_VALUES)
def resource_id(scope: Scope, *parts: str) -> str:
    """Return the id of a resource in a resource group, by default the deployment's own."""
    before, rest = _split("resourceId", parts, most=2)
    context = scope.context
    if not before:
        return f"{context.group.id}/providers/{rest}"
    subscription = before[0] if len(before) > 1 else context.subscription_id
    _refuse_subscription(subscription)
    return f"/subscriptions/{subscription}/resourceGroups/{before[-1]}/providers/{rest}"


@RESOURCES.define(
    "subscriptionResourceId", STRING, STRING, more=STRING, given=Given.SCOPE_AND_VALUES
)
def subscription_resource_id(scope: Scope, *parts: str) -> str:
    """Return the id of a resource of a subscription, by default the deployment's own."""
    before, rest = _split("subscriptionResourceId", parts, most=1)
    subscription = before[0] if before else scope.context.subscription_id
    _refuse_subscription(subscription)
    return f"/subscriptions/{subscription}/providers/{rest}"


@RESOURCES.define("tenantResourceId", STRING, STRING, more=STRING)
def tenant_resource_id(*parts: str) -> str:
    """Return the id of a resource of the tenant."""
    return f"/providers/{_split('tenantResourceId', parts, most=0)[1]}"


@RESOURCES.define("extensionResourceId", STRING, STRING, STRING, more=STRING)
def extension_resource_id(owner: str, *parts: str) -> str:
    """Return the id of a resource that extends another one."""
    return f"{owner}/providers/{_split('extensionResourceId', parts, most=0)[1]}"


def _split(function: str, parts: tuple[str, ...], most: int) -> tuple[tuple[str, ...], str]:
    """Return what comes before the type, and the part of an id that type and names make."""
    place = next((place for place, part in enumerate(parts) if "/" in part), None)
    if place is None or place > most:
        given = shown(", ".join(parts))
        raise ExpressionError(
            f"Unable to evaluate template function '{function}': it takes a resource type with its"
            f" provider namespace, after at most {most} argument(s); given are '{given}'."
        )
    kind, names = parts[place], parts[place + 1 :]
    if len(names) != kind.count("/"):
        raise ExpressionError(
            f"Unable to evaluate template function '{function}': the type '{shown(kind)}' requires"
            f" '{kind.count('/')}' resource name argument(s), and {len(names)} are given."
        )
    return parts[:place], relative_id(kind, "/".join(names))


def _refuse_subscription(subscription: str) -> None:
    if not GUID.fullmatch(subscription):
        raise ExpressionError(f"'{shown(subscription)}' is not the id of a subscription.")
