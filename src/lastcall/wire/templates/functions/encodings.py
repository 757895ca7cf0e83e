"""Functions that write a value as another string, and read it back."""

import base64
import binascii
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urljoin

import msgspec

from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import Json, Kind, refuse_size

ENCODINGS = Library()
STRING: Final = Kind.STRING


@ENCODINGS.define("base64", STRING)
def to_base64(text: str) -> str:
    """Return a string in base 64."""
    return base64.b64encode(_bytes(text)).decode()


@ENCODINGS.define("base64ToString", STRING)
def base64_to_string(text: str) -> str:
    """Return the string that was written in base 64."""
    try:
        return base64.b64decode(_bytes(text), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ExpressionError("The argument is not the base 64 of a string.") from None


@ENCODINGS.define("base64ToJson", STRING)
def base64_to_json(text: str) -> Json:
    """Return the value whose JSON was written in base 64."""
    return parsed(base64_to_string(text))


@ENCODINGS.define("dataUri", STRING)
def data_uri(text: str) -> str:
    """Return a string as a data URI."""
    return f"data:text/plain;charset=utf8;base64,{to_base64(text)}"


@ENCODINGS.define("dataUriToString", STRING)
def data_uri_to_string(uri: str) -> str:
    """Return the string that a data URI carries."""
    head, comma, data = uri.partition(",")
    if not (head.startswith("data:") and comma):
        raise ExpressionError("The argument is not a data URI.")
    if head.lower().endswith(";base64"):
        return base64_to_string(data)
    return uri_component_to_string(data)


@ENCODINGS.define("uri", STRING, STRING)
def uri(start: str, rest: str) -> str:
    """Return a URI, and another relative to it, as one."""
    try:
        return urljoin(start, rest)
    except ValueError:
        raise ExpressionError(
            "The arguments of 'uri' are not a URI and one relative to it."
        ) from None


@ENCODINGS.define("uriComponent", STRING)
def uri_component(text: str) -> str:
    """Return a string as it can stand in a URI."""
    return quote(_bytes(text), safe="~")


@ENCODINGS.define("uriComponentToString", STRING)
def uri_component_to_string(text: str) -> str:
    """Return the string that stands in a URI."""
    try:
        return unquote_to_bytes(_bytes(text)).decode()
    except UnicodeDecodeError:
        raise ExpressionError("The argument is not a string that was encoded for a URI.") from None


def parsed(text: str) -> Json:
    """Return the value of JSON text, or refuse."""
    refuse_size(len(text))
    try:
        return msgspec.json.decode(_bytes(text))
    except (msgspec.DecodeError, RecursionError):
        raise ExpressionError("The argument is not valid JSON.") from None


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ExpressionError("The argument has characters that are not Unicode.") from None
