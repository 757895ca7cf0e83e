"""Expressions into tokens."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.values import INTEGER_MAX, INTEGER_MIN, Json

INTEGER_CHARACTERS_MAX: Final = len(str(INTEGER_MIN))
END: Final = "EndOfData"

# One group per token, named as Azure's messages name it. ASCII digits only.
TOKEN: Final = re.compile(
    r"""
    (?P<String>'(?:[^']|'')*')
    | (?P<Integer>-?[0-9]+)
    | (?P<Identifier>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<LeftParenthesis>\()
    | (?P<RightParenthesis>\))
    | (?P<SafeLeftSquareBracket>\[\?)
    | (?P<LeftSquareBracket>\[)
    | (?P<RightSquareBracket>\])
    | (?P<Comma>,)
    | (?P<SafeDot>\.\?)
    | (?P<Dot>\.)
    | (?P<Space>[ \t\r\n]+)
    """,
    re.VERBOSE,
)


class Token(Struct, frozen=True):
    """A piece of an expression, and where it begins."""

    kind: str
    value: Json
    position: int


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of an expression without its brackets; the last one is the end."""
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise _unexpected(text, position)
        kind = str(match.lastgroup)
        if kind != "Space":
            yield Token(kind, _value(kind, match[0], position), position)
        position = match.end()
    yield Token(END, None, position)


def _value(kind: str, text: str, position: int) -> Json:
    if kind == "String":
        return text[1:-1].replace("''", "'")
    if kind != "Integer":
        return text
    value = int(text) if len(text) <= INTEGER_CHARACTERS_MAX else INTEGER_MAX + 1
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise ExpressionError(
            f"The number at position '{position}' does not fit in a 64-bit integer."
        )
    return value


def _unexpected(text: str, position: int) -> ExpressionError:
    start = f"The language expression '{shown(text)}' is not valid:"
    if text[position] == "'":
        return ExpressionError(f"{start} the string at position '{position}' does not end.")
    return ExpressionError(
        f"{start} the character '{text[position]}' at position '{position}' is not expected."
    )
