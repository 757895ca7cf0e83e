"""JSON bodies: read one safely, write one compactly or in the provider's pretty form."""

from collections.abc import Iterable
from typing import Any

import msgspec

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire.spelling import with_known_names

# Far more than any model has, far less than what recursion in our own code can bear.
DEPTH_MAX = 64


def parse_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a request carries, its names as documented, or refuse."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refusal(str(error)) from error
    except RecursionError as error:
        raise _refusal("JSON is nested too deeply") from error
    if not isinstance(value, dict):
        raise _refusal("a JSON object was expected")
    refuse_depth(value)
    named: dict[str, Any] = with_known_names(value)
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


def _refusal(reason: str) -> InvalidRequestContentError:
    return InvalidRequestContentError(
        f"The request content was invalid and could not be deserialized: '{reason}'."
    )
