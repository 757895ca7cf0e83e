"""Lists in pages: `$top` says how long a page is, `nextLink` leads to the next one."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from lastcall.engine.limits import LIST_PAGE_MAX
from lastcall.web.routing import Call

SKIP_MAX = 10**9


def paged(call: Call, items: Sequence[Any]) -> dict[str, Any]:
    """Return one page of a list."""
    size = call.number("$top", LIST_PAGE_MAX, range(1, LIST_PAGE_MAX + 1))
    start = call.number("$skiptoken", 0, range(SKIP_MAX))
    page: dict[str, Any] = {"value": list(items[start : start + size])}
    if start + size < len(items):
        page["nextLink"] = _following(call, start + size)
    return page


def _following(call: Call, start: int) -> str:
    kept = ((key, value) for key, value in call.queries() if key != "$skiptoken")
    query = "&".join(f"{quote(key, safe='$')}={quote(value, safe='')}" for key, value in kept)
    return f"{call.base}{call.path}?{query}&$skiptoken={start}"
