"""Reading single values out of a model as clients send it: typed, by path, refusing by path."""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

import msgspec

from lastcall.engine.errors import InvalidParameterError
from lastcall.wire.durations import encode_duration, parse_duration
from lastcall.wire.quoting import shown

E = TypeVar("E", bound=StrEnum)
BOOLEANS = {"true": True, "false": False}
NUMBER = re.compile(r"-?[0-9]{1,9}")


def refuse(path: str, value: object, wanted: str) -> NoReturn:
    """Refuse a value, naming it, its place and what is wanted there."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    raise InvalidParameterError(
        f"The value '{shown(text)}' of '{path}' is not {wanted}.", target=path
    )


def lookup(document: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a dotted path, None where nothing does; refuse a broken path.

    A step such as `roles[0]` leads into an array that is known to be that long.
    """
    here: Any = document
    passed: list[str] = []
    for key in path.split("."):
        if here is None:
            return None
        if not isinstance(here, Mapping):
            refuse(".".join(passed), here, "an object")
        name, _, index = key.partition("[")
        here = here.get(name)
        if index:
            here = here[int(index[:-1])]
        passed.append(key)
    return here


def coerced_boolean(value: Any) -> Any:
    """Return a boolean for the strings "true" and "false", anything else as it is."""
    return BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value


def coerced_number(value: Any) -> Any:
    """Return a number for a string of digits, anything else as it is."""
    return int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else value


def spelled(value: Any, kind: type[StrEnum]) -> Any:
    """Return a word in the spelling of its kind, anything unknown as it is."""
    if not isinstance(value, str):
        return value
    return next((str(word) for word in kind if word.lower() == value.lower()), value)


def object_at(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Return the object at a path, an empty one where there is none, or refuse."""
    value = lookup(document, path)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(path, value, "an object")
    return value


def boolean_at(document: Mapping[str, Any], path: str, *, default: bool) -> bool:
    """Return the boolean at a path, the default where there is none, or refuse."""
    value = coerced_boolean(lookup(document, path))
    if value is None:
        return default
    if not isinstance(value, bool):
        refuse(path, value, "true or false")
    return value


def number_at(document: Mapping[str, Any], path: str, allowed: range | None = None) -> int | None:
    """Return the whole number at a path, None where there is none, or refuse."""
    value = coerced_number(lookup(document, path))
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(path, value, "a whole number")
    if allowed is not None and value not in allowed:
        refuse(path, value, f"from {allowed[0]} to {allowed[-1]}")
    return value


def text_at(document: Mapping[str, Any], path: str) -> str | None:
    """Return the string at a path, None where there is none, or refuse."""
    value = lookup(document, path)
    if value is not None and not isinstance(value, str):
        refuse(path, value, "a string")
    return value


def texts_at(document: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Return the strings of the array at a path, none where there is no array, or refuse."""
    value = lookup(document, path)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        refuse(path, value, "an array of strings")
    return tuple(value)


def word_at(document: Mapping[str, Any], path: str, default: E) -> E:
    """Return the word at a path, in whatever case, the default where there is none, or refuse."""
    value = text_at(document, path)
    return default if value is None else word(value, path, type(default))


def word(value: str, path: str, kind: type[E]) -> E:
    """Return a value as one of the words of its kind, in whatever case, or refuse."""
    found = spelled(value, kind)
    if found not in set(kind):
        refuse(path, value, f"one of {', '.join(kind)}")
    return kind(found)


def duration_at(
    document: Mapping[str, Any], path: str, shortest: timedelta, longest: timedelta
) -> timedelta | None:
    """Return the duration at a path, None where there is none, or refuse."""
    value = lookup(document, path)
    return None if value is None else duration(value, path, shortest, longest)


def duration(value: Any, path: str, shortest: timedelta, longest: timedelta) -> timedelta:
    """Return a value as a duration, or refuse."""
    bounds = dict.fromkeys((encode_duration(shortest), encode_duration(longest)))
    wanted = f"an ISO 8601 duration {'from ' if len(bounds) > 1 else 'of '}{' to '.join(bounds)}"
    if not isinstance(value, str):
        refuse(path, value, wanted)
    try:
        length = parse_duration(value)
    except InvalidParameterError:
        refuse(path, value, wanted)
    if not shortest <= length <= longest:
        refuse(path, value, wanted)
    return length
