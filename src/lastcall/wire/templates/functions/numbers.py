"""Functions of numbers."""

import math
import re
from collections.abc import Callable
from typing import Final

from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import INTEGER_MAX, NUMBER, Json, Kind, integer

NUMBERS = Library()
INTEGER: Final = Kind.INTEGER
WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*", re.ASCII)
DECIMAL: Final = re.compile(
    r"\s*[+-]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,3})?\s*", re.ASCII
)


@NUMBERS.define("add", INTEGER, INTEGER)
def add(one: int, other: int) -> int:
    """Return a sum."""
    return integer(one + other)


@NUMBERS.define("sub", INTEGER, INTEGER)
def sub(one: int, other: int) -> int:
    """Return a difference."""
    return integer(one - other)


@NUMBERS.define("mul", INTEGER, INTEGER)
def mul(one: int, other: int) -> int:
    """Return a product."""
    return integer(one * other)


@NUMBERS.define("div", INTEGER, INTEGER)
def div(one: int, other: int) -> int:
    """Return a quotient, cut off towards zero."""
    _refuse_zero("div", other)
    quotient = abs(one) // abs(other)
    return integer(quotient if (one < 0) == (other < 0) else -quotient)


@NUMBERS.define("mod", INTEGER, INTEGER)
def mod(one: int, other: int) -> int:
    """Return a remainder, which has the sign of what is divided."""
    _refuse_zero("mod", other)
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


@NUMBERS.define("int", NUMBER | Kind.STRING)
def whole(value: Json) -> int:
    """Return a value as an integer."""
    if isinstance(value, str):
        if not WHOLE.fullmatch(value):
            raise ExpressionError("The argument of 'int' is not a string of digits.")
        return integer(int(value))
    if isinstance(value, float) and not abs(value) <= INTEGER_MAX:
        raise ExpressionError("The argument of 'int' does not fit in a 64-bit integer.")
    return integer(int(value))


@NUMBERS.define("float", NUMBER | Kind.STRING)
def decimal(value: Json) -> float:
    """Return a value as a floating point number."""
    if isinstance(value, str) and not DECIMAL.fullmatch(value):
        raise ExpressionError("The argument of 'float' is not a number.")
    result = float(value)
    if not math.isfinite(result):
        raise ExpressionError("The argument of 'float' is out of range.")
    return result


@NUMBERS.define("min", INTEGER | Kind.ARRAY, more=INTEGER)
def smallest(first: Json, *others: int) -> int:
    """Return the smallest of the numbers, or of an array of them."""
    return _extreme("min", min, first, others)


@NUMBERS.define("max", INTEGER | Kind.ARRAY, more=INTEGER)
def largest(first: Json, *others: int) -> int:
    """Return the largest of the numbers, or of an array of them."""
    return _extreme("max", max, first, others)


def _extreme(
    name: str, choose: Callable[[list[int]], int], first: Json, others: tuple[int, ...]
) -> int:
    numbers = [*first, *others] if isinstance(first, list) else [first, *others]
    if not numbers or not all(type(number) is int for number in numbers):
        raise ExpressionError(f"'{name}' takes integers, or an array of at least one integer.")
    return choose(numbers)


def _refuse_zero(name: str, divisor: int) -> None:
    if divisor == 0:
        raise ExpressionError(f"The divisor of '{name}' is zero.")
