"""Functions of objects."""

from lastcall.wire.templates.evaluator import has, item
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.functions.encodings import parsed
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import ANY, Json, Kind

OBJECTS = Library()
OBJECT = Kind.OBJECT


@OBJECTS.define("createObject", more=ANY)
def create_object(*parts: Json) -> dict[str, Json]:
    """Return an object of names and values in turn."""
    names, values = parts[::2], parts[1::2]
    if len(names) != len(values) or not all(isinstance(name, str) for name in names):
        raise ExpressionError("'createObject' takes a string and a value in turn.")
    return dict(zip(names, values, strict=True))


@OBJECTS.define("json", Kind.STRING)
def json(text: str) -> Json:
    """Return the value that a string of JSON stands for."""
    return parsed(text)


@OBJECTS.define("items", OBJECT)
def items(owner: dict[str, Json]) -> list[Json]:
    """Return the members of an object as an array of key and value, in the order of the keys."""
    return [{"key": key, "value": owner[key]} for key in _ordered(owner)]


@OBJECTS.define("objectKeys", OBJECT)
def object_keys(owner: dict[str, Json]) -> list[str]:
    """Return the names of an object's members, in order."""
    return _ordered(owner)


@OBJECTS.define("shallowMerge", Kind.ARRAY)
def shallow_merge(owners: list[Json]) -> dict[str, Json]:
    """Return the members of all objects of an array, the later ones winning."""
    if not all(isinstance(owner, dict) for owner in owners):
        raise ExpressionError("The items of the array that 'shallowMerge' takes are not objects.")
    return {key: value for owner in owners for key, value in owner.items()}


@OBJECTS.define("tryGet", ANY, ANY, more=ANY)
def try_get(owner: Json, *keys: Json) -> Json:
    """Return what is at a key or an index, and there at the next; null if there is nothing."""
    for key in keys:
        if not has(owner, key):
            return None
        owner = item(owner, key)
    return owner


def _ordered(owner: dict[str, Json]) -> list[str]:
    return sorted(owner, key=lambda key: (key.lower(), key))
