"""The service's own rate limit, for those who asked for realism (R7)."""

from collections import Counter

from lastcall.engine.limits import METADATA_REQUESTS_PER_SECOND
from lastcall.engine.model import MachineId
from lastcall.metadata.answers import RefusedError


class RateLimit:
    """Counts requests per machine within each second of the loop's time."""

    def __init__(self) -> None:
        self._second = 0
        self._counts: Counter[MachineId] = Counter()

    def count(self, machine_id: MachineId, now: float) -> None:
        """Count a request, or refuse it."""
        if int(now) != self._second:
            self._second = int(now)
            self._counts.clear()
        self._counts[machine_id] += 1
        if self._counts[machine_id] > METADATA_REQUESTS_PER_SECOND:
            raise RefusedError(
                429, f"Too many requests: {METADATA_REQUESTS_PER_SECOND} per second are allowed."
            )
