"""The functions that a template defines itself, in namespaces."""

from collections.abc import Mapping
from functools import partial

import msgspec

from lastcall.wire.quoting import shown
from lastcall.wire.templates.documents import known
from lastcall.wire.templates.faults import ExpressionError, ShapeError
from lastcall.wire.templates.functions import FUNCTIONS
from lastcall.wire.templates.parameters import type_of
from lastcall.wire.templates.scope import Scope, Section
from lastcall.wire.templates.shapes import entry, section
from lastcall.wire.templates.signatures import Function, Given, Table
from lastcall.wire.templates.values import Json, kind_of, member


def functions_of(template: Mapping[str, Json]) -> Table:
    """Return every function that the expressions of a template can call."""
    namespaces = member(template, "functions", [])
    if not isinstance(namespaces, list):
        raise ShapeError("'functions' is not an array").under("functions")
    table = dict(FUNCTIONS)
    for index, namespace in enumerate(namespaces):
        try:
            table |= _namespace(namespace)
        except ExpressionError as error:
            raise error.under(f"functions[{index}]") from None
    return table


def _namespace(namespace: Json) -> Table:
    if not isinstance(namespace, dict) or not isinstance(member(namespace, "namespace"), str):
        raise ShapeError("Functions are defined by an object with a 'namespace' and 'members'")
    members = section(namespace, "members")
    start = member(namespace, "namespace")
    return {
        f"{start}.{name}".lower(): _function(f"{start}.{name}", entry(members, name))
        for name in members
    }


def _function(name: str, definition: Mapping[str, Json]) -> Function:
    given = member(definition, "parameters", [])
    if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
        raise ShapeError(f"The parameters of the function '{shown(name)}' are not objects")
    names = [str(member(part, "name")) for part in given]
    kinds = tuple(type_of(part)[0] for part in given)
    output = section(definition, "output")
    kind, type_name = type_of(output)

    def call(scope: Scope, *arguments: Json) -> Json:
        values = dict(zip(names, arguments, strict=True))
        result = known(member(output, "value"), _inside(scope, values))
        if kind_of(result) is not kind:
            raise ExpressionError(
                f"The function '{shown(name)}' returns a value of type '{kind_of(result)}', not"
                f" '{type_name}'."
            )
        return result

    return Function(name, call, kinds, len(kinds), None, Given.SCOPE_AND_VALUES)


def _inside(scope: Scope, values: Mapping[str, Json]) -> Scope:
    """Return the scope of a function's body: it knows its own parameters and nothing else."""
    return msgspec.structs.replace(
        scope,
        functions=FUNCTIONS,
        parameters=Section("parameter", {name: partial(_same, values[name]) for name in values}),
        variables=Section("variable", {}),
        loops={},
        index=None,
        runtime=None,
        draw=None,
        locals={},
    )


def _same(value: Json) -> Json:
    return value
