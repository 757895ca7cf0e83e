"""How the platform is set to behave where Azure leaves room, or where a tester wants haste."""

from datetime import timedelta

from lastcall.engine.value import Value


class Policy(Value, frozen=True, kw_only=True):
    """`pace` divides every notice; `always_notify` holds for unwatched scopes too."""

    pace: float = 1.0
    always_notify: bool = False

    def paced(self, duration: timedelta) -> timedelta:
        """Return how long `duration` takes at this pace."""
        return duration if self.pace == 1.0 else duration / self.pace
