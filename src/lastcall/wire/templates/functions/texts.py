"""Functions of strings."""

import re
from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import ANY, Json, Kind, refuse_size, text_of

TEXTS = Library()
STRING: Final = Kind.STRING
INTEGER: Final = Kind.INTEGER
PAD_MAX: Final = 16

# {{ and }}, or {index[,width][:format]}, or a brace that is neither.
PIECE: Final = re.compile(
    r"\{\{|\}\}|\{(?P<index>[0-9]{1,4})(?:,(?P<width>-?[0-9]{1,9}))?(?::(?P<form>[^{}]*))?\}|[{}]"
)
FORM: Final = re.compile(r"(?P<letter>[DdXxNnFf])(?P<digits>[0-9]{0,2})")


@TEXTS.define("toLower", STRING)
def to_lower(text: str) -> str:
    """Return a string in lower case."""
    return text.lower()


@TEXTS.define("toUpper", STRING)
def to_upper(text: str) -> str:
    """Return a string in upper case."""
    return text.upper()


@TEXTS.define("trim", STRING)
def trim(text: str) -> str:
    """Return a string without white space around it."""
    return text.strip()


@TEXTS.define("string", ANY)
def string(value: Json) -> str:
    """Return any value as a string: JSON for arrays and objects."""
    return text_of(value)


@TEXTS.define("startsWith", STRING, STRING)
def starts_with(text: str, start: str) -> bool:
    """Whether a string begins with another, in whatever case."""
    return text.lower().startswith(start.lower())


@TEXTS.define("endsWith", STRING, STRING)
def ends_with(text: str, end: str) -> bool:
    """Whether a string ends with another, in whatever case."""
    return text.lower().endswith(end.lower())


@TEXTS.define("substring", STRING, INTEGER, INTEGER, optional=1)
def substring(text: str, start: int, count: int | None = None) -> str:
    """Return a part of a string."""
    end = len(text) if count is None else start + count
    if not 0 <= start <= end <= len(text):
        raise ExpressionError(
            "The index and length parameters of 'substring' must refer to a location within the"
            f" string: the index is {start}, the end {end}, and the string has {len(text)}"
            " characters."
        )
    return text[start:end]


@TEXTS.define("replace", STRING, STRING, STRING)
def replace(text: str, old: str, new: str) -> str:
    """Return a string with every occurrence of another replaced."""
    if not old:
        raise ExpressionError("The string that 'replace' looks for is empty.")
    refuse_size(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


@TEXTS.define("split", STRING, STRING | Kind.ARRAY)
def split(text: str, delimiters: Json) -> list[str]:
    """Return the parts of a string between delimiters."""
    given = [delimiters] if isinstance(delimiters, str) else delimiters
    if not all(isinstance(delimiter, str) for delimiter in given):
        raise ExpressionError("The delimiters of 'split' are not all strings.")
    wanted = sorted(filter(None, given), key=len, reverse=True)
    return re.split("|".join(map(re.escape, wanted)), text) if wanted else [text]


@TEXTS.define("join", Kind.ARRAY, STRING)
def join(items: list[Json], delimiter: str) -> str:
    """Return the items of an array as one string."""
    texts = [text_of(item) for item in items]
    refuse_size(sum(map(len, texts)) + len(delimiter) * len(texts))
    return delimiter.join(texts)


@TEXTS.define("padLeft", STRING | INTEGER, INTEGER, STRING, optional=1)
def pad_left(value: Json, width: int, padding: str = " ") -> str:
    """Return a string filled up from the left."""
    text = text_of(value)
    if len(padding) != 1 or not 0 <= width <= PAD_MAX:
        raise ExpressionError(
            f"'padLeft' takes a width of 0 to {PAD_MAX} and one character to fill up with."
        )
    return text.rjust(width, padding)


@TEXTS.define("format", STRING, more=ANY)
def format_text(pattern: str, *values: Json) -> str:
    """Return a string with {0}, {1,5} or {2:D3} replaced by values."""
    pieces: list[str] = []
    position = size = 0
    for match in PIECE.finditer(pattern):
        pieces += pattern[position : match.start()], _piece(match, values)
        position = match.end()
        size += len(pieces[-1]) + len(pieces[-2])
        refuse_size(size)
    return "".join([*pieces, pattern[position:]])


def _piece(match: re.Match[str], values: tuple[Json, ...]) -> str:
    if match["index"] is None:
        if len(match[0]) == 1:
            raise ExpressionError("The format string has a brace that is not closed or not opened.")
        return match[0][0]
    index = int(match["index"])
    if index >= len(values):
        raise ExpressionError(
            f"The format string asks for argument {{{index}}}, and {len(values)} are given."
        )
    text = _formed(values[index], match["form"] or "")
    width = int(match["width"] or 0)
    refuse_size(abs(width))
    return text.ljust(-width) if width < 0 else text.rjust(width)


def _formed(value: Json, form: str) -> str:
    if not form or isinstance(value, str | bool | list | dict | None):
        return text_of(value)
    match = FORM.fullmatch(form)
    if match is None:
        raise ExpressionError(
            f"The format '{shown(form)}' is not one of D, X, N and F with a number of digits."
        )
    letter, digits = match["letter"], match["digits"]
    if letter in "dD":
        sign = "-" if value < 0 else ""
        return sign + str(abs(int(value))).rjust(int(digits or 0), "0")
    if letter in "xX":
        return f"{int(value) % 2**64:{letter}}".rjust(int(digits or 0), "0")
    group = "," if letter in "nN" else ""
    return f"{value:{group}.{int(digits or 2)}f}"
