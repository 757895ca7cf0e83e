"""Machines that exist on paper only: scripted delays and faults, nothing else.

It keeps no state of its own. How long an action takes is counted from when it was decided, which
the order says, so a restart in the middle changes nothing.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from lastcall.engine.model import Action
from lastcall.ports import Done, DriverError, Failed, Order, Pending, Report


class Script(Struct, frozen=True, kw_only=True):
    """How the simulated machines behave.

    `delays` is how long each action takes (a pause takes the duration it was announced with);
    `trouble` is asked before and after each attempt and makes it fail for now, before it arrives
    or with its answer lost; `refusal` is asked once per attempt and, with a reason, makes the
    driver give up.
    """

    delays: Mapping[Action, timedelta] = {}
    pace: float = 1.0
    trouble: Callable[[Order], bool] = lambda _order: False
    refusal: Callable[[Order], str] = lambda _order: ""


class SimulatedDriver:
    """Implements `ports.Driver`."""

    def __init__(self, script: Script | None = None) -> None:
        self._script = script or Script()

    async def perform(self, order: Order, now: datetime) -> Report:
        """Carry out an order when its time has come."""
        return self.answer(order, now)

    def answer(self, order: Order, now: datetime) -> Report:
        """Decide what becomes of an order; the same for every caller, awaiting or not."""
        script = self._script
        if script.trouble(order):
            raise DriverError("lost before it arrived")
        ready_at = order.perform.since + self._duration(order)
        if now < ready_at:
            return Pending(ready_at)
        reason = script.refusal(order)
        if reason:
            return Failed(reason)
        if script.trouble(order):
            raise DriverError("done, but the answer was lost")
        return Done()

    def _duration(self, order: Order) -> timedelta:
        perform = order.perform
        duration = self._script.delays.get(perform.action, timedelta(0))
        if perform.action is Action.FREEZE and perform.duration_s > 0:
            duration = timedelta(seconds=perform.duration_s)
        return duration / self._script.pace
