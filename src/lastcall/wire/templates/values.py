"""The values that expressions work on: JSON, and what is not known before deployment."""

from collections.abc import Iterable, Mapping
from enum import Flag
from typing import Any, Final

import msgspec

from lastcall.engine.limits import TEMPLATE_BYTES_MAX, TEMPLATE_DEPTH_MAX
from lastcall.wire.templates.faults import ExpressionError

# A JSON value, or LATE. Nobody ever changes one: parts of it are shared.
Json = Any

INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1
# What a string of so many characters costs, as much as one more value.
CHARACTERS_PER_VALUE: Final = 16


class Late:
    """The type of LATE."""

    def __repr__(self) -> str:
        return "LATE"


# What an expression is worth while it depends on resources that are not deployed yet.
LATE: Final = Late()


class Kind(Flag):
    """The kinds of values, alone or as a choice."""

    NULL = 1
    BOOLEAN = 2
    INTEGER = 4
    FLOAT = 8
    STRING = 16
    ARRAY = 32
    OBJECT = 64

    def __str__(self) -> str:
        names = [str(kind.name).capitalize() for kind in self]
        return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


ANY: Final = ~Kind(0)
NUMBER: Final = Kind.INTEGER | Kind.FLOAT

_KINDS: Final[dict[type, Kind]] = {
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    float: Kind.FLOAT,
    str: Kind.STRING,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}


def kind_of(value: Json) -> Kind:
    """Return the kind of a value; LATE has none."""
    return _KINDS[type(value)]


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal: unlike in Python, 1, 1.0 and true all differ."""
    if type(one) is not type(other):
        return False
    return identity(one) == identity(other)


def identity(value: Json) -> bytes:
    """Return what is the same for equal values, and only for those."""
    return msgspec.json.encode(value, order="sorted")


def member(owner: Mapping[str, Json], name: str, default: Json = None) -> Json:
    """Return a member of an object, its name in whatever case."""
    key = key_of(owner, name)
    return default if key is None else owner[key]


def key_of(owner: Mapping[str, Json], name: str) -> str | None:
    """Return how an object spells a name, None if it does not have it."""
    if name in owner:
        return name
    lowered = name.lower()
    return next((key for key in owner if key.lower() == lowered), None)


def weight(value: Json, most: int) -> int:
    """Return how much there is of a value, or more than `most`; refuse one nested too deeply.

    Parts that a value shares are counted every time, and not looked at beyond `most`.
    """
    total = _cost(value)
    if not isinstance(value, dict | list):
        return total
    level = [value]
    for _ in range(TEMPLATE_DEPTH_MAX):
        parents = [value for value in level if isinstance(value, dict | list) and value]
        if not parents:
            return total
        total += sum(map(len, parents))
        if total > most:
            return total
        level = [child for parent in parents for child in _children(parent)]
        total += sum(map(_cost, level))
    raise ExpressionError(f"A value is nested more than {TEMPLATE_DEPTH_MAX} levels deep.")


def _children(parent: dict[str, Json] | list[Json]) -> Iterable[Json]:
    return parent.values() if isinstance(parent, dict) else parent


def _cost(value: Json) -> int:
    if isinstance(value, str):
        return 1 + len(value) // CHARACTERS_PER_VALUE
    if isinstance(value, dict):
        return 1 + sum(map(len, value)) // CHARACTERS_PER_VALUE
    if type(value) is int:
        integer(value)
    return 1


def integer(value: int) -> int:
    """Return an integer, or refuse one that does not fit in 64 bits."""
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise ExpressionError("A number does not fit in a 64-bit integer.")
    return value


def text_of(value: Json) -> str:
    """Return a value as text: a string as it is, anything else as .NET and JSON write it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    return "" if value is None else msgspec.json.encode(value).decode()


def refuse_size(count: int) -> None:
    """Refuse a result with more characters or items than a template may have, before it is made."""
    if count > TEMPLATE_BYTES_MAX:
        raise ExpressionError(
            f"The result would have {count} characters or items; the limit is {TEMPLATE_BYTES_MAX}."
        )
