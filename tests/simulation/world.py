"""A whole platform and everybody around it, driven from one seed, without an event loop.

Guests poll and approve, users ask for everything users can ask for, the platform announces and
fails, drivers lose orders and answers, and the process dies at every place where it can: before a
commit, after it but before the answer, between a claim and its report. Only the store survives.
"""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lastcall.app import events, scale_sets
from lastcall.app.learning import Moment
from lastcall.app.reconcile import look, report, retry_delay
from lastcall.app.scale_sets import Revision, SetKey
from lastcall.clock import VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.errors import DomainError, EventNotFoundError, ResourceNotFoundError
from lastcall.engine.facts import Announced
from lastcall.engine.limits import IDLE_AFTER
from lastcall.engine.model import (
    Action,
    EventId,
    EventType,
    Machine,
    MachineId,
    Model,
    Protection,
    ScopeId,
    ScopeKind,
    SetId,
)
from lastcall.engine.operations import OperationStatus
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import ScaleInRule, ScaleSet, Traits, UpgradeMode
from lastcall.ids import RandomIds
from lastcall.ports import (
    Done,
    DriverError,
    Order,
    Pending,
    Report,
    StoreUnavailableError,
    Transaction,
)
from lastcall.store.changes import Changes, EffectRow, commit_of
from lastcall.store.ledger import Ledger
from lastcall.store.memory import MemoryShelf

from .invariants import BrokenPromiseError, Cause, Witness

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NAMES = ("web", "api", "db")
LONE_MAX = 3
POLICY = Policy()
Work = Callable[[Transaction], Any]
Asked = tuple[Cause, Work]


class DiedError(Exception):
    """The process is gone; whoever waited for an answer gets none."""


class FragileStore:
    """A memory store that groups like SQLite and may take the process down at a commit."""

    def __init__(self, chance: Callable[[], float], witness: Witness) -> None:
        self._shelf = MemoryShelf()
        self._chance = chance
        self._witness = witness
        self.next_due: datetime | None = None
        self.is_calm = False

    def run(self, cause: Cause, work: Work, now: datetime) -> Any:
        """Run one piece of work and return its result, or raise what it raised."""
        result, error = self.group([(cause, work)], now)[0]
        if error is not None:
            raise error
        return result

    def group(self, asked: Sequence[Asked], now: datetime) -> list[tuple[Any, DomainError | None]]:
        """Decide several works one after the other and commit them together."""
        batch = Changes()
        outcomes: list[tuple[Any, DomainError | None]] = []
        causes: list[Cause] = []
        for cause, work in asked:
            ledger = Ledger(self._shelf, (batch,))
            try:
                outcomes.append((work(ledger), None))
            except DomainError as refusal:
                outcomes.append((None, refusal))
                continue
            causes.append(cause)
            if len(asked) == 1:
                batch = ledger.changes
            else:
                batch.merge(ledger.changes)
        if batch:
            self._commit(batch, causes, now)
        return outcomes

    def _commit(self, batch: Changes, causes: Sequence[Cause], now: datetime) -> None:
        fate = 1.0 if self.is_calm else self._chance()
        if fate < 0.01:
            raise DiedError("before the commit")
        if fate < 0.02:
            raise StoreUnavailableError("not now")
        history = self._shelf.write(batch)
        commit = commit_of(batch, history, self._shelf.next_due())
        self.next_due = commit.next_due
        self._witness.committed(causes, commit, now)
        if fate < 0.03:
            raise DiedError("after the commit")

    def read(self) -> Ledger:
        """Return a look at what is committed."""
        return Ledger(self._shelf)

    def reopen(self) -> None:
        """Do what opening a store does: a claim of a process that died is nobody's."""
        effects = self._shelf._effects
        for key, row in effects.items():
            effects[key] = EffectRow(row.effect, NOON)
        self.next_due = self._shelf.next_due()


class World:
    """One seed's worth of history."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.chance = self.rng.random
        self.witness = Witness()
        self.store = FragileStore(self.chance, self.witness)
        self.clock = VirtualClock(NOON)
        self.ids = RandomIds(seed)
        delays = {action: timedelta(seconds=self.rng.choice((0, 0, 0, 3, 40))) for action in Action}
        self.driver = SimulatedDriver(
            Script(delays=delays, trouble=self._trouble, refusal=self._refusal)
        )
        self.touched: set[ScopeId] = set()
        self.flushed_at = NOON
        self.deaths = 0
        self.asked = 0

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def moment(self) -> Moment:
        return Moment(self.clock.now(), POLICY, self.ids)

    # The course of things

    def run(self, steps: int) -> None:
        """Let `steps` things happen, then let the faults stop, and insist that all ends well."""
        for _ in range(steps):
            self._guarded(self._happen)
        self.store.is_calm = True
        self._guarded(self.restart)
        self._calm_down()
        self._check_end()

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except DiedError:
            self.deaths += 1
            self.restart()
        except StoreUnavailableError:
            return

    def restart(self) -> None:
        """Begin again with nothing but the store; an old claim may be released or run out."""
        self.touched.clear()
        if self.chance() < 0.5:
            self.store.reopen()

    def _happen(self) -> None:
        self.asked += 1
        dice = self.chance()
        if dice < 0.30:
            self._pass_time()
        elif dice < 0.62:
            self._group(self._guest())
        elif dice < 0.90:
            self._group(self._user())
        else:
            self._group(self._platform())
        # The loop is woken when something is due, and now and then it is late.
        if (
            self.store.next_due is not None
            and self.store.next_due <= self.now
            and dice % 0.1 < 0.09
        ):
            self._pump()
        self._upkeep()
        if dice < 0.1:
            self._check_capacity()

    def _pass_time(self) -> None:
        dice = self.chance()
        if dice < 0.55:
            self.clock.move_to(max(self.now, self.store.next_due or self.now))
        elif dice < 0.95:
            self.clock.advance(timedelta(seconds=self.rng.randrange(200)))
        else:
            self.clock.advance(IDLE_AFTER + MINUTE)

    def _group(self, asked: Asked | None) -> None:
        """Commit a request, now and then together with a guest's that came at the same time."""
        if asked is None:
            return
        together = [asked]
        if self.chance() < 0.2:
            other = self._guest()
            # From outside, an eviction approved together with a scale-in cannot be told from it.
            if other is not None and (asked[0].kind != "write" or other[0].kind == "watch"):
                together.insert(self.rng.randrange(2), other)
        outcomes = self.store.group(together, self.now)
        for (cause, _), (_, refusal) in zip(together, outcomes, strict=True):
            if cause.kind == "approve":
                self._answer_approval(cause, refusal)

    def _pump(self) -> None:
        """Do what the reconciler does, until nothing is due; the process may die in between."""
        for _ in range(100):
            moment = self.moment()
            moved, claimed = self.store.run(
                Cause("look"), lambda tx, m=moment: look(tx, m), self.now
            )
            if claimed:
                self._maybe_die()
                results = [(one, self._attempt(one, moment)) for one in claimed]
                self._maybe_die()
                self.store.run(
                    Cause("report"), lambda tx, r=results, m=moment: report(tx, r, m), self.now
                )
            elif not moved:
                break
        else:
            raise BrokenPromiseError("there is always something due")

    def _attempt(self, claimed: Any, moment: Moment) -> Report:
        effect, machine = claimed
        order = Order(perform=effect.perform, machine=machine, scope_id=effect.scope_id)
        self.witness.order(order, moment.now)
        try:
            answer = self.driver.answer(order, moment.now)
        except DriverError as trouble:
            if "answer was lost" in str(trouble):
                self.witness.carried_out(order)
            return Pending(moment.now + retry_delay(effect.attempts))
        if isinstance(answer, Done):
            self.witness.carried_out(order)
        return answer

    def _upkeep(self) -> None:
        if self.now - self.flushed_at < MINUTE or not self.touched:
            return
        self.flushed_at = self.now
        marks, self.touched = sorted(self.touched), set()
        for scope_id in marks:
            self.store.run(*self._watch(scope_id), self.now)

    def _maybe_die(self) -> None:
        if not self.store.is_calm and self.chance() < 0.01:
            raise DiedError("between the claim and the report")

    def _trouble(self, _order: Order) -> bool:
        return not self.store.is_calm and self.chance() < 0.05

    def _refusal(self, _order: Order) -> str:
        return "no luck" if not self.store.is_calm and self.chance() < 0.04 else ""

    # Guests

    def _guest(self) -> Asked | None:
        views = self.witness.views
        if not views:
            return None
        scope_id = self.rng.choice(list(views))
        view = views[scope_id]
        if self.chance() < 0.5 or not view.shown.events:
            if self.store.read().scope(scope_id).watched_at is None:
                return self._watch(scope_id)
            self.touched.add(scope_id)
            return None
        return self._approve(scope_id, self._wish(scope_id))

    def _wish(self, scope_id: ScopeId) -> tuple[EventId, ...]:
        """Choose what to approve: one, all, one that has gone, a stranger's, or nonsense."""
        shown = [event.id for event in self.witness.views[scope_id].shown.events]
        dice = self.chance()
        if dice < 0.55:
            return (self.rng.choice(shown),)
        if dice < 0.85:
            return tuple(shown)
        if dice < 0.97 and self.witness.known:
            return (self.rng.choice(list(self.witness.known)),)
        return (EventId("NONSENSE"),)

    def _approve(self, scope_id: ScopeId, event_ids: tuple[EventId, ...]) -> Asked:
        cause = Cause("approve", scope_id=scope_id, event_ids=event_ids)
        approval = events.Approval(scope_id, event_ids, "guest")
        return cause, lambda tx: events.approve(tx, approval, self.moment())

    def _answer_approval(self, cause: Cause, refusal: DomainError | None) -> None:
        if refusal is None:
            self.witness.answer_approval(cause.scope_id, cause.event_ids)
        elif isinstance(refusal, EventNotFoundError) and all(
            self.witness.is_approvable(cause.scope_id, event_id, self.now)
            for event_id in cause.event_ids
        ):
            raise BrokenPromiseError(f"a valid approval was refused: {cause}")

    def _watch(self, scope_id: ScopeId) -> Asked:
        cause = Cause("watch", scope_id=scope_id)
        return cause, lambda tx: events.watch(tx, (scope_id,), self.moment())

    # Users

    def _user(self) -> Asked | None:
        if self.chance() < 0.05:
            return self._lone()
        name = self.rng.choice(NAMES)
        set_id = SetId(name)
        try:
            scale_set = self.store.read().scale_set(set_id)
        except ResourceNotFoundError:
            return self._write(set_id, self._some_traits(), is_new=True)
        dice = self.chance()
        if dice < 0.25:
            return self._write(set_id, scale_set.traits)
        if dice < 0.37:
            changed = self._some_traits(scale_set.traits)
            return self._write(set_id, changed, capacity=None, changes=True)
        if dice < 0.60:
            return self._act(scale_set, Action.DELETE)
        if dice < 0.90:
            return self._act(scale_set, self.rng.choice(list(ACTIONS)))
        if dice < 0.94:
            return self._protect(scale_set)
        return self._delete_set(scale_set)

    def _some_traits(self, before: Traits | None = None) -> Traits:
        rng = self.rng
        spot = rng.choice((None, None, None, Action.DELETE, Action.DEALLOCATE))
        return Traits(
            zones=before.zones if before else rng.choice(((), (), ("1", "2"))),
            upgrade_mode=rng.choice(list(UpgradeMode)),
            batch_percent=rng.choice((20, 50, 100)),
            batch_pause=timedelta(seconds=rng.choice((0, 30))),
            unhealthy_percent_max=rng.choice((5, 100)),
            scale_in=rng.choice(list(ScaleInRule)),
            notice=rng.choice((None, 5 * MINUTE, 5 * MINUTE, 15 * MINUTE)),
            eviction=spot,
            auto_approve=rng.choice(((), (), (EventType.REBOOT,))),
        )

    def _write(
        self,
        set_id: SetId,
        traits: Traits,
        *,
        capacity: int | None = -1,
        changes: bool = False,
        is_new: bool = False,
    ) -> Asked:
        if capacity is not None:
            capacity = self.rng.randrange(7)
        key = SetKey(id=set_id, subscription="s", resource_group="rg", name=set_id)
        revision = Revision(
            document=b"{}",
            traits=traits,
            location="westus",
            capacity=capacity,
            changes_instances=changes,
        )
        cause = Cause("write", set_id=set_id, capacity=capacity)

        def work(tx: Transaction) -> None:
            written = scale_sets.write(tx, key, lambda _old: revision, self.moment())
            cause.operation = written.operation.id

        return cause, work

    def _act(self, scale_set: ScaleSet, action: Action) -> Asked | None:
        present = scale_sets.members(self.store.read(), scale_set)
        if not present:
            return None
        chosen = self.rng.choices(present, k=self.rng.choice((1, 1, 2, 3)))
        order = scale_sets.Order(
            action=action,
            instance_ids=tuple(machine.instance_id for _, machine in chosen),
            force=action is Action.DELETE and self.chance() < 0.15,
        )
        cause = Cause(
            "delete" if action is Action.DELETE else "act",
            set_id=scale_set.id,
            action=action,
            targets=frozenset(machine.id for _, machine in chosen),
            force=order.force,
            approves_itself=EventType.REBOOT in scale_set.traits.auto_approve,
        )

        def work(tx: Transaction) -> None:
            cause.operation = scale_sets.act(tx, scale_set.id, order, self.moment()).id

        return cause, work

    def _protect(self, scale_set: ScaleSet) -> Asked | None:
        present = scale_sets.members(self.store.read(), scale_set)
        if not present:
            return None
        _, machine = self.rng.choice(present)
        protection = Protection(from_scale_in=self.chance() < 0.3)
        cause = Cause("protect", set_id=scale_set.id)

        def work(tx: Transaction) -> None:
            cause.operation = scale_sets.protect(
                tx, scale_set.id, machine.instance_id, protection, self.moment()
            ).id

        return cause, work

    def _delete_set(self, scale_set: ScaleSet) -> Asked:
        present = scale_sets.members(self.store.read(), scale_set)
        force = self.chance() < 0.15
        cause = Cause(
            "delete set",
            set_id=scale_set.id,
            targets=frozenset(machine.id for _, machine in present),
            force=force,
        )

        def work(tx: Transaction) -> None:
            operation = scale_sets.delete(tx, scale_set.id, self.moment(), force=force)
            cause.operation = operation.id

        return cause, work

    def _lone(self) -> Asked:
        """Make machines that no set owns, or delete them with their scope."""
        lone = [(key, view) for key, view in self.witness.views.items() if view.set_id is None]
        if len(lone) < LONE_MAX and self.chance() < 0.6:
            model = Model(notice=self.rng.choice((None, 5 * MINUTE, 15 * MINUTE)))
            names = [f"vm-{self.asked}-{n}" for n in range(self.rng.choice((1, 2, 3)))]
            kind = ScopeKind.AVAILABILITY_SET
            return Cause("create"), lambda tx: events.create_scope(
                tx, kind, names, model, self.moment()
            )
        if not lone:
            return Cause("delete"), lambda tx: events.delete_scope(
                tx, ScopeId("nobody"), self.moment()
            )
        scope_id, view = self.rng.choice(lone)
        force = self.chance() < 0.15
        cause = Cause("delete", targets=frozenset(view.machines), force=force)
        return cause, lambda tx: events.delete_scope(tx, scope_id, self.moment(), force=force)

    # The platform

    def _platform(self) -> Asked | None:
        views = [(key, view) for key, view in self.witness.views.items() if view.machines]
        if not views:
            return None
        scope_id, view = self.rng.choice(views)
        dice = self.chance()
        if dice < 0.35 and view.shown.events:
            event_id = self.rng.choice(view.shown.events).id
            cause = Cause("withdraw", scope_id=scope_id, event_ids=(event_id,))
            return cause, lambda tx: events.withdraw(tx, scope_id, event_id, self.moment())
        return self._announce(scope_id, list(view.machines), has_started=dice > 0.85)

    def _announce(
        self, scope_id: ScopeId, machines: Sequence[MachineId], *, has_started: bool
    ) -> Asked:
        event_type = self.rng.choice(PLATFORM_TYPES)
        count = 1 if event_type is EventType.PREEMPT else self.rng.choice((1, 2, 3))
        fact = Announced(
            event_id=self.ids.event_id(),
            type=event_type,
            machines=tuple(self.rng.sample(machines, min(count, len(machines)))),
            has_started=has_started,
            notice=self.rng.choice((None, None, timedelta(seconds=20))),
        )
        cause = Cause("fail host" if has_started else "announce", scope_id=scope_id)
        return cause, lambda tx: events.announce(tx, scope_id, fact, self.moment())

    # The end

    def _calm_down(self) -> None:
        """Let everything that is due happen, until nothing is, without any fault."""
        for _ in range(5000):
            self._pump()
            due = self.store.read().next_due()
            if due is None:
                return
            self.clock.move_to(max(self.now, due))
        raise BrokenPromiseError("it does not come to rest")

    def _check_capacity(self) -> None:
        reader = self.store.read()
        for scale_set in reader.scale_sets():
            present = scale_sets.members(reader, scale_set)
            expected = self.witness.capacity.get(scale_set.id)
            found = scale_sets.capacity_of(present)
            if found != expected:
                raise BrokenPromiseError(f"{scale_set.name}: capacity {found}, not {expected}")
            for _, machine in present:
                self._check_documents(reader, scale_set, machine)
            self._check_operations(reader)

    def _check_documents(self, reader: Ledger, scale_set: ScaleSet, machine: Machine) -> None:
        """Insist that the model which a machine has, and the one it booted with, can be shown."""
        for number in (machine.model.version, machine.booted):
            try:
                reader.document(scale_set.id, number)
            except ResourceNotFoundError:
                raise BrokenPromiseError(f"{machine.name}: model {number} is lost") from None

    def _check_operations(self, reader: Ledger) -> None:
        """Insist that a deletion is not called finished before its machines have gone."""
        present = {m for view in self.witness.views.values() for m in view.machines}
        for operation_id, cause in list(self.witness.operations.items())[-5:]:
            is_deletion = cause.kind in ("delete", "delete set")
            if is_deletion and reader.operation(operation_id).is_over and cause.targets & present:
                raise BrokenPromiseError(f"{cause} is over, but not its machines")

    def _check_end(self) -> None:
        reader = self.store.read()
        self._check_capacity()
        left = {m for view in self.witness.views.values() for m in view.machines}
        if left & self.witness.leaving:
            raise BrokenPromiseError(f"never deleted: {left & self.witness.leaving}")
        for view in self.witness.views.values():
            if view.shown.events:
                raise BrokenPromiseError(f"never over: {view.shown.events}")
            if view.set_id is None and not view.machines:
                raise BrokenPromiseError("a scope that nobody owns has no machines and stays")
        for operation_id, cause in self.witness.operations.items():
            operation = reader.operation(operation_id)
            if not operation.is_over:
                raise BrokenPromiseError(f"never ended: {operation} of {cause}")
            is_deletion = cause.kind in ("delete", "delete set")
            if is_deletion and operation.status is not OperationStatus.SUCCEEDED:
                raise BrokenPromiseError(f"a deletion failed: {operation}")
        if self.store._shelf._effects:
            raise BrokenPromiseError("orders are left that nobody carries out")


ACTIONS = (
    Action.RESTART,
    Action.RESTART,
    Action.REDEPLOY,
    Action.DEALLOCATE,
    Action.START,
    Action.POWER_OFF,
    Action.REIMAGE,
    Action.UPDATE,
)
PLATFORM_TYPES = (
    EventType.FREEZE,
    EventType.REBOOT,
    EventType.REDEPLOY,
    EventType.PREEMPT,
)
