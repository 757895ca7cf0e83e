"""Typed request bodies and pages of answers."""

from collections.abc import Iterable
from itertools import islice
from typing import Final, TypeVar

import msgspec

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.engine.limits import HISTORY_PAGE_MAX
from lastcall.web.routing import Call, Parameter

T = TypeVar("T")

ROOT: Final = "/lastcall/v1"
PAGE_DEFAULT: Final = 100
SKIP_MAX: Final = 10_000_000
LIMIT: Final = Parameter(
    name="limit", type="integer", text=f"At most so many; {PAGE_DEFAULT} unless told."
)
PAGING: Final = (
    LIMIT,
    Parameter(name="skip", type="integer", text="Leave out so many; see `next` of an answer."),
)


async def parse(call: Call, kind: type[T]) -> T:
    """Return the body as one of its kind, or refuse it in one sentence."""
    try:
        return msgspec.json.decode(await call.body(), type=kind)
    except msgspec.ValidationError as error:
        raise InvalidRequestContentError(f"The body is not right: {_sentence(error)}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequestContentError("The body is not a JSON object.") from error


def page(call: Call, items: Iterable[T]) -> tuple[list[T], int | None]:
    """Return the part of a list that was asked for, and where the next part begins."""
    window = page_window(call)
    found = list(islice(items, window.start, window.stop + 1))
    is_last = len(found) <= len(window)
    return found[: len(window)], None if is_last else window.stop


def page_window(call: Call) -> range:
    """Return which entries are wanted, by their place in the whole list."""
    skip = call.number("skip", 0, range(SKIP_MAX))
    return range(skip, skip + page_limit(call))


def page_limit(call: Call) -> int:
    """Return how many entries are wanted."""
    return call.number("limit", PAGE_DEFAULT, range(1, HISTORY_PAGE_MAX + 1))


def _sentence(error: msgspec.ValidationError) -> str:
    """Turn "Expected `int`, got `str` - at `$.seconds`" into part of a sentence."""
    reason, _, place = str(error).partition(" - at `$")
    path = place.rstrip("`").lstrip(".")
    said = reason[:1].lower() + reason[1:]
    return f"{said} at `{path}`" if path else said
