"""Everything that is due, found in the store: timers, rolling upgrades, unperformed effects.

Nothing here takes an argument that says what changed: whether woken by a timer, a request or a
restart, there is one path and it is always the one in use.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import set_keys
from lastcall.app.learning import Moment, learn, settle
from lastcall.app.resources import find_by_id
from lastcall.app.scale_sets import members, upgrade_batch
from lastcall.engine.effects import Failure
from lastcall.engine.errors import ScopeNotFoundError
from lastcall.engine.facts import (
    ActionDelayed,
    ActionDone,
    ActionFailed,
    TimePassed,
    Watched,
)
from lastcall.engine.limits import (
    EFFECTS_PER_PASS_MAX,
    LEASE,
    RESOURCES_PER_PASS_MAX,
    RETRY_DELAY_FIRST,
    RETRY_DELAY_MAX,
    SCOPES_PER_PASS_MAX,
)
from lastcall.engine.model import Action, Machine, ScopeId
from lastcall.engine.resources import Resource
from lastcall.engine.scale_sets import RolloutCode, ScaleSet
from lastcall.engine.upgrade import ended, next_batch
from lastcall.ports import (
    Done,
    Driver,
    DriverError,
    Effect,
    Failed,
    Order,
    Pending,
    Report,
    Store,
    Transaction,
)
from lastcall.wire.paths import SERIES_TYPE

logger = logging.getLogger(__name__)

# A driver answers at once, Pending if need be; nothing else is done while it is asked.
ATTEMPT_S: Final = 5.0
# Trouble is told when it begins, and again every so many attempts.
TOLD_EVERY: Final = 10

Claimed = tuple[Effect, Machine]
# Looks at a resource that is due, and returns when to look again.
Attendant = Callable[[Transaction, Resource, Moment], datetime | None]


class Trouble(Struct, frozen=True):
    """An attempt that came to nothing, and why."""

    reason: str


WasRead = Callable[[ScopeId], bool]


def never_read(_scope_id: ScopeId) -> bool:
    """Tell that nobody has read anything since the marks were written."""
    return False


class Reconciler:
    """Does what is due until nothing is."""

    def __init__(
        self,
        store: Store,
        driver: Driver,
        moment: Callable[[], Moment],
        was_read: WasRead = never_read,
    ) -> None:
        self._store = store
        self._was_read = was_read
        self._driver = driver
        self._moment = moment
        self._lock = asyncio.Lock()

    async def reconcile(self) -> None:
        """Do everything that is due now, and what follows from it at once."""
        async with self._lock:
            while await self._pass():
                pass

    async def _pass(self) -> bool:
        moment = self._moment()
        moved, claimed = await self._store.transact(lambda tx: look(tx, moment, self._was_read))
        if claimed:
            reports = await asyncio.gather(*(self._attempt(one, moment) for one in claimed))
            results = list(zip(claimed, reports, strict=True))
            await self._store.transact(lambda tx: report(tx, results, self._moment()))
        return moved or bool(claimed)

    async def _attempt(self, claimed: Claimed, moment: Moment) -> Report | Trouble:
        effect, machine = claimed
        order = Order(perform=effect.perform, machine=machine, scope_id=effect.scope_id)
        try:
            async with asyncio.timeout(ATTEMPT_S):
                outcome = await self._driver.perform(order, moment.now)
        except DriverError as trouble:
            return Trouble(str(trouble))
        except TimeoutError:
            return Trouble(f"the driver did not answer within {ATTEMPT_S:g} s")
        except Exception as bug:  # A driver's bug costs its own machine time, and no other.
            logger.exception("A driver failed", extra={"action": "driver_failed"})
            return Trouble(f"{type(bug).__name__} in the driver")
        if isinstance(outcome, Pending) and outcome.until <= moment.now:
            return Trouble("the driver asked to be asked again in the past")
        return outcome


def retry_delay(attempts: int) -> timedelta:
    """Return how long to wait before an effect is tried again: longer each time, up to a bound."""
    return min(RETRY_DELAY_FIRST * (1 << min(attempts, 16)), RETRY_DELAY_MAX)


def look(
    tx: Transaction, moment: Moment, was_read: WasRead = never_read
) -> tuple[bool, Sequence[Claimed]]:
    """Let time pass for what is due, and take the effects that are to be performed."""
    moved = pass_time(tx, moment, was_read)
    moved |= roll_out(tx, moment)
    moved |= attend(tx, moment)
    return moved, claim(tx, moment)


def pass_time(tx: Transaction, moment: Moment, was_read: WasRead = never_read) -> bool:
    """Tell the scopes that are due that time has passed.

    A read that is not written down yet counts: without it the 24 hours would end too soon.
    """
    due = tx.due_scopes(moment.now, SCOPES_PER_PASS_MAX)
    for scope_id in due:
        if was_read(scope_id):
            learn(tx, scope_id, Watched(at=moment.now), moment)
        learn(tx, scope_id, TimePassed(), moment)
    return bool(due)


def roll_out(tx: Transaction, moment: Moment) -> bool:
    """Take each rolling upgrade that is due one batch further."""
    due = tx.due_scale_sets(moment.now, SCOPES_PER_PASS_MAX)
    for set_id in due:
        _roll_on(tx, tx.scale_set(set_id), moment)
    return bool(due)


def attend(tx: Transaction, moment: Moment) -> bool:
    """Look at the resources that are due, each as its type wants it."""
    due = tx.due_resources(moment.now, RESOURCES_PER_PASS_MAX)
    for resource_id in due:
        again = _attend_one(tx, tx.resource(resource_id), moment)
        assert again is None or again > moment.now, "or it would never end"
        left = find_by_id(tx, resource_id)
        if left is not None:
            tx.put_resource(replace(left, due_at=again))
    return bool(due)


def attendants() -> dict[str, Attendant]:
    """Return who looks at which kind of resource."""
    # Not before a resource is due for the first time: a start has no use for them.
    from lastcall.app import autoscale, metrics  # noqa: PLC0415

    return {
        autoscale.KIND: autoscale.attend,
        SERIES_TYPE: metrics.forget_when_stale,
    }


def _attend_one(tx: Transaction, resource: Resource, moment: Moment) -> datetime | None:
    attendant = attendants().get(resource.kind)
    if attendant is None:
        return None
    try:
        return tx.attempt(lambda part: attendant(part, resource, moment))
    except Exception:  # A bug about one resource must not keep everything else from being done.
        logger.exception("A resource was not attended to", extra={"action": "attend_failed"})
        return moment.now + RETRY_DELAY_MAX


def _roll_on(tx: Transaction, scale_set: ScaleSet, moment: Moment) -> None:
    if scale_set.rollout is None:
        tx.put_scale_set(replace(scale_set, due_at=None))
        return
    machines = [machine for _, machine in members(tx, scale_set)]
    batch = next_batch(scale_set, machines, moment.now)
    if batch.rollout is not None:
        due_at = batch.rollout.resume_at
        tx.put_scale_set(replace(scale_set, rollout=batch.rollout, due_at=due_at))
        upgrade_batch(tx, scale_set, batch.upgrade, None, moment)
        return
    code = RolloutCode.FAULTED if batch.failure else RolloutCode.COMPLETED
    tx.put_scale_set(ended(scale_set, machines, code, moment.now, batch.failure))
    failure = Failure("RollingUpgradeFailed", batch.failure) if batch.failure else None
    settle(tx, scale_set.rollout.operation, 1, failure, moment)


def claim(tx: Transaction, moment: Moment) -> Sequence[Claimed]:
    """Take effects to perform, with the machines they are for."""
    claimed: list[Claimed] = []
    for effect in tx.claim_effects(moment.now, moment.now + LEASE, EFFECTS_PER_PASS_MAX):
        machine = _machine_of(tx, effect)
        if machine is None:
            # It should not be, and must not keep everything else from being done.
            logger.error("An effect without a machine", extra={"action": "effect_dropped"})
            tx.forget_effect(effect)
        else:
            claimed.append((effect, machine))
    return claimed


def _machine_of(tx: Transaction, effect: Effect) -> Machine | None:
    try:
        return tx.scope(effect.scope_id).machines.get(effect.perform.machine)
    except ScopeNotFoundError:
        return None


def report(
    tx: Transaction, reports: Sequence[tuple[Claimed, Report | Trouble]], moment: Moment
) -> None:
    """Let the scopes learn what the driver has done."""
    for (effect, machine), outcome in reports:
        if _machine_of(tx, effect) is None:
            continue  # It went while the driver was at it.
        _report_one(tx, effect, outcome, moment)
        _wake_rollout(tx, machine, moment)


def _report_one(tx: Transaction, effect: Effect, outcome: Report | Trouble, moment: Moment) -> None:
    perform = effect.perform
    match outcome:
        case Done():
            scale_set = _set_of(tx, tx.scope(effect.scope_id).machines[perform.machine])
            done = ActionDone(
                event_id=perform.event_id,
                machine=perform.machine,
                number=None if scale_set is None else scale_set.number,
            )
            learn(tx, effect.scope_id, done, moment)
        case Failed(reason) if perform.action is not Action.DELETE:
            failed = ActionFailed(event_id=perform.event_id, machine=perform.machine, reason=reason)
            learn(tx, effect.scope_id, failed, moment)
        case Failed(reason) | Trouble(reason):
            _try_again(tx, effect, reason, moment)
        case Pending(until):
            tx.defer_effect(replace(effect, attempts=0), until)


def _try_again(tx: Transaction, effect: Effect, reason: str, moment: Moment) -> None:
    """Ask the driver again later, and say why in the history, but not every time."""
    if effect.attempts % TOLD_EVERY == 0:
        perform = effect.perform
        delayed = ActionDelayed(event_id=perform.event_id, machine=perform.machine, reason=reason)
        learn(tx, effect.scope_id, delayed, moment)
    again = replace(effect, attempts=effect.attempts + 1)
    tx.defer_effect(again, moment.now + retry_delay(effect.attempts))


def _set_of(tx: Transaction, machine: Machine) -> ScaleSet | None:
    return None if machine.set_id is None else set_keys.find(tx, machine.set_id)


def _wake_rollout(tx: Transaction, machine: Machine, moment: Moment) -> None:
    scale_set = _set_of(tx, machine)
    if scale_set is not None and scale_set.rollout is not None:
        tx.put_scale_set(replace(scale_set, due_at=moment.now))
