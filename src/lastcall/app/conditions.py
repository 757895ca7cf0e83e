"""Under which conditions something is written, and whether they hold (R100)."""

from typing import Final

from lastcall.engine.errors import PreconditionFailedError
from lastcall.engine.value import Value

ANY: Final = "*"


class Conditions(Value, frozen=True, kw_only=True):
    """What a write expects: the etag of what is there, or that nothing is."""

    if_match: str | None = None
    must_be_new: bool = False


UNCONDITIONAL: Final = Conditions()


def refuse_stale(number: int | None, conditions: Conditions) -> None:
    """Refuse a write whose conditions do not hold.

    `number` counts the writes of what is there, None where nothing is. It is what an etag has
    between its quotes; all of ours are good for comparing, so a weak one is as good as a strong.
    """
    if conditions.must_be_new and number is not None:
        raise PreconditionFailedError("The resource exists already.")
    if conditions.if_match is None:
        return
    wanted = conditions.if_match.strip()
    if number is None or wanted not in (ANY, str(number), f'"{number}"', f'W/"{number}"'):
        raise PreconditionFailedError
