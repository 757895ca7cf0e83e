"""JSON bodies: read one safely, write one compactly or in the provider's pretty form."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire.quoting import shown
from lastcall.wire.spelling import with_known_names

# Far more than any model has, far less than what recursion in our own code can bear.
DEPTH_MAX = 64
# The service's whole numbers have 32 or 64 bits.
NUMBER_BITS_MAX = 63


def parse_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a request carries, its names as documented, or refuse."""
    named: dict[str, Any] = with_known_names(parse_object(body))
    return named


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a request carries, its names as they were given, or refuse."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refusal(str(error)) from error
    except RecursionError as error:
        raise _refusal("JSON is nested too deeply") from error
    if not isinstance(value, dict):
        raise _refusal("a JSON object was expected")
    refuse_depth(value)
    _refuse_scalars(value)
    _refuse_duplicates(body)
    return value


def parse_stored(body: bytes) -> dict[str, Any]:
    """Return a model that was checked before it was kept, its names as documented today."""
    named: dict[str, Any] = with_known_names(msgspec.json.decode(body))
    return named


def encode_json(value: object) -> bytes:
    """Return compact JSON, on one line."""
    return msgspec.json.encode(value)


def encode_pretty(value: object) -> bytes:
    """Return JSON as the compute provider writes it: two spaces, CRLF (R98, R110, R113)."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).replace(b"\n", b"\r\n")


def refuse_depth(value: object) -> None:
    """Refuse what is nested more deeply than a body may be: it could not be read again."""
    level: list[object] = [value]
    for _ in range(DEPTH_MAX):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise _refusal("JSON is nested too deeply")


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse_scalars(value: object) -> None:
    """Refuse what JSON may hold and no model has: the character NUL, numbers beyond 64 bits."""
    if isinstance(value, str) and "\0" in value:
        raise _refusal("a string holds the character NUL")
    if isinstance(value, int) and value.bit_length() > NUMBER_BITS_MAX:
        raise _refusal("a number is out of range")
    for name in value if isinstance(value, dict) else ():
        _refuse_scalars(name)
    for child in _children(value):
        _refuse_scalars(child)


def _refuse_duplicates(body: bytes) -> None:
    """Refuse a member that is given twice: nobody could say which one counts."""
    json.loads(body, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _refusal(f"the member {shown(twice)} is given twice")


def _refusal(reason: str) -> InvalidRequestContentError:
    return InvalidRequestContentError(
        f"The request content was invalid and could not be deserialized: '{reason}'."
    )
