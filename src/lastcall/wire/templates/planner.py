"""Makes the plan of a deployment out of a template."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from lastcall.engine.limits import TEMPLATE_BYTES_MAX, TEMPLATE_NESTED_DEPLOYMENTS_MAX
from lastcall.wire.bodies import encode_json
from lastcall.wire.templates.catalog import Catalog, Head, Listener, distinct
from lastcall.wire.templates.context import Context, LookUp
from lastcall.wire.templates.documents import finished, is_resolved, walk
from lastcall.wire.templates.faults import ExpressionError, ShapeError, refused
from lastcall.wire.templates.identifiers import parents, shown_id
from lastcall.wire.templates.names import evaluate_variables, scope_of
from lastcall.wire.templates.nesting import (
    Nesting,
    is_deployment,
    nesting_of,
    with_properties_only,
)
from lastcall.wire.templates.ordering import in_order
from lastcall.wire.templates.outputs import outputs_of
from lastcall.wire.templates.parameters import declared
from lastcall.wire.templates.plan import Plan, PlannedResource, Surroundings
from lastcall.wire.templates.resources import body_of, heads_of
from lastcall.wire.templates.scope import Budget, Scope
from lastcall.wire.templates.shapes import refuse_template
from lastcall.wire.templates.values import Json, member, weight


def plan_deployment(
    template: Mapping[str, Any], parameters: Mapping[str, Any], context: Context
) -> Plan:
    """Return what deploying a template will do, or refuse it; nothing is deployed.

    `parameters` are as a deployment has them: {"name": {"value": ...}}.
    """
    with refused():
        return _plan(_Order(dict(template), dict(parameters), context, Budget()))


class _Order(Struct, frozen=True):
    """A template to plan, and what it is planned with."""

    template: dict[str, Json]
    parameters: dict[str, Json]
    context: Context
    budget: Budget
    depth: int = 1
    # A nested template without names of its own uses those around it.
    outer_scope: Scope | None = None
    outer_catalog: Catalog | None = None


class _Draft(Struct):
    """A resource on its way into the plan."""

    head: Head
    evaluated: dict[str, Json]
    heard: list[str]
    nesting: Nesting | None = None
    inner: Plan | None = None


def _plan(order: _Order) -> Plan:
    _refuse_size(order)
    refuse_template(order.template)
    parameters = declared(order.template) if order.outer_scope is None else {}
    scope = order.outer_scope or scope_of(
        order.template, parameters, order.parameters, order.context, order.budget
    )
    evaluate_variables(order.template if order.outer_scope is None else {}, scope)
    heads = heads_of(order.template, scope)
    root = order.context.group.id
    catalog = Catalog(heads, order.outer_catalog)
    surroundings = Surroundings(catalog, root)
    drafts = [_draft(head, order, surroundings) for head in heads if head.is_wanted]
    listener = Listener(catalog, root)
    outputs = outputs_of(order.template, scope.while_deploying(listener))
    heard = [resource_id for draft in drafts for resource_id in draft.heard]
    return Plan(
        resources=_in_order(drafts, order, surroundings),
        referred=distinct([*heard, *listener.heard]),
        surroundings=surroundings,
        declared=parameters,
        values=scope.parameters,
        evaluated_outputs=outputs,
    )


def _refuse_size(order: _Order) -> None:
    if order.depth > TEMPLATE_NESTED_DEPLOYMENTS_MAX:
        raise ShapeError(
            f"Deployments are nested more than {TEMPLATE_NESTED_DEPLOYMENTS_MAX} levels deep"
        )
    whole = [order.template, order.parameters]
    # Everything takes a byte at least. Counting refuses what cannot be encoded.
    is_large = weight(whole, TEMPLATE_BYTES_MAX) > TEMPLATE_BYTES_MAX
    if is_large or len(encode_json(whole)) > TEMPLATE_BYTES_MAX:
        raise ShapeError(
            f"The template and its parameters have more than {TEMPLATE_BYTES_MAX} bytes"
        )


def _draft(head: Head, order: _Order, surroundings: Surroundings) -> _Draft:
    listener = Listener(surroundings.catalog, surroundings.root)
    scope = head.scope.while_deploying(listener)
    try:
        if not is_deployment(head):
            return _Draft(head, walk(body_of(head), scope), listener.heard)
        nesting = nesting_of(head)
        evaluated = walk(with_properties_only(body_of(head)), scope)
        draft = _Draft(head, evaluated, listener.heard, nesting)
        given = member(evaluated["properties"], "parameters", {})
        if not nesting.is_inner or is_resolved(given):
            draft.inner = _plan_inner(draft, given, order, surroundings)
            draft.heard += draft.inner.referred
    except ExpressionError as error:
        raise error.under(head.path) from None
    return draft


def _plan_inner(draft: _Draft, given: Json, order: _Order, surroundings: Surroundings) -> Plan:
    nesting = draft.nesting
    assert nesting is not None
    if not isinstance(given, dict):
        raise ShapeError("The 'parameters' of a deployment are not an object")
    inner = _Order(
        dict(nesting.template), given, nesting.context, order.budget, depth=order.depth + 1
    )
    if not nesting.is_inner:
        inner = msgspec.structs.replace(
            inner,
            parameters={},
            outer_scope=draft.head.scope,
            outer_catalog=surroundings.catalog,
        )
    try:
        return _plan(inner)
    except ExpressionError as error:
        raise error.inside(f"{draft.head.path}.properties.template") from None


def _in_order(
    drafts: list[_Draft], order: _Order, surroundings: Surroundings
) -> tuple[PlannedResource, ...]:
    ids = {draft.head.key: draft.head.id for draft in drafts}
    needed = {draft.head.key: _needed(draft, ids, surroundings) for draft in drafts}
    by_key = {draft.head.key: draft for draft in drafts}
    return tuple(
        _planned(by_key[key], tuple(ids[other] for other in needed[key]), order, surroundings)
        for key in in_order(needed)
    )


def _needed(draft: _Draft, ids: Mapping[str, str], surroundings: Surroundings) -> list[str]:
    """Return the keys of the resources that come before one."""
    head, catalog = draft.head, surroundings.catalog
    found: list[str] = []
    for text in head.dependencies:
        called = catalog.called(text, surroundings.root)
        if not called:
            raise ShapeError(
                f"The resource '{shown_id(text)}' is not defined in the template"
            ).under(f"{head.path}.dependsOn")
        found += [other.key for other in called]
    for resource_id in (*draft.heard, *parents(head.id)):
        other = catalog.nearest(resource_id)
        # What is inside a resource does not come before it.
        if other is not None and (other.key != head.key or resource_id.lower() == head.key):
            found.append(other.key)
    return [key for key in dict.fromkeys(found) if key in ids]


def _planned(
    draft: _Draft, depends_on: tuple[str, ...], order: _Order, surroundings: Surroundings
) -> PlannedResource:
    head = draft.head

    def plan_inner(look_up: LookUp) -> Plan:
        with refused(f"Unable to process template language expressions for resource '{head.id}'"):
            properties = finished(draft.evaluated["properties"], surroundings.live(look_up))
            later = msgspec.structs.replace(order, budget=Budget())
            return _plan_inner(draft, member(properties, "parameters", {}), later, surroundings)

    return PlannedResource(
        id=head.id,
        type=head.type,
        name=head.name,
        api_version=head.api_version,
        location=head.location,
        depends_on=depends_on,
        surroundings=surroundings,
        evaluated=draft.evaluated,
        inner=draft.inner,
        plan_inner=plan_inner if draft.nesting is not None else None,
    )
