"""Time, watching, realism, and the loop that keeps the promises."""

import asyncio
import logging
from datetime import timedelta

import pytest

from lastcall.app.platform import Platform, Realism, World
from lastcall.app.runner import Runner
from lastcall.clock import SystemClock, VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.limits import FIRST_CALL_DELAY_MAX, IDLE_AFTER, NOTICE_MIN
from lastcall.engine.model import Action, EventType
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.ports import Commit, StoreUnavailableError
from lastcall.store.memory import MemoryStore

from .builders import HOUR, MINUTE, NOON, NOTICE, SECOND, Fleet


async def eventually(condition) -> None:
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.002)
    pytest.fail("it never happened")


async def test_advancing_does_everything_that_becomes_due_in_order():
    slow = Script(delays={Action.DELETE: 7 * SECOND})
    async with Fleet(slow) as fleet:
        await fleet.write(3)
        await fleet.watch()
        await fleet.delete("1")
        await fleet.announce(EventType.REBOOT, "web_0", notice=2 * MINUTE)
        await fleet.announce(EventType.FREEZE, "web_2", notice=6 * MINUTE)
        target = await fleet.platform.advance(10 * MINUTE)

        assert target == NOON + 10 * MINUTE == fleet.clock.now()
        first_asked = {what: at for at, _, what in reversed(fleet.driver.asked)}
        assert first_asked[Action.RESTART] == NOON + 2 * MINUTE
        assert first_asked[Action.DELETE] == NOON + NOTICE
        assert fleet.driver.times(Action.DELETE)[-1] == NOON + NOTICE + 7 * SECOND
        assert first_asked[Action.FREEZE] == NOON + 6 * MINUTE
        asked = [at for at, _, _ in fleet.driver.asked]
        assert asked == sorted(asked)


async def test_where_the_clock_stands_is_remembered():
    async with Fleet() as fleet:
        await fleet.advance(HOUR)

        remembered = await fleet.platform.read(lambda reader: reader.recall("clock"))
        assert remembered == (NOON + HOUR).isoformat()


async def test_a_real_clock_cannot_be_moved():
    world = World(
        store=MemoryStore(), driver=SimulatedDriver(), clock=SystemClock(), ids=RandomIds(1)
    )
    platform = Platform(world, Policy())

    with pytest.raises(OperationNotAllowedError, match="--clock virtual"):
        await platform.advance(MINUTE)
    await platform.wait(timedelta(milliseconds=1))


async def test_a_scope_nobody_reads_for_a_day_is_off_again():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        await fleet.advance(IDLE_AFTER)
        operation = await fleet.delete("1")

        assert await fleet.status(operation) == "Succeeded"
        assert any("Scheduled Events is off" in text for text in await fleet.history())


async def test_watching_again_starts_the_incarnation_over():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        await fleet.announce(EventType.FREEZE, "web_0")
        assert fleet.document().incarnation == 2
        await fleet.advance(2 * IDLE_AFTER)
        await fleet.watch()

        assert fleet.document().incarnation == 1


async def test_marks_of_watching_are_written_at_most_once_a_minute():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.watch()
        published = fleet.platform.directory.scope_of(fleet.vm_id("web_0"))
        await eventually(lambda: fleet.platform.runner._next_due is not None)
        commits: list[Commit] = []
        forget = fleet.platform.observe(commits.append)

        fleet.clock.advance(30 * SECOND)
        published.touched = True
        await fleet.platform._upkeep()
        assert (commits, published.touched) == ([], True)
        fleet.clock.advance(30 * SECOND)
        await fleet.platform._upkeep()
        assert published.touched is False
        assert published.scope.watched_at == NOON + MINUTE
        fleet.clock.advance(30 * SECOND)
        published.touched = True
        await fleet.platform._upkeep()
        assert published.scope.watched_at == NOON + MINUTE

        forget()
        seen = len(commits)
        await fleet.write(2)
        assert len(commits) == seen


async def test_stopping_writes_the_marks_that_were_kept_in_memory():
    store = MemoryStore()
    async with Fleet(store=store) as fleet:
        await fleet.write(1)
        await fleet.watch()
        published = fleet.platform.directory.scope_of(fleet.vm_id("web_0"))
        fleet.clock.advance(10 * SECOND)
        published.touched = True

    (scope,) = await store.read(lambda reader: tuple(reader.scopes()))
    assert scope.watched_at == NOON + 10 * SECOND


async def test_a_platform_that_never_started_can_be_stopped():
    await Fleet().platform.stop()


async def test_a_restart_takes_over_everything_the_store_has():
    store = MemoryStore()
    async with Fleet(store=store) as first:
        await first.write(2)
        await first.watch()
        operation = await first.delete("1")

    async with Fleet(store=store) as second:
        assert second.document().events[0].resources == ("web_1",)
        assert second.platform.runner._next_due == NOON + NOTICE
        await second.advance(NOTICE)
        assert await second.status(operation) == "Succeeded"


async def test_the_first_call_may_take_its_time():
    async with Fleet(realism=Realism(first_call_delay=True)) as fleet:
        await fleet.write(1)
        call = asyncio.ensure_future(fleet.watch())
        await asyncio.sleep(0.01)
        assert not call.done()

        await fleet.advance(FIRST_CALL_DELAY_MAX)
        await asyncio.wait_for(call, 1)


async def test_a_realistic_platform_gives_less_notice_than_promised():
    async with Fleet(realism=Realism(short_notices=True)) as fleet:
        await fleet.write(1)
        await fleet.announce(EventType.FREEZE, "web_0")
        await fleet.announce(EventType.REBOOT, "web_0", notice=HOUR)

        freeze, reboot = fleet.document().events
        full = NOTICE_MIN[EventType.FREEZE]
        assert NOON + full / 3 <= freeze.not_before < NOON + full
        assert reboot.not_before == NOON + HOUR


# The loop


async def test_what_is_due_happens_without_being_asked_for():
    world = World(
        store=MemoryStore(), driver=SimulatedDriver(), clock=SystemClock(), ids=RandomIds(1)
    )
    platform = Platform(world, Policy(pace=6000.0))
    fleet = Fleet()
    fleet.platform = platform
    await platform.start()
    fleet.settle = lambda: asyncio.sleep(0)
    await fleet.write(2)
    await eventually(lambda: platform.directory.default() is not None)
    await fleet.watch()
    await fleet.delete("1")
    await eventually(lambda: len(next(iter(platform.directory.scopes())).scope.machines) == 1)
    await platform.stop()


class FailingStore(MemoryStore):
    """A store that has troubles for a while."""

    def __init__(self, *troubles: Exception) -> None:
        super().__init__()
        self.troubles = list(troubles)

    async def transact(self, work):
        if self.troubles:
            raise self.troubles.pop(0)
        return await super().transact(work)


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (StoreUnavailableError("disk full"), "The store is unavailable: disk full"),
        (ZeroDivisionError("a bug"), "A pass failed"),
    ],
)
async def test_the_loop_outlives_trouble_and_bugs(trouble, says, caplog):
    store = FailingStore(trouble)
    world = World(store=store, driver=SimulatedDriver(), clock=SystemClock(), ids=RandomIds(1))
    platform = Platform(world, Policy())
    with caplog.at_level(logging.WARNING):
        await platform.start()
        await eventually(lambda: platform.runner.failures == 1)
    assert says in caplog.text
    await platform.stop()


async def test_stopping_works_in_whatever_state_the_loop_is():
    for naps in range(12):
        fleet = Fleet()
        await fleet.platform.start()
        await fleet.write(1)
        for _ in range(naps):
            await asyncio.sleep(0)
        await asyncio.wait_for(fleet.platform.stop(), 1)


async def test_a_read_that_is_not_written_down_yet_counts():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        fleet.clock.advance(IDLE_AFTER - 30 * SECOND)
        fleet.platform.directory.scope_of(fleet.vm_id("web_0")).touched = True
        fleet.clock.advance(30 * SECOND)
        await fleet.platform._reconciler.reconcile()
        operation = await fleet.delete("1")

        assert await fleet.status(operation) == "InProgress"
        assert [event.resources for event in fleet.document().events] == [("web_1",)]


async def test_moving_the_clock_from_several_sides_moves_it_by_all_of_them():
    async with Fleet() as fleet:
        await fleet.write(1)
        await asyncio.gather(*(fleet.platform.advance(MINUTE) for _ in range(6)))

        assert fleet.clock.now() == NOON + 6 * MINUTE


async def test_the_clock_is_on_disk_before_it_moves():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.watch()
        await fleet.announce(EventType.FREEZE, "web_0")
        seen = []

        class Noting(VirtualClock):
            def move_to(self, instant):
                seen.append((instant, fleet.store._shelf.recall("clock")))
                super().move_to(instant)

        fleet.platform.clock = Noting(fleet.clock.now())
        await fleet.platform.advance(20 * MINUTE)

        assert len(seen) > 1
        assert all(instant.isoformat() == remembered for instant, remembered in seen)


class FullStore(MemoryStore):
    """A store whose disk is full once `is_full` is set."""

    is_full = False

    def run(self, work):
        if self.is_full:
            raise StoreUnavailableError("disk is full")
        return super().run(work)


async def test_stopping_on_a_full_disk_works_and_a_mark_is_kept_for_later():
    store = FullStore()
    async with Fleet(store=store) as fleet:
        await fleet.write(1)
        await fleet.watch()
        published = fleet.platform.directory.scope_of(fleet.vm_id("web_0"))
        published.touched = store.is_full = True

        with pytest.raises(StoreUnavailableError):
            await fleet.platform._flush_watched()

        assert published.touched


async def test_trouble_with_the_store_shows_until_a_commit_succeeds():
    async with Fleet() as fleet:
        fleet.platform._observe(Commit(trouble="disk is full"))
        assert fleet.platform.trouble == "disk is full"
        await fleet.write(1)

        assert fleet.platform.trouble == ""


class CountedPasses:
    """Stands in for the reconciler, which has work of its own."""

    def __init__(self) -> None:
        self.count = 0

    async def reconcile(self) -> None:
        self.count += 1


async def nothing() -> None:
    """Keep nothing up."""


async def test_a_sleeping_loop_is_woken_for_what_is_due_before_it_would_wake():
    passes, clock = CountedPasses(), SystemClock()
    runner = Runner(passes, clock, nothing)
    runner.observe(Commit(next_due=clock.now() + HOUR))
    running = asyncio.create_task(runner.run())
    await eventually(lambda: runner._sleeps_until is not None)
    assert passes.count == 1

    runner.observe(Commit(next_due=clock.now() + timedelta(milliseconds=20)))
    await eventually(lambda: passes.count >= 3)  # Once to look at the timer, once when it is due.

    running.cancel()


async def test_a_sleeping_loop_sleeps_on_for_what_is_due_later():
    passes, clock = CountedPasses(), SystemClock()
    runner = Runner(passes, clock, nothing)
    running = asyncio.create_task(runner.run())
    await eventually(lambda: runner._sleeps_until is not None)

    runner.observe(Commit(next_due=clock.now() + HOUR))
    runner.observe(Commit(next_due=None))

    assert not runner._woken.is_set()
    running.cancel()
