"""The loop that wakes the reconciler: when something is due, when something changed, or in time."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from lastcall.app.reconcile import Reconciler
from lastcall.ports import Clock, Commit, StoreUnavailableError

logger = logging.getLogger(__name__)

PERIOD: Final = timedelta(minutes=1)
RETRY_AFTER_S: Final = 1.0


class Runner:
    """Runs the reconciler, and once a minute the upkeep, until it is cancelled."""

    def __init__(
        self, reconciler: Reconciler, clock: Clock, upkeep: Callable[[], Awaitable[None]]
    ) -> None:
        self._reconciler = reconciler
        self._clock = clock
        self._upkeep = upkeep
        self._woken = asyncio.Event()
        self._next_due: datetime | None = None
        self._sleeps_until: datetime | None = None
        self.failures = 0

    def observe(self, commit: Commit) -> None:
        """Learn from a commit when something is next due, and wake if that is now or too soon."""
        due = self._next_due = commit.next_due
        if due is None:
            return
        is_too_soon = self._sleeps_until is not None and due < self._sleeps_until
        if is_too_soon or due <= self._clock.now():
            self._woken.set()

    async def run(self) -> None:
        """Go on until cancelled. Trouble is logged, counted and tried again."""
        while True:
            self._woken.clear()
            try:
                await self._reconciler.reconcile()
                await self._upkeep()
            except StoreUnavailableError as trouble:
                self.failures += 1
                logger.warning(
                    "The store is unavailable: %s", trouble, extra={"action": "store_unavailable"}
                )
                await asyncio.sleep(RETRY_AFTER_S)
            except Exception:  # The loop must outlive a bug: it is what keeps the promises.
                self.failures += 1
                logger.exception("A pass failed", extra={"action": "reconcile_failed"})
                await asyncio.sleep(RETRY_AFTER_S)
            await self._sleep()

    async def _sleep(self) -> None:
        now, wait = self._clock.now(), PERIOD
        if self._next_due is not None:
            wait = min(PERIOD, max(timedelta(0), self._next_due - now))
        self._sleeps_until = now + wait
        # Not wait_for: in Python 3.11 it forgets a cancellation that meets the waking.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait.total_seconds()):
                await self._woken.wait()
        self._sleeps_until = None
