"""Functions that ask for what surrounds an expression: template, deployment, platform."""

from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError, UnsupportedError
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given, Library
from lastcall.wire.templates.values import ANY, Json, Kind, integer

SURROUNDINGS = Library()
STRING: Final = Kind.STRING
INTEGER: Final = Kind.INTEGER
SCOPED: Final = Given.SCOPE_AND_VALUES
ZONES: Final = ("1", "2", "3")
LISTS: Final = (
    *("list", "listKeys", "listSecrets", "listAccountSas", "listServiceSas", "listAdminKeys"),
    *("listQueryKeys", "listConnectionStrings", "listCallbackUrl", "listClusterAdminCredential"),
)


@SURROUNDINGS.define("parameters", STRING, given=SCOPED)
def parameters(scope: Scope, name: str) -> Json:
    """Return the value of a parameter."""
    return scope.parameters.value(name)


@SURROUNDINGS.define("variables", STRING, given=SCOPED)
def variables(scope: Scope, name: str) -> Json:
    """Return the value of a variable."""
    return scope.variables.value(name)


@SURROUNDINGS.define("copyIndex", STRING | INTEGER, INTEGER, optional=2, given=SCOPED)
def copy_index(scope: Scope, loop: Json = 0, offset: int = 0) -> int:
    """Return the turn of a loop, counted from 0 or from an offset."""
    index = scope.index
    if isinstance(loop, str):
        index = scope.loops.get(loop.lower())
    else:
        offset = loop
    if index is None:
        which = f" no loop is called '{shown(loop)}' here" if isinstance(loop, str) else ""
        raise ExpressionError(
            "The template function 'copyIndex' is not expected at this location:"
            f"{which or ' it can only be used in a resource or an output with copy specified'}."
        )
    return integer(index + offset)


@SURROUNDINGS.define("reference", STRING, STRING, STRING, optional=2, given=SCOPED)
def reference(scope: Scope, target: str, api_version: str | None = None, form: str = "") -> Json:
    """Return the state of a resource, its properties or the whole of it."""
    if form and form.lower() != "full":
        raise ExpressionError("The third argument of 'reference' can only be 'Full'.")
    if scope.runtime is None:
        raise ExpressionError(
            "The template function 'reference' is not expected at this location: it can only be"
            " used in the properties of a resource and in outputs."
        )
    return scope.runtime.state(target, api_version or None, full=bool(form))


@SURROUNDINGS.define("newGuid", given=SCOPED)
def new_guid(scope: Scope) -> str:
    """Return a GUID that no other call gets."""
    if scope.draw is None:
        raise ExpressionError(
            "The template function 'newGuid' is not expected at this location: it can only be used"
            " in the default value of a parameter."
        )
    return scope.draw()


@SURROUNDINGS.define("resourceGroup", given=SCOPED)
def resource_group(scope: Scope) -> Json:
    """Return the resource group that is deployed to."""
    group = scope.context.group
    return {
        "id": group.id,
        "name": group.name,
        "type": "Microsoft.Resources/resourceGroups",
        "location": group.location,
        "tags": dict(group.tags),
        "properties": {"provisioningState": "Succeeded"},
    }


@SURROUNDINGS.define("subscription", given=SCOPED)
def subscription(scope: Scope) -> Json:
    """Return the subscription that is deployed to."""
    context = scope.context
    return {
        "id": f"/subscriptions/{context.subscription_id}",
        "subscriptionId": context.subscription_id,
        "tenantId": context.tenant_id,
        "displayName": context.subscription_name,
    }


@SURROUNDINGS.define("tenant", given=SCOPED)
def tenant(scope: Scope) -> Json:
    """Return the tenant that is deployed to."""
    context = scope.context
    return {
        "id": f"/tenants/{context.tenant_id}",
        "tenantId": context.tenant_id,
        "displayName": context.tenant_name,
    }


@SURROUNDINGS.define("deployment", given=SCOPED)
def deployment(scope: Scope) -> Json:
    """Return the deployment under way."""
    context = scope.context
    return {
        "name": context.deployment_name,
        "properties": {
            "template": dict(scope.template),
            "mode": context.mode,
            "provisioningState": "Accepted",
        },
    }


@SURROUNDINGS.define("environment", given=SCOPED)
def environment(scope: Scope) -> Json:
    """Return the addresses of the platform."""
    return dict(scope.context.environment)


@SURROUNDINGS.define("providers", STRING, STRING, given=SCOPED)
def providers(scope: Scope, namespace: str, kind: str) -> Json:
    """Return what is known about a resource type."""
    versions = scope.context.api_versions(namespace, kind)
    if not versions:
        raise ExpressionError(
            f"The resource type '{shown(kind)}' is not known in the namespace '{shown(namespace)}'."
        )
    return {
        "resourceType": kind,
        "locations": [scope.context.group.location],
        "apiVersions": list(versions),
    }


@SURROUNDINGS.define("pickZones", STRING, STRING, STRING, INTEGER, INTEGER, optional=2)
def pick_zones(namespace: str, kind: str, location: str, count: int = 1, offset: int = 0) -> Json:
    """Return availability zones; every location has three here."""
    if not (namespace and kind and location):
        raise ExpressionError("'pickZones' takes a namespace, a resource type and a location.")
    if not (1 <= count <= len(ZONES) and 0 <= offset <= len(ZONES) - count):
        raise ExpressionError(f"'pickZones' can only pick among {len(ZONES)} zones.")
    return list(ZONES[offset : offset + count])


def _refuse_lists() -> None:
    for name in LISTS:

        @SURROUNDINGS.define(name, more=ANY)
        def refuse(*_: Json, name: str = name) -> Json:
            raise UnsupportedError(
                f"The template function '{name}' asks a resource for its secrets, which are not"
                " kept here."
            )


_refuse_lists()
