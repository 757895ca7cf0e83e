"""Functions that take strings, arrays or objects alike."""

from typing import Final

from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import (
    ANY,
    Json,
    Kind,
    identity,
    key_of,
    kind_of,
    refuse_size,
    same,
    text_of,
)

CONTAINERS = Library()
SEQUENCE: Final = Kind.STRING | Kind.ARRAY
CONTAINER: Final = SEQUENCE | Kind.OBJECT


@CONTAINERS.define("concat", ANY, more=ANY)
def concat(*values: Json) -> Json:
    """Return arrays, or anything as strings, one after the other."""
    if isinstance(values[0], list):
        if not all(isinstance(value, list) for value in values):
            raise ExpressionError("The arguments of 'concat' are neither all arrays nor all texts.")
        refuse_size(sum(map(len, values)))
        return [item for value in values for item in value]
    if any(isinstance(value, list | dict) for value in values):
        raise ExpressionError("The arguments of 'concat' are neither all arrays nor all texts.")
    texts = [text_of(value) for value in values]
    refuse_size(sum(map(len, texts)))
    return "".join(texts)


@CONTAINERS.define("length", CONTAINER)
def length(value: Json) -> int:
    """Return the number of characters, items or members."""
    return len(value)


@CONTAINERS.define("empty", CONTAINER | Kind.NULL)
def empty(value: Json) -> bool:
    """Whether there is nothing in a value."""
    return not value


@CONTAINERS.define("contains", CONTAINER, ANY)
def contains(owner: Json, part: Json) -> bool:
    """Whether a string has a part, an array an item, an object a member in whatever case."""
    if isinstance(owner, list):
        return _position(owner, part) >= 0
    if not isinstance(part, str | int | float) or isinstance(part, bool):
        raise ExpressionError(
            f"'contains' can't look for a value of type '{kind_of(part)}' in one of type"
            f" '{kind_of(owner)}'."
        )
    if isinstance(owner, str):
        return text_of(part) in owner
    return key_of(owner, text_of(part)) is not None


@CONTAINERS.define("indexOf", SEQUENCE, ANY)
def index_of(owner: Json, part: Json) -> int:
    """Return where a part first stands, -1 if nowhere; strings in whatever case."""
    if isinstance(owner, list):
        return _position(owner, part)
    return str(owner).lower().find(_lowered(part))


@CONTAINERS.define("lastIndexOf", SEQUENCE, ANY)
def last_index_of(owner: Json, part: Json) -> int:
    """Return where a part last stands, -1 if nowhere; strings in whatever case."""
    if isinstance(owner, list):
        found = _position(owner[::-1], part)
        return len(owner) - 1 - found if found >= 0 else -1
    return str(owner).lower().rfind(_lowered(part))


@CONTAINERS.define("first", SEQUENCE)
def first(owner: Json) -> Json:
    """Return the first item of an array, or character of a string."""
    return owner[0] if owner else _nothing_in(owner)


@CONTAINERS.define("last", SEQUENCE)
def last(owner: Json) -> Json:
    """Return the last item of an array, or character of a string."""
    return owner[-1] if owner else _nothing_in(owner)


@CONTAINERS.define("skip", SEQUENCE, Kind.INTEGER)
def skip(owner: Json, count: int) -> Json:
    """Return what comes after the first items or characters."""
    return owner[max(0, count) :]


@CONTAINERS.define("take", SEQUENCE, Kind.INTEGER)
def take(owner: Json, count: int) -> Json:
    """Return the first items or characters."""
    return owner[: max(0, count)]


@CONTAINERS.define("union", CONTAINER, CONTAINER, more=CONTAINER)
def union(*values: Json) -> Json:
    """Return what is in any of the arrays, or the objects merged, the later ones winning."""
    _refuse_mixture("union", values)
    if isinstance(values[0], list):
        refuse_size(sum(map(len, values)))
        return list({identity(item): item for value in values for item in value}.values())
    result: dict[str, Json] = {}
    for value in values:
        result = _merged(result, value)
    return result


@CONTAINERS.define("intersection", CONTAINER, CONTAINER, more=CONTAINER)
def intersection(first_one: Json, *others: Json) -> Json:
    """Return what is in all of the arrays, or the same in all of the objects."""
    _refuse_mixture("intersection", (first_one, *others))
    if isinstance(first_one, list):
        shared = set.intersection(*({identity(item) for item in other} for other in others))
        distinct = {identity(item): item for item in first_one}
        return [item for key, item in distinct.items() if key in shared]
    return {
        key: value
        for key, value in first_one.items()
        if all(key in other and same(value, other[key]) for other in others)
    }


def _position(items: list[Json], wanted: Json) -> int:
    return next((index for index, item in enumerate(items) if same(item, wanted)), -1)


def _lowered(part: Json) -> str:
    if not isinstance(part, str):
        raise ExpressionError(
            f"What is looked for in a string is of type '{kind_of(part)}', not 'String'."
        )
    return part.lower()


def _nothing_in(owner: Json) -> Json:
    # Azure: null for an array, an empty string for a string.
    return "" if isinstance(owner, str) else None


def _refuse_mixture(name: str, values: tuple[Json, ...]) -> None:
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1 or kinds == {Kind.STRING}:
        raise ExpressionError(f"The arguments of '{name}' are not all arrays or all objects.")


def _merged(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    result = dict(one)
    for given, value in other.items():
        key = key_of(result, given) or given
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _merged(result[key], value) if both else value
    return result
