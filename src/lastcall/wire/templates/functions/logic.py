"""Functions that decide and compare."""

from typing import Final

from lastcall.wire.templates.evaluator import evaluate
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given, Library
from lastcall.wire.templates.syntax import Node
from lastcall.wire.templates.values import ANY, LATE, NUMBER, Json, Kind, kind_of, same

LOGIC = Library()
BOOLEAN: Final = Kind.BOOLEAN
ORDERED: Final = NUMBER | Kind.STRING
SPELLINGS: Final = {"true": True, "1": True, "false": False, "0": False}


@LOGIC.define("true")
def true() -> bool:
    """Return true."""
    return True


@LOGIC.define("false")
def false() -> bool:
    """Return false."""
    return False


@LOGIC.define("null")
def null() -> None:
    """Return null."""
    return


@LOGIC.define("if", ANY, ANY, ANY, given=Given.SCOPE_AND_EXPRESSIONS)
def choose(scope: Scope, condition: Node, when_true: Node, when_false: Node) -> Json:
    """Return one of two values; the other one is not evaluated."""
    decision = evaluate(condition, scope)
    if decision is LATE:
        _glance(when_true, scope)
        _glance(when_false, scope)
        return LATE
    if not isinstance(decision, bool):
        raise ExpressionError(f"The condition of 'if' is of type '{kind_of(decision)}'.")
    return evaluate(when_true if decision else when_false, scope)


def _glance(node: Node, scope: Scope) -> None:
    """Note what an expression refers to; whether it holds is seen when it is chosen."""
    try:
        evaluate(node, scope)
    except ExpressionError:
        return


@LOGIC.define("coalesce", ANY, more=ANY)
def coalesce(*values: Json) -> Json:
    """Return the first value that is not null."""
    return next((value for value in values if value is not None), None)


@LOGIC.define("and", BOOLEAN, BOOLEAN, more=BOOLEAN)
def both(*values: bool) -> bool:
    """Whether all are true."""
    return all(values)


@LOGIC.define("or", BOOLEAN, BOOLEAN, more=BOOLEAN)
def either(*values: bool) -> bool:
    """Whether any is true."""
    return any(values)


@LOGIC.define("not", BOOLEAN)
def opposite(value: bool) -> bool:  # noqa: FBT001  # A value of the language, not a switch.
    """Return the other one of true and false."""
    return not value


@LOGIC.define("bool", BOOLEAN | Kind.INTEGER | Kind.STRING)
def boolean(value: Json) -> bool:
    """Return a string or a number as true or false."""
    if isinstance(value, str):
        found = SPELLINGS.get(value.strip().lower())
        if found is None:
            raise ExpressionError("The argument of 'bool' is neither 'true' nor 'false'.")
        return found
    return bool(value)


@LOGIC.define("equals", ANY, ANY)
def equals(one: Json, other: Json) -> bool:
    """Whether two values are the same; strings in the same case."""
    return same(one, other)


@LOGIC.define("less", ORDERED, ORDERED)
def less(one: Json, other: Json) -> bool:
    """Whether the first comes before the second."""
    _refuse_mixture("less", one, other)
    return bool(one < other)


@LOGIC.define("lessOrEquals", ORDERED, ORDERED)
def less_or_equals(one: Json, other: Json) -> bool:
    """Whether the first does not come after the second."""
    _refuse_mixture("lessOrEquals", one, other)
    return bool(one <= other)


@LOGIC.define("greater", ORDERED, ORDERED)
def greater(one: Json, other: Json) -> bool:
    """Whether the first comes after the second."""
    _refuse_mixture("greater", one, other)
    return bool(one > other)


@LOGIC.define("greaterOrEquals", ORDERED, ORDERED)
def greater_or_equals(one: Json, other: Json) -> bool:
    """Whether the first does not come before the second."""
    _refuse_mixture("greaterOrEquals", one, other)
    return bool(one >= other)


def _refuse_mixture(name: str, one: Json, other: Json) -> None:
    if isinstance(one, str) != isinstance(other, str):
        raise ExpressionError(f"'{name}' can't compare a string with a number.")
