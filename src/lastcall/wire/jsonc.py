"""JSON as the authors of templates write it: with comments, bare names and strings over lines.

The Azure CLI sends a template file as it stands, behind a name without quotes, and Resource Manager
reads that.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire.bodies import parse_object

TOKEN: Final = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')"
    r"|(?P<comment>//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/)"
    r"|(?P<word>[A-Za-z_$][\w$.-]*+)"
    r"|(?P<space>\s++)"
    r"|(?P<other>[^\s\"'/A-Za-z_$])",
    re.DOTALL,
)
SPACE: Final = " "
CONTROL: Final = re.compile(r"[\x00-\x1f]")


def parse_lenient(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request that may have a template in it, or refuse."""
    try:
        return parse_object(body)
    except InvalidRequestContentError:
        strict = _strict(body)
        if strict is None:
            raise
    return parse_object(strict)


def _strict(body: bytes) -> bytes | None:
    """Return the same in plain JSON, None where it cannot be told what is meant."""
    try:
        tokens = list(_tokens(body.decode()))
    except (UnicodeDecodeError, ValueError):
        return None
    kept: list[str] = []
    following = ""
    for kind, text in reversed(tokens):
        if text == "," and following in ("}", "]"):
            continue
        is_name = kind == "word" and following == ":"
        kept.append(json.dumps(text) if is_name else text)
        if text != SPACE:
            following = text
    return "".join(reversed(kept)).encode()


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield what counts: comments are space, and every string is in its plain spelling."""
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError  # A string or a comment without an end.
        at = match.end()
        kind = match.lastgroup or ""
        if kind == "string":
            yield kind, _plain(match[0])
        elif kind in ("word", "other"):
            yield kind, match[0]
        else:
            yield kind, SPACE


def _plain(text: str) -> str:
    inner = text[1:-1]
    if text[0] == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"')
    return '"' + CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", inner) + '"'
