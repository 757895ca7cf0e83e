"""Deployments inside a deployment: what may be one, and what it is planned with."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from lastcall.wire.quoting import shown
from lastcall.wire.templates.catalog import Head
from lastcall.wire.templates.context import Context
from lastcall.wire.templates.documents import known
from lastcall.wire.templates.faults import ShapeError, UnsupportedError
from lastcall.wire.templates.shapes import section, without
from lastcall.wire.templates.values import Json, member

DEPLOYMENT_TYPE: Final = "microsoft.resources/deployments"
INNER: Final = "inner"
OUTER: Final = ("outer", "notspecified")


class Nesting(Struct, frozen=True):
    """A deployment inside the deployment, as the template defines it."""

    template: Mapping[str, Json]
    # Whether its expressions know its own parameters and variables, or those around it.
    is_inner: bool
    context: Context


def is_deployment(head: Head) -> bool:
    """Whether a resource is a deployment."""
    return head.type.lower() == DEPLOYMENT_TYPE


def nesting_of(head: Head) -> Nesting:
    """Return the template of a deployment inside the deployment, or refuse it."""
    properties = section(head.definition, "properties")
    template = member(properties, "template")
    if member(properties, "templateLink") is not None:
        raise UnsupportedError("Linked templates are not supported; the template must be inline.")
    if not isinstance(template, dict):
        raise ShapeError("A deployment has no 'template' that is an object")
    _refuse_elsewhere(head)
    mode = known(member(properties, "mode", "Incremental"), head.scope)
    if not isinstance(mode, str) or mode.lower() != "incremental":
        raise UnsupportedError(
            "The mode of a deployment inside another one can only be Incremental."
        )
    options = section(properties, "expressionEvaluationOptions")
    scope = str(member(options, "scope", "outer")).lower()
    if scope != INNER and scope not in OUTER:
        raise ShapeError("The scope of 'expressionEvaluationOptions' is neither inner nor outer")
    surrounding = head.scope.context
    context = msgspec.structs.replace(
        surrounding, deployment_name=head.name, seed=f"{surrounding.seed}/{head.name}"
    )
    return Nesting(template, scope == INNER, context)


def with_properties_only(body: dict[str, Json]) -> dict[str, Json]:
    """Return the body of a deployment without its template, which is evaluated in its own way."""
    properties = without(section(body, "properties"), "template")
    return {**without(body, "properties"), "properties": properties}


def _refuse_elsewhere(head: Head) -> None:
    context = head.scope.context
    places = {"resourceGroup": context.group.name, "subscriptionId": context.subscription_id}
    for name, here in places.items():
        place = known(member(head.definition, name, here), head.scope)
        if not isinstance(place, str) or place.lower() != here.lower():
            raise UnsupportedError(
                f"The deployment '{shown(head.name)}' has another '{name}'; only deployments to the"
                " same resource group are supported."
            )
