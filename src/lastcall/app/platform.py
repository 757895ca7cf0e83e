"""The platform as its edges see it: every use case behind one door, each one a transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import activities, events
from lastcall.app.directory import Directory, Published
from lastcall.app.learning import Moment
from lastcall.app.reconcile import Reconciler
from lastcall.app.runner import PERIOD, Runner
from lastcall.engine.effects import Step
from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.facts import Announced
from lastcall.engine.limits import (
    FIRST_CALL_DELAY_MAX,
    NOTICE_MIN,
    SCOPES_PER_PASS_MAX,
)
from lastcall.engine.model import ScopeId
from lastcall.engine.policy import Policy
from lastcall.ports import (
    Clock,
    Commit,
    Driver,
    Ids,
    Reader,
    Store,
    StoreUnavailableError,
    Transaction,
)

T = TypeVar("T")

CLOCK_KEY: Final = "clock"


@runtime_checkable
class MovableClock(Clock, Protocol):
    """A clock that stands still until it is told to move."""

    def move_to(self, instant: datetime) -> None:
        """Set the clock forward."""
        ...


class Realism(Struct, frozen=True, kw_only=True):
    """Azure's own discomforts, each off unless asked for (D12)."""

    rate_limit: bool = False
    first_call_delay: bool = False
    short_notices: bool = False


class World(Struct, frozen=True, kw_only=True):
    """The ports that the platform stands on."""

    store: Store
    driver: Driver
    clock: Clock
    ids: Ids


class Platform:
    """Joins the store, the driver and time; edges talk to nothing else."""

    def __init__(self, world: World, policy: Policy, realism: Realism | None = None) -> None:
        self._store = world.store
        self._ids = world.ids
        self.clock = world.clock
        self.policy = policy
        self.realism = realism or Realism()
        self.directory = Directory()
        self._reconciler = Reconciler(world.store, world.driver, self.moment, self._was_read)
        self.runner = Runner(self._reconciler, world.clock, self._upkeep)
        self._observers: list[Callable[[Commit], None]] = []
        self._running: asyncio.Task[None] | None = None
        self._moved = asyncio.Condition()
        self._moving = asyncio.Lock()
        self._flushed_at = world.clock.now()
        self.trouble = ""

    async def start(self) -> None:
        """Take over what the store has, then begin to run."""
        self._store.observe(self._observe)
        scopes, next_due = await self._store.read(lambda r: (tuple(r.scopes()), r.next_due()))
        self.directory.load(scopes)
        if isinstance(self.clock, MovableClock):
            await self._remember_clock(self.clock.now())
        self.runner.observe(Commit(next_due=next_due))
        self._running = asyncio.create_task(self.runner.run())

    async def stop(self) -> None:
        """Stop running and close the store; what was answered is recorded."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        try:
            await self._flush_watched()
        except StoreUnavailableError:
            pass  # A mark more or less; what was answered is recorded.
        finally:
            await self._store.close()

    def moment(self) -> Moment:
        """Return the circumstances of a decision made now."""
        return Moment(self.clock.now(), self.policy, self._ids)

    def transact(self, work: Callable[[Transaction, Moment], T]) -> Awaitable[T]:
        """Run one use case: it is durable when the result is there, and so is who asked for it."""
        request = activities.UNDER_WAY.get()
        if request is None or request.is_logged:
            return self._store.transact(lambda tx: work(tx, self.moment()))
        return self._store.transact(lambda tx: self._logged(tx, work, request))

    def _logged(
        self, tx: Transaction, work: Callable[[Transaction, Moment], T], request: activities.Request
    ) -> T:
        moment = replace(self.moment(), asked=request.asked)
        result = work(tx, moment)
        if not tx.has_logged():
            activities.done(tx, request.asked, moment.ids.operation_id(), moment.now)
        request.is_logged = True
        return result

    async def read(self, work: Callable[[Reader], T]) -> T:
        """Look at what is recorded."""
        return await self._store.read(work)

    def observe(self, observer: Callable[[Commit], None]) -> Callable[[], None]:
        """Call `observer` after every commit, until the returned function is called."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def approve(self, approval: events.Approval) -> Awaitable[Step]:
        """Record an approval; it may be answered once the result is there."""
        return self.transact(lambda tx, moment: events.approve(tx, approval, moment))

    async def announce(self, scope_id: ScopeId, fact: Announced) -> Step:
        """Announce a platform event; a realistic platform does not always keep its promise."""
        if self.realism.short_notices and fact.notice is None and fact.type in NOTICE_MIN:
            notice = NOTICE_MIN[fact.type] * (1 / 3 + self._ids.chance() * 2 / 3)
            fact = replace(fact, notice=notice)
        return await self.transact(lambda tx, moment: events.announce(tx, scope_id, fact, moment))

    async def watch(self, published: Published) -> None:
        """Turn Scheduled Events on for a scope that nobody has watched (R33)."""
        scope_id = published.scope.id
        await self.transact(lambda tx, moment: events.watch(tx, (scope_id,), moment))
        if self.realism.first_call_delay:
            await self.wait(self.policy.paced(FIRST_CALL_DELAY_MAX) * self._ids.chance())

    async def wait(self, duration: timedelta) -> None:
        """Let a duration pass on the platform's own clock."""
        until = self.clock.now() + duration
        if not isinstance(self.clock, MovableClock):
            await asyncio.sleep(duration.total_seconds())
            return
        async with self._moved:
            await self._moved.wait_for(lambda: self.clock.now() >= until)

    async def advance(self, by: timedelta) -> datetime:
        """Move a virtual clock, doing everything that becomes due on the way, in order."""
        clock = self.clock
        if not isinstance(clock, MovableClock):
            raise OperationNotAllowedError(
                "The clock is real and cannot be moved; start with --clock virtual."
            )
        async with self._moving:
            target = clock.now() + by
            await self._flush_watched()
            await self._reconciler.reconcile()
            while (due := await self._store.read(lambda r: r.next_due())) and due <= target:
                await self._move(clock, max(due, clock.now()))
                await self._reconciler.reconcile()
            await self._move(clock, target)
        return target

    async def _move(self, clock: MovableClock, instant: datetime) -> None:
        """Set the clock, on disk first: it never runs backwards, not even across a crash."""
        await self._remember_clock(instant)
        clock.move_to(instant)
        async with self._moved:
            self._moved.notify_all()

    async def _remember_clock(self, instant: datetime) -> None:
        await self._store.transact(lambda tx: tx.remember(CLOCK_KEY, instant.isoformat()))

    def _was_read(self, scope_id: ScopeId) -> bool:
        published = self.directory.scope(scope_id)
        return published is not None and published.touched

    def _observe(self, commit: Commit) -> None:
        self.trouble = commit.trouble
        if commit.trouble:
            return
        self.directory.apply(commit)
        self.runner.observe(commit)
        for observer in tuple(self._observers):
            observer(commit)

    async def _upkeep(self) -> None:
        """Write the marks of who watches, and prune, at most once a minute."""
        now = self.clock.now()
        if now - self._flushed_at < PERIOD:
            return
        await self._flush_watched()
        await self._store.transact(lambda tx: tx.prune(now))
        self._flushed_at = now

    async def _flush_watched(self) -> None:
        touched = [published for published in self.directory.scopes() if published.touched]
        for start in range(0, len(touched), SCOPES_PER_PASS_MAX):
            await self._mark(touched[start : start + SCOPES_PER_PASS_MAX])

    async def _mark(self, touched: Sequence[Published]) -> None:
        scope_ids = [published.scope.id for published in touched]
        for published in touched:
            published.touched = False
        try:
            await self.transact(lambda tx, moment: events.watch(tx, scope_ids, moment))
        except StoreUnavailableError:
            for published in touched:
                published.touched = True
            raise
