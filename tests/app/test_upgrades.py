"""How a changed model reaches instances: Manual, Automatic and Rolling (R69, R105)."""

from datetime import timedelta

from msgspec.structs import replace

from lastcall.app import rollouts
from lastcall.app.set_services import reapply
from lastcall.drivers.simulated import Script
from lastcall.engine.model import Action, Provisioning
from lastcall.engine.scale_sets import RolloutCode, RolloutKind, Traits, UpgradeMode

from .builders import MINUTE, NOON, NOTICE, SECOND, Fleet

ROLLING = Traits(upgrade_mode=UpgradeMode.ROLLING, batch_percent=34)
SLOW = Script(delays={Action.UPDATE: 10 * SECOND})


async def versions(fleet: Fleet) -> list[int]:
    return [machine.model.version for machine in (await fleet.machines()).values()]


async def test_a_manual_upgrade_waits_to_be_asked_for():
    async with Fleet() as fleet:
        await fleet.write(2, Traits())
        written = await fleet.write(None, Traits(notice=NOTICE), changes=True)

        assert await fleet.status(written.operation) == "Succeeded"
        assert await versions(fleet) == [1, 1]
        await fleet.act(Action.UPDATE, "1")
        assert await versions(fleet) == [1, 2]


async def test_a_write_that_changes_nothing_for_instances_leaves_them_up_to_date():
    automatic = Traits(upgrade_mode=UpgradeMode.AUTOMATIC)
    async with Fleet() as fleet:
        await fleet.write(2, automatic)
        await fleet.write(None, automatic)

        assert await versions(fleet) == [1, 1]
        assert fleet.driver.times(Action.UPDATE) == []


async def test_an_automatic_upgrade_reaches_all_at_once():
    automatic = Traits(upgrade_mode=UpgradeMode.AUTOMATIC)
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, automatic)
        written = await fleet.write(None, replace(automatic, notice=NOTICE), changes=True)

        assert (await fleet.machines())["web_0"].provisioning is Provisioning.UPDATING
        assert await fleet.status(written.operation) == "InProgress"
        await fleet.advance(10 * SECOND)
        assert await versions(fleet) == [2, 2, 2]
        assert await fleet.status(written.operation) == "Succeeded"


async def test_a_rolling_upgrade_goes_batch_by_batch():
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, ROLLING)
        written = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)

        assert len(fleet.driver.times(Action.UPDATE)) == 1
        await fleet.advance(10 * SECOND)
        assert sorted(await versions(fleet)) == [1, 1, 2]
        await fleet.advance(20 * SECOND)
        assert await versions(fleet) == [2, 2, 2]
        assert await fleet.status(written.operation) == "Succeeded"
        assert (await fleet.scale_set()).rollout is None


async def test_a_rolling_upgrade_pauses_between_batches():
    pausing = replace(ROLLING, batch_pause=timedelta(minutes=1))
    async with Fleet() as fleet:
        await fleet.write(3, pausing)
        await fleet.write(None, replace(pausing, notice=NOTICE), changes=True)
        await fleet.advance(5 * MINUTE)

        first, second, third = fleet.driver.times(Action.UPDATE)
        assert (first - NOON, second - first, third - second) == (timedelta(0), MINUTE, MINUTE)


async def test_a_rolling_upgrade_stops_when_too_many_are_unhealthy():
    broken = Script(refusal=lambda o: "bad image" if o.perform.action is Action.UPDATE else "")
    async with Fleet(broken) as fleet:
        await fleet.write(3, ROLLING)
        written = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)
        await fleet.advance(MINUTE)

        operation = await fleet.operation(written.operation)
        assert operation.status == "Failed"
        assert "Rolling upgrade stopped" in operation.failure.message
        assert len(fleet.driver.times(Action.UPDATE)) == 1
        assert (await fleet.scale_set()).provisioning is Provisioning.FAILED


async def test_a_tolerant_rolling_upgrade_goes_on_past_a_failure_and_ends():
    tolerant = replace(ROLLING, unhealthy_percent_max=100)
    broken = Script(
        refusal=lambda o: (
            "bad" if o.perform.action is Action.UPDATE and o.machine.name == "web_0" else ""
        )
    )
    async with Fleet(broken) as fleet:
        await fleet.write(3, tolerant)
        written = await fleet.write(None, replace(tolerant, notice=NOTICE), changes=True)
        await fleet.advance(MINUTE)

        assert (await fleet.operation(written.operation)).is_over
        assert await versions(fleet) == [1, 2, 2]


async def test_a_newer_rolling_upgrade_takes_over_and_the_older_operation_ends():
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, ROLLING)
        first = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)
        second = await fleet.write(None, replace(ROLLING, notice=2 * NOTICE), changes=True)
        await fleet.advance(5 * MINUTE)

        assert await fleet.status(first.operation) == "Failed"
        assert await fleet.status(second.operation) == "Succeeded"
        notices = {machine.model.notice for machine in (await fleet.machines()).values()}
        assert notices == {2 * NOTICE}


async def test_a_set_deleted_in_the_middle_of_a_rolling_upgrade_ends_both_operations():
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, ROLLING)
        rolling = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)
        deleting = await fleet.delete_set()
        await fleet.advance(MINUTE)

        assert (await fleet.operation(rolling.operation)).is_over
        assert await fleet.status(deleting) == "Succeeded"


async def test_an_instance_deleted_in_the_middle_of_a_rolling_upgrade_does_not_stop_it():
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, ROLLING)
        rolling = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)
        await fleet.delete("0")
        await fleet.advance(MINUTE)

        assert (await fleet.operation(rolling.operation)).is_over
        assert await versions(fleet) == [2, 2]


async def test_a_rolling_upgrade_of_an_empty_set_ends_at_once():
    async with Fleet() as fleet:
        await fleet.write(0, ROLLING)
        written = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)

        assert await fleet.status(written.operation) == "Succeeded"


async def test_a_rolling_upgrade_ends_when_the_mode_is_changed_to_manual():
    async with Fleet(SLOW) as fleet:
        await fleet.write(3, ROLLING)
        rolling = await fleet.write(None, replace(ROLLING, notice=NOTICE), changes=True)
        manual = Traits(upgrade_mode=UpgradeMode.MANUAL, notice=2 * NOTICE)
        await fleet.write(None, manual, changes=True)
        await fleet.advance(5 * MINUTE)

        assert sorted(await versions(fleet)) == [1, 1, 2]
        assert (await fleet.operation(rolling.operation)).failure.code == "OperationPreempted"


async def test_an_upgrade_applies_the_model_of_when_it_was_asked_for():
    async with Fleet(SLOW) as fleet:
        await fleet.write(1)
        await fleet.write(None, Traits(notice=2 * NOTICE), changes=True)
        await fleet.act(Action.UPDATE, "0")
        await fleet.write(None, Traits(notice=3 * NOTICE), changes=True)
        await fleet.advance(MINUTE)

        assert (await fleet.machines())["web_0"].model.notice == 2 * NOTICE


async def test_only_the_newest_write_decides_how_the_set_is():
    slow = Script(
        delays={Action.CREATE: MINUTE},
        refusal=lambda o: "no luck" if o.perform.action is Action.RESTART else "",
    )
    async with Fleet(slow) as fleet:
        await fleet.write(1)
        restarted = await fleet.act(Action.RESTART, "0")
        assert await fleet.status(restarted) == "Failed"
        assert (await fleet.scale_set()).provisioning is Provisioning.CREATING
        await fleet.advance(MINUTE)

        assert (await fleet.scale_set()).provisioning is Provisioning.SUCCEEDED


async def test_a_model_that_is_on_its_way_to_an_instance_outlives_later_writes():
    automatic = Traits(upgrade_mode=UpgradeMode.AUTOMATIC)
    async with Fleet(SLOW) as fleet:
        await fleet.write(1, automatic)
        await fleet.write(None, replace(automatic, notice=NOTICE), changes=True)
        await fleet.write(None, replace(automatic, notice=2 * NOTICE), changes=True)
        await fleet.write(None, Traits(notice=3 * NOTICE), changes=True)
        await fleet.advance(10 * SECOND)

        (version,) = await versions(fleet)
        assert version < 4
        assert await fleet.platform.read(lambda r: r.document(fleet.set_id(), version))


async def test_an_os_upgrade_reimages_and_is_remembered():
    async with Fleet() as fleet:
        await fleet.write(2, ROLLING)
        set_id = fleet.set_id("web")
        operation = await fleet.platform.transact(
            lambda tx, moment: rollouts.start(tx, set_id, RolloutKind.OS, moment)
        )
        await fleet.settle()

        assert await fleet.status(operation) == "Succeeded"
        assert len(fleet.driver.times(Action.REIMAGE)) == 2
        assert fleet.driver.times(Action.UPDATE) == []
        (past,) = (await fleet.platform.read(lambda r: r.scale_set(set_id))).past_rollouts
        assert (past.kind, past.code) == (RolloutKind.OS, RolloutCode.COMPLETED)


async def test_a_set_that_failed_is_well_again_once_it_is_reapplied():
    broken = Script(refusal=lambda order: "No." if order.perform.action is Action.CREATE else "")
    async with Fleet(broken) as fleet:
        await fleet.write(1, Traits())
        set_id = fleet.set_id("web")
        before = await fleet.platform.read(lambda r: r.scale_set(set_id))

        await fleet.platform.transact(lambda tx, moment: reapply(tx, set_id, moment))

        after = await fleet.platform.read(lambda r: r.scale_set(set_id))
        assert before.provisioning is Provisioning.FAILED
        assert after.provisioning is Provisioning.SUCCEEDED
        assert after.number == before.number
