"""Long lists in pages, each with the address of the next; its token is opaque to clients."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import LIST_PAGE, LIST_PAGE_MAX, SKIP_TOKEN_CHARACTERS_MAX
from lastcall.engine.model import Machine, ScopeId
from lastcall.web.routing import Call

T = TypeVar("T")

PARAMETER: Final = "$skiptoken"
MARK: Final = "after:"


def page(call: Call, entries: Iterable[T], key: Callable[[T], str]) -> tuple[list[T], str | None]:
    """Return the entries of the page that is asked for, and the address of the next one.

    A page begins after a key, not after a number of entries: what is added or deleted between two
    requests neither repeats nor hides anything else.
    """
    after = _after(call.query(PARAMETER))
    ordered = sorted((entry for entry in entries if key(entry) > after), key=key)
    found = ordered[:LIST_PAGE]
    if len(ordered) <= LIST_PAGE:
        return found, None
    return found, call.link(PARAMETER, _token(key(found[-1])))


def paged(call: Call, items: Sequence[Any]) -> dict[str, Any]:
    """Return one page of a list that does not change between two requests, `$top` long."""
    size = call.number("$top", LIST_PAGE_MAX, range(1, LIST_PAGE_MAX + 1))
    start = _number(_after(call.query(PARAMETER)))
    page: dict[str, Any] = {"value": list(items[start : start + size])}
    if start + size < len(items):
        page["nextLink"] = call.link(PARAMETER, _token(str(start + size)))
    return page


def by_ordinal(entry: tuple[ScopeId, Machine]) -> str:
    """Return the key of an instance in lists: the oldest comes first."""
    return f"{entry[1].ordinal:012d}"


def _number(after: str) -> int:
    if after and not (after.isascii() and after.isdigit() and len(after) <= 9):
        raise _refusal()
    return int(after or 0)


def _token(key: str) -> str:
    return urlsafe_b64encode(f"{MARK}{key}".encode()).decode()


def _after(token: str | None) -> str:
    if token is None:
        return ""
    try:
        text = urlsafe_b64decode(token[:SKIP_TOKEN_CHARACTERS_MAX].encode()).decode()
    except (binascii.Error, UnicodeError):
        text = ""
    if not text.startswith(MARK) or _token(text.removeprefix(MARK)) != token:
        raise _refusal()
    return text.removeprefix(MARK)


def _refusal() -> InvalidParameterError:
    return InvalidParameterError(
        f"The '{PARAMETER}' is not one that a list of this server gave.", target=PARAMETER
    )
