"""Functions of arrays."""

from typing import Final

from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import ANY, Json, Kind, refuse_size

ARRAYS = Library()
RANGE_MAX: Final = 10_000
RANGE_END_MAX: Final = 2**31 - 1


@ARRAYS.define("array", ANY)
def array(value: Json) -> list[Json]:
    """Return a value as the only item of an array; an array stays what it is."""
    return value if isinstance(value, list) else [value]


@ARRAYS.define("createArray", more=ANY)
def create_array(*values: Json) -> list[Json]:
    """Return an array of the arguments."""
    return list(values)


@ARRAYS.define("range", Kind.INTEGER, Kind.INTEGER)
def number_range(start: int, count: int) -> list[int]:
    """Return consecutive numbers."""
    if not 0 <= count <= RANGE_MAX or start + count > RANGE_END_MAX:
        raise ExpressionError(
            f"'range' makes 0 to {RANGE_MAX} numbers, none above {RANGE_END_MAX}; asked for are"
            f" {count} from {start}."
        )
    return list(range(start, start + count))


@ARRAYS.define("flatten", Kind.ARRAY)
def flatten(arrays: list[Json]) -> list[Json]:
    """Return the items of an array of arrays."""
    if not all(isinstance(items, list) for items in arrays):
        raise ExpressionError("The items of the array that 'flatten' takes are not all arrays.")
    refuse_size(sum(map(len, arrays)))
    return [item for items in arrays for item in items]
