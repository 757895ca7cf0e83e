"""When Scheduled Events is on for a scope (R33-R37)."""

from datetime import datetime

from lastcall.engine.limits import IDLE_AFTER


def off_at(watched_at: datetime) -> datetime:
    """Return when nobody has asked for so long that it is off."""
    return watched_at + IDLE_AFTER


def is_on(watched_at: datetime | None, now: datetime) -> bool:
    """Whether somebody has asked lately enough."""
    return watched_at is not None and now < off_at(watched_at)
