"""`$filter`, `$select` and `$expand` on instances: the small language that is documented."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import FILTER_CHARACTERS_MAX
from lastcall.wire.quoting import shown

Json = dict[str, Any]
Test = Callable[[Json], bool]

VIEW: Final = "instanceView"
EXPANDABLE: Final = ("instanceView", "userData", "resiliencyView")
SELECTABLE: Final = ("instanceView", "instanceView/statuses")
LITERAL: Final = r"'(?:[^']|'')*'|true|false"
TERM: Final = re.compile(
    rf"(?P<path>[A-Za-z/]+)\s+(?P<verb>eq|ne)\s+(?P<value>{LITERAL})"
    rf"|startswith\(\s*(?P<start_path>[A-Za-z/]+)\s*,\s*(?P<start>{LITERAL})\s*\)"
    r"(?:\s+eq\s+(?P<holds>true|false))?",
    re.IGNORECASE,
)
AND: Final = re.compile(r"\s+and\s+", re.IGNORECASE)
NAMES: Final = {
    path.lower(): path
    for path in (
        "name",
        "instanceId",
        "properties/latestModelApplied",
        "properties/provisioningState",
        "instanceView/statuses/code",
        "virtualMachineScaleSet/id",
        "virtualMachineScaleSet/name",
    )
}


def parse_filter(text: str | None) -> Test:
    """Return the test that an instance, shown with its view, must pass; or refuse the filter."""
    terms: list[Test] = []
    rest = (text or "").strip()
    if len(rest) > FILTER_CHARACTERS_MAX:
        _refuse(rest)
    while rest:
        match = TERM.match(rest)
        if match is None:
            _refuse(rest)
        terms.append(_term(match))
        rest = rest[match.end() :]
        following = AND.match(rest)
        if following is not None and rest[following.end() :]:
            rest = rest[following.end() :]
        elif rest.strip():
            _refuse(rest)
        else:
            rest = ""
    return lambda instance: all(term(instance) for term in terms)


def parse_expand(text: str | None) -> frozenset[str]:
    """Return what is to be expanded, in the documented spelling, or refuse."""
    return _words("$expand", text, EXPANDABLE)


def parse_select(text: str | None) -> frozenset[str]:
    """Return what alone is to be shown of instances, in the documented spelling, or refuse."""
    return _words("$select", text, SELECTABLE)


def selected(instance: Json, wanted: frozenset[str]) -> Json:
    """Return an instance with its identity and what was selected of its view."""
    if not wanted:
        return instance
    view = instance["properties"][VIEW]
    if VIEW not in wanted:
        view = {"statuses": view["statuses"]}
    identity = ("name", "id", "type", "location", "instanceId")
    kept = {name: instance[name] for name in identity}
    return {**kept, "properties": {VIEW: view}}


def _words(name: str, text: str | None, known: tuple[str, ...]) -> frozenset[str]:
    spelling = {word.lower(): word for word in known}
    found: set[str] = set()
    for word in (text or "").split(","):
        if not word.strip():
            continue
        if word.strip().lower() not in spelling:
            raise InvalidParameterError(
                f"The value '{shown(word.strip())}' of '{name}' is not one of {', '.join(known)}.",
                target=name,
            )
        found.add(spelling[word.strip().lower()])
    return frozenset(found)


def _term(match: re.Match[str]) -> Test:
    if match["path"]:
        path, wanted = _path(match["path"]), _literal(match["value"])
        is_equal = match["verb"].lower() == "eq"
        return lambda instance: (wanted in _values(instance, path)) is is_equal
    start_path, start = _path(match["start_path"]), _literal(match["start"])
    holds = (match["holds"] or "true").lower() == "true"
    return lambda instance: (
        any(value.startswith(start) for value in _values(instance, start_path)) is holds
    )


def _path(text: str) -> str:
    found = NAMES.get(text.lower())
    if found is None:
        _refuse(text)
    return found


def _literal(text: str) -> str:
    """Return a literal in lower case: names and states are compared without it."""
    unquoted = text[1:-1].replace("''", "'") if text.startswith("'") else text
    return unquoted.lower()


def _values(instance: Mapping[str, Any], path: str) -> list[str]:
    """Return everything that stands at a path of an instance, in lower case."""
    set_path = instance["id"].lower().rpartition("/virtualmachines/")[0]
    if path == "virtualMachineScaleSet/id":
        return [set_path]
    if path == "virtualMachineScaleSet/name":
        return [set_path.rpartition("/")[2]]
    properties = instance["properties"]
    if path == "instanceView/statuses/code":
        return [status["code"].lower() for status in properties[VIEW]["statuses"]]
    *above, name = path.split("/")
    return [str((properties if above else instance)[name]).lower()]


def _refuse(text: str) -> NoReturn:
    raise InvalidParameterError(
        f"The filter '{shown(text)}' is not understood; it is made of comparisons such as"
        ' "properties/latestModelApplied eq true" or "startswith(instanceView/statuses/code,'
        ' \'PowerState\') eq true", joined by "and".',
        target="$filter",
    )
