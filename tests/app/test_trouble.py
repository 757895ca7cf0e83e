"""Drivers that fail for a while or for good, evictions, protection, and lone scopes."""

from datetime import timedelta
from itertools import pairwise

import pytest

from lastcall.app import events, scale_sets
from lastcall.app.platform import Platform, World
from lastcall.app.reconcile import retry_delay
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.errors import (
    EventNotFoundError,
    InstanceNotFoundError,
    OperationNotAllowedError,
)
from lastcall.engine.limits import RETRY_DELAY_MAX
from lastcall.engine.model import (
    Action,
    EventType,
    Model,
    Power,
    Protection,
    Provisioning,
    ScopeKind,
)
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import Traits
from lastcall.ids import RandomIds
from lastcall.ports import Pending

from .builders import HELD, MINUTE, NOON, NOTICE, SECOND, Fleet

SPOT = Traits(eviction=Action.DEALLOCATE)
SPOT_DELETE = Traits(eviction=Action.DELETE)


async def evict(fleet: Fleet, instance: str) -> None:
    await fleet.platform.transact(
        lambda tx, moment: scale_sets.evict(tx, fleet.set_id(), instance, moment)
    )
    await fleet.settle()


async def test_trouble_is_tried_again_and_waits_longer_each_time():
    troubles = iter([True] * 5)
    async with Fleet(Script(trouble=lambda _order: next(troubles, False))) as fleet:
        written = await fleet.write(1)
        assert await fleet.status(written.operation) == "InProgress"
        await fleet.advance(MINUTE)

        asked = fleet.driver.times(Action.CREATE)
        waits = [(b - a).total_seconds() for a, b in pairwise(asked)]
        assert waits == [1, 2, 4, 8, 16]
        assert await fleet.status(written.operation) == "Succeeded"


def test_the_wait_has_a_bound():
    assert retry_delay(1_000_000) == RETRY_DELAY_MAX


async def test_a_driver_that_gives_up_fails_the_operation_with_its_reason():
    async with Fleet(Script(refusal=lambda _order: "quota exceeded")) as fleet:
        written = await fleet.write(1)

        operation = await fleet.operation(written.operation)
        assert operation.status == "Failed"
        assert operation.failure.message == "quota exceeded"
        assert (await fleet.machines())["web_0"].failure == "quota exceeded"


async def test_an_action_that_takes_its_time_is_asked_about_when_it_said():
    async with Fleet(Script(delays={Action.CREATE: 40 * SECOND})) as fleet:
        written = await fleet.write(1)
        await fleet.advance(MINUTE)

        assert fleet.driver.times(Action.CREATE) == [NOON, NOON + 40 * SECOND]
        ended_at = (await fleet.operation(written.operation)).ended_at
        assert ended_at == NOON + 40 * SECOND


async def test_an_evicted_instance_is_deallocated_after_its_notice():
    async with Fleet() as fleet:
        await fleet.write(2, SPOT)
        await evict(fleet, "1")

        (event,) = fleet.document().events
        assert (event.type, event.description) == (EventType.PREEMPT, "")
        await fleet.advance(30 * SECOND)
        assert (await fleet.machines())["web_1"].power is Power.DEALLOCATED
        assert await fleet.capacity() == 2


async def test_an_evicted_instance_of_the_delete_policy_is_gone_after_its_notice():
    async with Fleet() as fleet:
        await fleet.write(2, SPOT_DELETE)
        await evict(fleet, "1")
        await fleet.advance(30 * SECOND)

        assert [*await fleet.machines()] == ["web_0"]
        assert await fleet.capacity() == 1


async def test_a_deletion_asked_for_during_an_eviction_is_settled_by_it():
    async with Fleet() as fleet:
        await fleet.write(2, Traits(eviction=Action.DELETE, notice=NOTICE))
        await fleet.watch()
        await evict(fleet, "1")
        operation = await fleet.delete("1")
        assert len(fleet.document().events) == 2
        await fleet.advance(30 * SECOND)

        assert await fleet.status(operation) == "Succeeded"
        assert fleet.document().events == ()


async def test_only_spot_instances_are_evicted():
    async with Fleet() as fleet:
        await fleet.write(1)

        with pytest.raises(OperationNotAllowedError, match="Spot"):
            await evict(fleet, "0")
        with pytest.raises(InstanceNotFoundError):
            await evict(fleet, "9")


async def test_a_platform_event_can_be_announced_and_withdrawn():
    async with Fleet() as fleet:
        await fleet.write(2)
        event_id = await fleet.announce(EventType.FREEZE, "web_0", "web_1")
        scope_id = fleet.platform.directory.scope_of(fleet.vm_id("web_0")).scope.id
        assert fleet.document().events[0].resources == ("web_0", "web_1")

        def withdraw(tx, moment):
            return events.withdraw(tx, scope_id, event_id, moment)

        await fleet.platform.transact(withdraw)
        assert fleet.document().events == ()
        with pytest.raises(EventNotFoundError):
            await fleet.platform.transact(withdraw)
        await fleet.advance(15 * MINUTE)
        assert fleet.driver.times(Action.FREEZE) == []


async def test_an_instance_deleted_while_it_is_frozen_ends_both():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.announce(EventType.FREEZE, "web_0", "web_1", has_started=True)
        operation = await fleet.delete("1")
        await fleet.advance(MINUTE)

        assert await fleet.status(operation) == "Succeeded"
        assert fleet.document().events == ()


async def test_a_set_that_goes_while_its_driver_is_at_work_takes_the_work_along():
    async with Fleet(Script(delays={Action.CREATE: MINUTE})) as fleet:
        creating = await fleet.write(2)
        deleting = await fleet.delete_set()
        await fleet.advance(5 * MINUTE)

        assert await fleet.status(deleting) == "Succeeded"
        assert (await fleet.operation(creating.operation)).failure.code == "OperationPreempted"
        assert await fleet.platform.read(lambda reader: reader.next_due()) is None


async def test_a_protected_instance_is_not_scaled_in():
    async with Fleet() as fleet:
        await fleet.write(2, Traits())
        operation = await fleet.platform.transact(
            lambda tx, moment: scale_sets.protect(
                tx, fleet.set_id(), "1", Protection(from_scale_in=True), moment
            )
        )
        assert await fleet.status(operation) == "Succeeded"
        await fleet.write(1, Traits())

        assert [*await fleet.machines()] == ["web_1"]
        with pytest.raises(OperationNotAllowedError, match="protected"):
            await fleet.write(0, Traits())


async def test_an_instance_protected_from_set_actions_is_left_out_of_all():
    async with Fleet() as fleet:
        await fleet.write(2, Traits())
        await fleet.platform.transact(
            lambda tx, moment: scale_sets.protect(
                tx, fleet.set_id(), "1", Protection(from_scale_set_actions=True), moment
            )
        )
        await fleet.delete()

        assert [*await fleet.machines()] == ["web_1"]


async def test_a_scope_that_no_set_owns_lives_by_the_same_rules():
    async with Fleet() as fleet:
        scope = await fleet.platform.transact(
            lambda tx, moment: events.create_scope(
                tx, ScopeKind.AVAILABILITY_SET, ["db_a", "db_b"], Model(), moment
            )
        )
        await fleet.settle()
        await fleet.announce(EventType.REBOOT, "db_a", notice=timedelta(seconds=20))
        assert fleet.document("db_b").events[0].resources == ("db_a",)
        await fleet.advance(20 * SECOND)

        assert fleet.driver.times(Action.RESTART) == [NOON + 20 * SECOND]
        assert fleet.document("db_a").events == ()
        assert scope.kind is ScopeKind.AVAILABILITY_SET


async def test_a_scope_that_went_before_its_mark_was_written_is_passed_over():
    async with Fleet() as fleet:
        await fleet.write(1, HELD)
        published = fleet.platform.directory.scope_of(fleet.vm_id("web_0"))
        await fleet.delete_set(force=True)

        await fleet.platform.watch(published)
        assert list(fleet.platform.directory.scopes()) == []


class BadDriver(SimulatedDriver):
    """Fails in ways that no driver should, for one machine."""

    def __init__(self, misbehave) -> None:
        super().__init__()
        self.misbehave = misbehave

    async def perform(self, order, now):
        if order.machine.name == "web_0":
            return await self.misbehave(now)
        return await super().perform(order, now)


async def breaks(_now):
    raise ValueError("a bug")


async def asks_in_the_past(now):
    return Pending(now)


@pytest.mark.parametrize(
    ("misbehave", "says"),
    [(breaks, "ValueError in the driver"), (asks_in_the_past, "asked again in the past")],
)
async def test_a_bad_driver_costs_its_own_machine_time_and_no_other(misbehave, says):
    fleet = Fleet()
    world = World(
        store=fleet.store, driver=BadDriver(misbehave), clock=fleet.clock, ids=RandomIds(1)
    )
    fleet.platform = Platform(world, Policy())
    async with fleet:
        await fleet.write(2)

        states = {name: m.provisioning for name, m in (await fleet.machines()).items()}
        assert states == {"web_0": Provisioning.CREATING, "web_1": Provisioning.SUCCEEDED}
        assert any(says in text for text in await fleet.history())


async def test_an_effect_whose_machine_is_not_there_is_dropped():
    async with Fleet(Script(delays={Action.CREATE: MINUTE})) as fleet:
        await fleet.write(1)
        scope_id = (await fleet.scale_set()).groups[0].scope_id
        await fleet.platform.transact(lambda tx, _moment: tx.forget_scope(scope_id))
        await fleet.advance(2 * MINUTE)

        assert await fleet.platform.read(lambda reader: reader.next_due()) is None


async def test_why_a_deletion_takes_so_long_is_in_the_history():
    stuck = Script(refusal=lambda o: "disk busy" if o.perform.action is Action.DELETE else "")
    async with Fleet(stuck) as fleet:
        await fleet.write(1)
        operation = await fleet.delete("0", force=True)
        await fleet.advance(MINUTE)

        assert await fleet.status(operation) == "InProgress"
        told = [text for text in await fleet.history() if "disk busy" in text]
        assert told == ["web_0: delete is tried again: disk busy"]
