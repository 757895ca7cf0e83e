"""Time: the one place that looks at it."""

from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)


class VirtualClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime.now(UTC).replace(microsecond=0)

    def now(self) -> datetime:
        """Return where the clock stands."""
        return self._now

    def move_to(self, instant: datetime) -> None:
        """Set the clock forward; it refuses to go back."""
        if instant < self._now:
            raise ValueError("time does not run backwards")
        self._now = instant

    def advance(self, by: timedelta) -> None:
        """Set the clock forward by a duration."""
        self.move_to(self._now + by)
