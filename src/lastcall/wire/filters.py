"""The `$filter` of lists: comparisons that must all hold."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lastcall.engine.errors import InvalidFilterError
from lastcall.engine.value import Value
from lastcall.wire.quoting import shown

CLAUSE: Final = re.compile(
    r"\s*(?:([A-Za-z/]+)\s+(eq|ne)\s+'((?:[^']|'')*)'"
    r"|substringof\(\s*'((?:[^']|'')*)'\s*,\s*([A-Za-z/]+)\s*\))\s*",
    re.IGNORECASE,
)
AND: Final = re.compile(r"and\s", re.IGNORECASE)
FILTER_CHARACTERS_MAX: Final = 4096


class Clause(Value, frozen=True):
    """One comparison: of which field, how, with what."""

    field: str
    operator: str
    value: str

    def holds(self, value: str) -> bool:
        """Whether a value passes; case does not count."""
        if self.operator == "contains":
            return self.value in value.lower()
        return (self.value == value.lower()) == (self.operator == "eq")


def parse_filter(text: str | None, fields: frozenset[str]) -> Sequence[Clause]:
    """Return what a filter demands of these fields, or refuse."""
    found: list[Clause] = []
    rest = (text or "").strip()
    if len(rest) > FILTER_CHARACTERS_MAX:
        raise _refusal(rest)
    while rest:
        match = CLAUSE.match(rest)
        if match is None:
            raise _refusal(text or "")
        found.append(_clause(match))
        rest = rest[match.end() :]
        if not rest:
            break
        conjunction = AND.match(rest)
        if conjunction is None or not rest[conjunction.end() :].strip():
            raise _refusal(text or "")
        rest = rest[conjunction.end() :]
    if any(clause.field not in fields for clause in found):
        raise _refusal(text or "")
    return found


def matches(
    document: Mapping[str, Any],
    wanted: Sequence[Clause],
    value_of: Callable[[str], str] = lambda _field: "",
) -> bool:
    """Whether a resource passes: its tags by its document, its other fields by `value_of`."""
    tags = document.get("tags") or {}
    names = [clause for clause in wanted if clause.field == "tagname"]
    values = [clause for clause in wanted if clause.field == "tagvalue"]
    others = [clause for clause in wanted if clause.field not in ("tagname", "tagvalue")]
    tagged = any(
        all(clause.holds(name) for clause in names) and all(clause.holds(v) for clause in values)
        for name, v in tags.items()
    )
    is_tagged = tagged or not (names or values)
    return is_tagged and all(clause.holds(value_of(clause.field)) for clause in others)


def _clause(match: re.Match[str]) -> Clause:
    if match[1] is not None:
        return Clause(match[1].lower(), match[2].lower(), _unquoted(match[3]))
    return Clause(match[5].lower(), "contains", _unquoted(match[4]))


def _unquoted(text: str) -> str:
    return text.replace("''", "'").lower()


def _refusal(text: str) -> InvalidFilterError:
    return InvalidFilterError(
        f"Invalid $filter '{shown(text)}' specified in the query string.", target="$filter"
    )
