"""Evaluates expressions."""

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given
from lastcall.wire.templates.syntax import Access, Call, Literal, Node
from lastcall.wire.templates.values import LATE, Json, Kind, key_of, kind_of


def evaluate(node: Node, scope: Scope) -> Json:
    """Return the value of an expression; LATE if it depends on what is not deployed yet."""
    if isinstance(node, Literal):
        return node.value
    with scope.budget:
        return _called(node, scope) if isinstance(node, Call) else _accessed(node, scope)


def _called(call: Call, scope: Scope) -> Json:
    function = scope.functions.get(call.name)
    if function is None:
        raise ExpressionError(f"The template function '{shown(call.name)}' is not valid.")
    function.refuse_count(len(call.arguments))
    if function.given is Given.SCOPE_AND_EXPRESSIONS:
        value = function.call(scope, *call.arguments)
    else:
        arguments = [evaluate(argument, scope) for argument in call.arguments]
        if any(argument is LATE for argument in arguments):
            return LATE
        function.refuse_kinds(arguments)
        first = (scope,) if function.given is Given.SCOPE_AND_VALUES else ()
        value = function.call(*first, *arguments)
    if value is not LATE:
        scope.budget.spend(value)
    return value


def _accessed(access: Access, scope: Scope) -> Json:
    value = evaluate(access.target, scope)
    for step in access.steps:
        key = evaluate(step.key, scope)
        if value is LATE or key is LATE:
            # What is left may still refer to other resources, or be wrong.
            value = LATE
        elif step.is_safe and (value is None or not has(value, key)):
            return None
        else:
            value = item(value, key)
    return value


def has(owner: Json, key: Json) -> bool:
    """Whether there is something at a key of an object, or at an index of an array."""
    if isinstance(owner, dict) and isinstance(key, str):
        return key_of(owner, key) is not None
    return isinstance(owner, list) and kind_of(key) is Kind.INTEGER and 0 <= key < len(owner)


def item(owner: Json, key: Json) -> Json:
    """Return what is at a key of an object, or at an index of an array, or refuse."""
    if isinstance(owner, dict) and isinstance(key, str):
        name = key_of(owner, key)
        if name is None:
            names = shown(", ".join(owner)) or "none"
            raise ExpressionError(
                f"The language expression property '{shown(key)}' doesn't exist, available"
                f" properties are '{names}'."
            )
        return owner[name]
    if isinstance(owner, list) and kind_of(key) is Kind.INTEGER:
        if not 0 <= key < len(owner):
            raise ExpressionError(
                f"The language expression property array index '{key}' is out of bounds: the array"
                f" has {len(owner)} item(s)."
            )
        return owner[key]
    raise ExpressionError(
        f"The language expression property of a value of type '{kind_of(owner)}' can't be found by"
        f" a key of type '{kind_of(key)}'."
    )
