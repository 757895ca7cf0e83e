"""Functions that are given a function: lambda('x', ...) over the items of an array."""

from collections.abc import Callable
from functools import cmp_to_key
from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.evaluator import evaluate
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given, Library
from lastcall.wire.templates.syntax import Call, Literal, Node
from lastcall.wire.templates.values import ANY, LATE, Json, Kind, kind_of

LAMBDAS = Library()
LAZY: Final = Given.SCOPE_AND_EXPRESSIONS


class _LateError(Exception):
    """What a lambda function decides depends on what is not deployed yet."""


@LAMBDAS.define("lambdaVariables", Kind.STRING, given=Given.SCOPE_AND_VALUES)
def lambda_variables(scope: Scope, name: str) -> Json:
    """Return what a variable of the surrounding lambda function stands for."""
    if name.lower() not in scope.locals:
        raise ExpressionError(f"The lambda variable '{shown(name)}' is not found.")
    return scope.locals[name.lower()]


@LAMBDAS.define("lambda", more=ANY, given=LAZY)
def alone(_scope: Scope, *_: Node) -> Json:
    """Refuse a lambda function where none is expected."""
    raise ExpressionError("The template function 'lambda' is not expected at this location.")


@LAMBDAS.define("map", ANY, ANY, given=LAZY)
def map_items(scope: Scope, items: Node, body: Node) -> Json:
    """Return what a function makes of each item."""

    def mapped(array: list[Json]) -> Json:
        make = _function("map", body, scope, 1, 2)
        return _together([make(item, index) for index, item in enumerate(array)])

    return _over("map", items, scope, mapped)


@LAMBDAS.define("filter", ANY, ANY, given=LAZY)
def filter_items(scope: Scope, items: Node, body: Node) -> Json:
    """Return the items for which a function is true."""

    def filtered(array: list[Json]) -> Json:
        wanted = _function("filter", body, scope, 1, 2)
        return [item for index, item in enumerate(array) if _truth("filter", wanted(item, index))]

    return _over("filter", items, scope, filtered)


@LAMBDAS.define("sort", ANY, ANY, given=LAZY)
def sort_items(scope: Scope, items: Node, body: Node) -> Json:
    """Return the items in order; the function tells whether one comes before another."""

    def ordered(array: list[Json]) -> Json:
        before = _function("sort", body, scope, 2, 2)

        def compared(one: Json, other: Json) -> int:
            if _truth("sort", before(one, other)):
                return -1
            return 1 if _truth("sort", before(other, one)) else 0

        return sorted(array, key=cmp_to_key(compared))

    return _over("sort", items, scope, ordered)


@LAMBDAS.define("reduce", ANY, ANY, ANY, given=LAZY)
def reduce_items(scope: Scope, items: Node, start: Node, body: Node) -> Json:
    """Return what a function makes of the items, one after the other."""

    def reduced(array: list[Json]) -> Json:
        join = _function("reduce", body, scope, 2, 3)
        result = evaluate(start, scope)
        for index, item in enumerate(array):
            result = join(result, item, index)
        return result

    return _over("reduce", items, scope, reduced)


@LAMBDAS.define("toObject", ANY, ANY, ANY, optional=1, given=LAZY)
def to_object(scope: Scope, items: Node, key: Node, value: Node | None = None) -> Json:
    """Return an object of the keys, and values, that functions make of each item."""

    def collected(array: list[Json]) -> Json:
        name = _function("toObject", key, scope, 1, 1)
        content = _function("toObject", value, scope, 1, 1) if value else None
        names = [_name(name(item)) for item in array]
        values = _together([content(item) for item in array]) if content else array
        return LATE if values is LATE else dict(zip(names, values, strict=True))

    return _over("toObject", items, scope, collected)


def _over(name: str, items: Node, scope: Scope, work: Callable[[list[Json]], Json]) -> Json:
    array = evaluate(items, scope)
    if array is LATE:
        return LATE
    if not isinstance(array, list):
        raise ExpressionError(
            f"Unable to evaluate template function '{name}': argument 1 is of type"
            f" '{kind_of(array)}', expected is 'Array'."
        )
    try:
        return work(array)
    except _LateError:
        return LATE


def _function(name: str, node: Node, scope: Scope, fewest: int, most: int) -> Callable[..., Json]:
    """Return a lambda function as one of Python; values beyond its parameters are dropped."""
    if not isinstance(node, Call) or node.name != "lambda" or not node.arguments:
        raise ExpressionError(f"'{name}' takes a lambda function.")
    *names, body = node.arguments
    keys = [
        part.value.lower()
        for part in names
        if isinstance(part, Literal) and isinstance(part.value, str)
    ]
    if len(keys) != len(names) or not fewest <= len(keys) <= most:
        raise ExpressionError(
            f"The lambda function of '{name}' takes {fewest} to {most} names and an expression."
        )

    def call(*values: Json) -> Json:
        return evaluate(body, scope.with_locals(dict(zip(keys, values, strict=False))))

    return call


def _together(values: list[Json]) -> Json:
    return LATE if any(value is LATE for value in values) else values


def _truth(name: str, value: Json) -> bool:
    if value is LATE:
        raise _LateError
    if not isinstance(value, bool):
        raise ExpressionError(
            f"The lambda function of '{name}' returns a value of type '{kind_of(value)}', not"
            " 'Boolean'."
        )
    return value


def _name(value: Json) -> str:
    if value is LATE:
        raise _LateError
    if not isinstance(value, str):
        raise ExpressionError(
            f"The key that the lambda function of 'toObject' returns is of type '{kind_of(value)}',"
            " not 'String'."
        )
    return value
