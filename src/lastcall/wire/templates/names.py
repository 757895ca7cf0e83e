"""What the names in a template's expressions stand for: its parameters, variables, functions."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import count
from uuid import UUID

import msgspec

from lastcall.engine.limits import TEMPLATE_VARIABLES_MAX
from lastcall.wire.templates.context import Context
from lastcall.wire.templates.documents import is_loops, known, loop_items, loop_name
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.parameters import Parameter, section_of
from lastcall.wire.templates.scope import Budget, Scope, Section
from lastcall.wire.templates.shapes import refuse_many, section
from lastcall.wire.templates.userfunctions import functions_of
from lastcall.wire.templates.values import Json, key_of


def scope_of(
    template: Mapping[str, Json],
    parameters: Mapping[str, Parameter],
    given: Mapping[str, Json],
    context: Context,
    budget: Budget,
) -> Scope:
    """Return the scope of a template's expressions, its parameters being given and right."""
    base = Scope(context, budget, functions_of(template), template)
    values = section_of(parameters, given, lambda: defaults)
    defaults = msgspec.structs.replace(base, parameters=values, draw=_drawer(context.seed))
    for name in parameters:
        values.value(name)
    variables = _variables(section(template, "variables"), lambda: scope)
    scope = msgspec.structs.replace(base, parameters=values, variables=variables)
    return scope


def evaluate_variables(template: Mapping[str, Json], scope: Scope) -> None:
    """Evaluate variables in the order they stand in, so that those that build up do not nest."""
    for name in section(template, "variables"):
        try:
            scope.variables.value(name)
        except ExpressionError:
            # Only a variable that is used has to hold, and then it is refused.
            continue


def _drawer(seed: str) -> Callable[[], str]:
    """Return what draws GUIDs: others for every seed, the same ones for the same."""
    numbers = count()

    def draw() -> str:
        digest = sha256(f"{seed}/{next(numbers)}".encode()).digest()
        return str(UUID(bytes=digest[:16], version=4))

    return draw


def _variables(definitions: Mapping[str, Json], scope: Callable[[], Scope]) -> Section:
    makers: dict[str, Callable[[], Json]] = {}
    copy = key_of(definitions, "copy")
    if copy is not None and is_loops(definitions[copy]):
        for index, loop in enumerate(definitions[copy]):
            makers[loop_name(loop)] = _loop_maker(f"variables.copy[{index}]", loop, scope)
    for name, value in definitions.items():
        if name != copy or not is_loops(value):
            makers[name] = _maker(f"variables.{name}", value, scope)
    refuse_many("variables", len(makers), TEMPLATE_VARIABLES_MAX)
    return Section("variable", makers)


def _maker(path: str, value: Json, scope: Callable[[], Scope]) -> Callable[[], Json]:
    def make() -> Json:
        try:
            return known(value, scope())
        except ExpressionError as error:
            raise error.under(path) from None

    return make


def _loop_maker(path: str, loop: dict[str, Json], scope: Callable[[], Scope]) -> Callable[[], Json]:
    def make() -> Json:
        try:
            return loop_items(loop, scope(), loop_name(loop))
        except ExpressionError as error:
            raise error.under(path) from None

    return make
