"""Everything that is due, found in the store: timers, rolling upgrades, unperformed effects.

Nothing here takes an argument that says what changed: whether woken by a timer, a request or a
restart, there is one path and it is always the one in use.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec.structs import replace

from lastcall.app.learning import Moment, learn, settle
from lastcall.app.scale_sets import members, upgrade_batch
from lastcall.engine.effects import Failure
from lastcall.engine.errors import ResourceNotFoundError, ScopeNotFoundError
from lastcall.engine.facts import ActionDone, ActionFailed, TimePassed
from lastcall.engine.limits import (
    EFFECTS_PER_PASS_MAX,
    LEASE,
    RETRY_DELAY_FIRST,
    RETRY_DELAY_MAX,
    SCOPES_PER_PASS_MAX,
)
from lastcall.engine.model import Action, Machine, Provisioning
from lastcall.engine.scale_sets import ScaleSet
from lastcall.engine.upgrade import next_batch
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

Claimed = tuple[Effect, Machine]


class Reconciler:
    """Does what is due until nothing is."""

    def __init__(self, store: Store, driver: Driver, moment: Callable[[], Moment]) -> None:
        self._store = store
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
        moved, claimed = await self._store.transact(lambda tx: look(tx, moment))
        if claimed:
            reports = await asyncio.gather(*(self._attempt(one, moment) for one in claimed))
            results = list(zip(claimed, reports, strict=True))
            await self._store.transact(lambda tx: report(tx, results, self._moment()))
        return moved or bool(claimed)

    async def _attempt(self, claimed: Claimed, moment: Moment) -> Report:
        effect, machine = claimed
        order = Order(perform=effect.perform, machine=machine, scope_id=effect.scope_id)
        try:
            outcome = await self._driver.perform(order, moment.now)
        except DriverError:
            return Pending(moment.now + retry_delay(effect.attempts))
        assert not (isinstance(outcome, Pending) and outcome.until <= moment.now), "ask again when?"
        return outcome


def retry_delay(attempts: int) -> timedelta:
    """Return how long to wait before an effect is tried again: longer each time, up to a bound."""
    return min(RETRY_DELAY_FIRST * (1 << min(attempts, 16)), RETRY_DELAY_MAX)


def look(tx: Transaction, moment: Moment) -> tuple[bool, Sequence[Claimed]]:
    """Let time pass for what is due, and take the effects that are to be performed."""
    moved = pass_time(tx, moment)
    moved |= roll_out(tx, moment)
    return moved, claim(tx, moment)


def pass_time(tx: Transaction, moment: Moment) -> bool:
    """Tell the scopes that are due that time has passed."""
    due = tx.due_scopes(moment.now, SCOPES_PER_PASS_MAX)
    for scope_id in due:
        learn(tx, scope_id, TimePassed(), moment)
    return bool(due)


def roll_out(tx: Transaction, moment: Moment) -> bool:
    """Take each rolling upgrade that is due one batch further."""
    due = tx.due_scale_sets(moment.now, SCOPES_PER_PASS_MAX)
    for set_id in due:
        _roll_on(tx, tx.scale_set(set_id), moment)
    return bool(due)


def _roll_on(tx: Transaction, scale_set: ScaleSet, moment: Moment) -> None:
    if scale_set.rollout is None:
        tx.put_scale_set(replace(scale_set, due_at=None))
        return
    machines = [machine for _, machine in members(tx, scale_set)]
    batch = next_batch(scale_set, machines, moment.now)
    resume_at = None if batch.rollout is None else batch.rollout.resume_at
    tx.put_scale_set(replace(scale_set, rollout=batch.rollout, due_at=resume_at))
    if batch.rollout is None:
        failure = Failure("RollingUpgradeFailed", batch.failure) if batch.failure else None
        settle(tx, scale_set.rollout.operation, 1, failure, moment)
    upgrade_batch(tx, scale_set, batch.upgrade, None, moment)


def claim(tx: Transaction, moment: Moment) -> Sequence[Claimed]:
    """Take effects to perform, with the machines they are for."""
    claimed: list[Claimed] = []
    for effect in tx.claim_effects(moment.now, moment.now + LEASE, EFFECTS_PER_PASS_MAX):
        machine = tx.scope(effect.scope_id).machines[effect.perform.machine]
        claimed.append((effect, machine))
    return claimed


def report(tx: Transaction, reports: Sequence[tuple[Claimed, Report]], moment: Moment) -> None:
    """Let the scopes learn what the driver has done."""
    for (effect, machine), outcome in reports:
        try:
            _report_one(tx, effect, outcome, moment)
        except ScopeNotFoundError:
            continue  # The whole set went while the driver was at it.
        _wake_rollout(tx, machine, moment)


def _report_one(tx: Transaction, effect: Effect, outcome: Report, moment: Moment) -> None:
    perform = effect.perform
    match outcome:
        case Done():
            scale_set = _set_of(tx, tx.scope(effect.scope_id).machines.get(perform.machine))
            done = ActionDone(
                event_id=perform.event_id,
                machine=perform.machine,
                model=None if scale_set is None else scale_set.model,
                number=None if scale_set is None else scale_set.number,
            )
            learn(tx, effect.scope_id, done, moment)
        case Failed(reason) if perform.action is not Action.DELETE:
            failed = ActionFailed(event_id=perform.event_id, machine=perform.machine, reason=reason)
            learn(tx, effect.scope_id, failed, moment)
        case Failed():
            tx.defer_effect(effect, moment.now + retry_delay(effect.attempts))
        case Pending(until):
            tx.defer_effect(effect, until)


def _set_of(tx: Transaction, machine: Machine | None) -> ScaleSet | None:
    if machine is None or machine.set_id is None:
        return None
    try:
        return tx.scale_set(machine.set_id)
    except ResourceNotFoundError:
        return None


def _wake_rollout(tx: Transaction, machine: Machine, moment: Moment) -> None:
    scale_set = _set_of(tx, machine)
    if scale_set is None or scale_set.rollout is None:
        return
    if scale_set.provisioning is not Provisioning.DELETING:
        tx.put_scale_set(replace(scale_set, due_at=moment.now))
