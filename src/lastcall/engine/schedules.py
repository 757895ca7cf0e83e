"""When a profile counts: on fixed dates, or from a time of the week on until the next one's."""

from datetime import datetime, time, timedelta, tzinfo
from typing import Protocol, TypeVar

from lastcall.engine.value import Value

DAYS_OF_A_WEEK = 7


class Fixed(Value, frozen=True, kw_only=True):
    """From `start` up to `end`, once."""

    start: datetime
    end: datetime


class Recurring(Value, frozen=True, kw_only=True):
    """From these times of these days on, every week; Monday is day 0."""

    days: frozenset[int]
    times: tuple[time, ...]
    zone: tzinfo


class Scheduled(Protocol):
    """Something that has its times."""

    @property
    def fixed(self) -> Fixed | None:
        """Return the one span of time that it is for."""
        ...

    @property
    def recurring(self) -> Recurring | None:
        """Return when it begins every week."""
        ...


S = TypeVar("S", bound=Scheduled)


def active(profiles: tuple[S, ...], now: datetime) -> S | None:
    """Return what counts now: a fixed date before what recurs, and that before the default.

    What recurs has no end of its own: it counts until the next one begins.
    """
    for profile in profiles:
        if profile.fixed is not None and profile.fixed.start <= now < profile.fixed.end:
            return profile
    begun = [
        (_latest_start(profile.recurring, now), -position, profile)
        for position, profile in enumerate(profiles)
        if profile.recurring is not None
    ]
    if begun:
        return max(begun, key=lambda entry: entry[:2])[2]
    return next((profile for profile in profiles if profile.fixed is None), None)


def _latest_start(recurring: Recurring, now: datetime) -> datetime:
    today = now.astimezone(recurring.zone).date()
    days = (today - timedelta(days=back) for back in range(DAYS_OF_A_WEEK + 1))
    starts = (
        datetime.combine(day, begin, recurring.zone)
        for day in days
        if day.weekday() in recurring.days
        for begin in recurring.times
    )
    return max(start for start in starts if start <= now)
