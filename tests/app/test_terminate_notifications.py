"""Deleting instances and sets, with and without their notices (SPEC section 9, D4-D6)."""

import pytest

from lastcall.app.events import Approval
from lastcall.app.scale_sets import member
from lastcall.drivers.simulated import Script
from lastcall.engine.errors import (
    ConflictError,
    EventNotFoundError,
    InstanceNotFoundError,
    InvalidParameterError,
    OperationNotAllowedError,
    PreconditionFailedError,
    ResourceNotFoundError,
    ScopeNotFoundError,
)
from lastcall.engine.model import Action, EventId, EventType, Provisioning
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import Orchestration, ScaleInRule, Traits

from .builders import HELD, MINUTE, NOON, NOTICE, SECOND, Fleet


async def test_a_set_is_created_with_its_instances():
    async with Fleet() as fleet:
        written = await fleet.write(3)

        assert written.is_new
        assert await fleet.status(written.operation) == "Succeeded"
        assert [*await fleet.machines()] == ["web_0", "web_1", "web_2"]
        assert (await fleet.scale_set()).provisioning is Provisioning.SUCCEEDED


async def test_a_set_without_a_capacity_gets_one_instance_and_then_keeps_what_it_has():
    async with Fleet() as fleet:
        await fleet.write(None)
        await fleet.write(3)
        await fleet.write(None)

        assert await fleet.capacity() == 3


async def test_an_empty_set_is_ready_at_once():
    async with Fleet() as fleet:
        written = await fleet.write(0)

        assert await fleet.status(written.operation) == "Succeeded"


async def test_scaling_in_announces_and_waits_for_the_notice():
    async with Fleet() as fleet:
        await fleet.write(3)
        await fleet.watch()
        written = await fleet.write(1)

        assert [e.resources for e in fleet.document().events] == [("web_1",), ("web_2",)]
        assert {e.not_before for e in fleet.document().events} == {NOON + NOTICE}
        assert await fleet.capacity() == 1
        assert await fleet.status(written.operation) == "InProgress"
        assert (await fleet.machines())["web_2"].provisioning is Provisioning.DELETING

        await fleet.advance(NOTICE - SECOND)
        assert fleet.driver.times(Action.DELETE) == []
        await fleet.advance(SECOND)
        assert fleet.driver.times(Action.DELETE) == [NOON + NOTICE] * 2
        assert [*await fleet.machines()] == ["web_0"]
        assert fleet.document().events == ()
        assert await fleet.status(written.operation) == "Succeeded"


async def test_the_last_approval_lets_all_go():
    async with Fleet() as fleet:
        await fleet.write(3)
        await fleet.watch()
        operation = await fleet.delete("1", "2")

        await fleet.approve(fleet.event("web_1"), by="web_1")
        assert fleet.driver.times(Action.DELETE) == []
        await fleet.approve(fleet.event("web_2"), by="web_2")
        assert fleet.driver.times(Action.DELETE) == [NOON, NOON]
        assert await fleet.status(operation) == "Succeeded"


async def test_an_approval_of_a_finished_event_is_welcome_and_of_an_unknown_one_refused():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        await fleet.delete("1")
        event_id = fleet.event("web_1")
        await fleet.approve(event_id)

        await fleet.approve(event_id)
        with pytest.raises(EventNotFoundError):
            await fleet.approve(event_id, EventId("unknown"))


async def test_deleting_the_whole_set_removes_it_after_the_last_instance():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        operation = await fleet.delete_set()

        assert (await fleet.scale_set()).provisioning is Provisioning.DELETING
        await fleet.approve(fleet.event("web_0"))
        assert await fleet.status(operation) == "InProgress"
        await fleet.advance(NOTICE)

        assert await fleet.status(operation) == "Succeeded"
        with pytest.raises(ResourceNotFoundError):
            await fleet.scale_set()
        assert list(fleet.platform.directory.scopes()) == []


async def test_an_empty_set_is_deleted_at_once():
    async with Fleet() as fleet:
        await fleet.write(0)
        operation = await fleet.delete_set()

        assert await fleet.status(operation) == "Succeeded"
        with pytest.raises(ResourceNotFoundError):
            await fleet.scale_set()


async def test_two_deletions_of_one_set_end_together():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        first = await fleet.delete_set()
        second = await fleet.delete_set()
        await fleet.advance(NOTICE)

        assert await fleet.status(first) == await fleet.status(second) == "Succeeded"


async def test_a_set_that_is_being_deleted_cannot_be_changed():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.watch()
        await fleet.delete_set()

        with pytest.raises(ConflictError, match="being deleted"):
            await fleet.write(2)


async def test_the_same_name_can_be_used_again_after_the_set_has_gone():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.delete_set()
        written = await fleet.write(1)

        assert written.is_new
        assert [*await fleet.machines()] == ["web_0"]


async def test_forced_deletion_of_a_set_gives_no_notice():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        operation = await fleet.delete_set(force=True)

        assert await fleet.status(operation) == "Succeeded"
        assert fleet.driver.times(Action.DELETE) == [NOON, NOON]


async def test_forcing_a_deletion_that_is_pending_ends_the_wait_of_both():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        patient = await fleet.delete("1")
        hasty = await fleet.delete("1", force=True)

        assert await fleet.status(patient) == await fleet.status(hasty) == "Succeeded"


async def test_joined_deletions_settle_both_operations():
    async with Fleet() as fleet:
        await fleet.write(3)
        await fleet.watch()
        first = await fleet.delete("1")
        second = await fleet.delete("1", "2")

        assert len(fleet.document().events) == 2
        await fleet.advance(NOTICE)
        assert await fleet.status(first) == await fleet.status(second) == "Succeeded"


async def test_naming_an_instance_twice_deletes_it_once_and_ends():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        operation = await fleet.delete("1", "1")
        await fleet.advance(NOTICE)

        assert await fleet.status(operation) == "Succeeded"
        assert await fleet.capacity() == 1


async def test_a_scale_in_over_several_placement_groups_holds_each_by_itself():
    traits = Traits(notice=NOTICE, single_placement_group=False, scale_in=ScaleInRule.NEWEST)
    async with Fleet() as fleet:
        await fleet.write(103, traits)
        await fleet.watch_all()
        written = await fleet.write(98, traits)

        assert len((await fleet.scale_set()).groups) == 2
        first, second = fleet.document("web_0"), fleet.document("web_102")
        assert [len(first.events), len(second.events)] == [2, 3]
        for event in second.events:
            await fleet.approve(event.id, by=event.resources[0])
        assert sorted(fleet.driver.times(Action.DELETE)) == [NOON] * 3
        await fleet.advance(NOTICE)
        assert await fleet.status(written.operation) == "Succeeded"
        assert await fleet.capacity() == 98


async def test_a_zonal_set_has_one_document_per_zone():
    traits = Traits(notice=NOTICE, zones=("1", "2"), orchestration=Orchestration.FLEXIBLE)
    async with Fleet() as fleet:
        await fleet.write(4, traits)

        zones = {machine.name: machine.zone for machine in (await fleet.machines()).values()}
        assert sorted(zones.values()) == ["1", "1", "2", "2"]
        assert len(list(fleet.platform.directory.scopes())) == 2


async def test_an_unwatched_deletion_is_immediate_and_the_history_says_why():
    async with Fleet() as fleet:
        await fleet.write(1)
        operation = await fleet.delete("0")

        assert await fleet.status(operation) == "Succeeded"
        assert any("nobody in its scope has read" in text for text in await fleet.history())


async def test_always_notify_holds_for_scopes_that_nobody_watches():
    async with Fleet(policy=Policy(always_notify=True)) as fleet:
        await fleet.write(1)
        await fleet.delete("0")

        assert len(fleet.document().events) == 1


async def test_a_set_without_a_profile_deletes_at_once_and_the_history_says_why():
    async with Fleet() as fleet:
        await fleet.write(2, Traits())
        await fleet.watch()
        await fleet.delete("1")

        assert [*await fleet.machines()] == ["web_0"]
        assert any("no terminate notification" in text for text in await fleet.history())


async def test_pace_shortens_the_notice():
    async with Fleet(policy=Policy(pace=60.0)) as fleet:
        await fleet.write(2)
        await fleet.watch()
        await fleet.delete("1")

        assert fleet.document().events[0].not_before == NOON + 5 * SECOND


async def test_a_forced_scale_in_policy_gives_no_notice():
    traits = Traits(notice=NOTICE, scale_in_force=True)
    async with Fleet() as fleet:
        await fleet.write(2, traits)
        await fleet.watch()
        written = await fleet.write(1, traits)

        assert await fleet.status(written.operation) == "Succeeded"


async def test_growing_while_instances_leave_adds_new_ones():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        await fleet.write(1)
        await fleet.write(2)

        assert await fleet.capacity() == 2
        assert [*await fleet.machines()] == ["web_0", "web_1", "web_2"]


async def test_a_deletion_is_never_given_up():
    tries = iter(["busy", "busy", ""])
    refusal = Script(refusal=lambda o: next(tries) if o.perform.action is Action.DELETE else "")
    async with Fleet(refusal) as fleet:
        await fleet.write(1)
        operation = await fleet.delete("0")
        assert await fleet.status(operation) == "InProgress"
        await fleet.advance(MINUTE)

        assert await fleet.status(operation) == "Succeeded"
        assert len(fleet.driver.times(Action.DELETE)) == 3


async def test_restarting_what_is_about_to_be_deleted_is_refused():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.watch()
        await fleet.delete("0")

        with pytest.raises(OperationNotAllowedError, match="Terminate"):
            await fleet.act(Action.RESTART, "0")


async def test_an_unknown_instance_is_refused_by_its_id():
    async with Fleet() as fleet:
        await fleet.write(1)

        with pytest.raises(InvalidParameterError, match="instanceId 9 is not an active"):
            await fleet.delete("0", "9")
        assert await fleet.capacity() == 1


async def test_a_stale_etag_is_refused():
    async with Fleet() as fleet:
        with pytest.raises(PreconditionFailedError):
            await fleet.write(1, etag="*")
        await fleet.write(1)
        await fleet.write(1, etag='"1"')
        await fleet.write(1, etag="*")

        with pytest.raises(PreconditionFailedError):
            await fleet.write(1, etag='"1"')


async def test_too_many_instances_are_refused():
    async with Fleet() as fleet:
        with pytest.raises(InvalidParameterError, match="singlePlacementGroup"):
            await fleet.write(101)
        with pytest.raises(ResourceNotFoundError):
            await fleet.scale_set()


async def test_a_change_of_the_notice_reaches_instances_with_the_model_only():
    longer = Traits(notice=2 * NOTICE)
    async with Fleet() as fleet:
        await fleet.write(2, HELD)
        await fleet.watch()
        await fleet.write(None, longer, changes=True)
        await fleet.act(Action.UPDATE, "1")
        await fleet.delete("0", "1")

        notices = {e.resources: e.not_before - NOON for e in fleet.document().events}
        assert notices == {("web_0",): NOTICE, ("web_1",): 2 * NOTICE}


async def test_a_restart_somebody_watches_is_announced_and_an_automatic_approval_starts_it():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        waiting = await fleet.act(Action.RESTART, "0")
        assert fleet.document().events[0].type is EventType.REBOOT
        assert await fleet.status(waiting) == "InProgress"

        approving = Traits(notice=NOTICE, auto_approve=(EventType.REBOOT,))
        await fleet.write(None, approving)
        at_once = await fleet.act(Action.RESTART, "1")
        assert await fleet.status(at_once) == "Succeeded"
        await fleet.advance(15 * MINUTE)
        assert await fleet.status(waiting) == "Succeeded"


async def test_an_action_on_all_leaves_out_the_deallocated_and_the_leaving():
    async with Fleet() as fleet:
        await fleet.write(3, Traits())
        await fleet.act(Action.DEALLOCATE, "0")
        operation = await fleet.act(Action.RESTART)

        assert await fleet.status(operation) == "Succeeded"
        assert len(fleet.driver.times(Action.RESTART)) == 2


async def test_reading_an_instance_that_is_not_there_is_refused():
    async with Fleet() as fleet:
        await fleet.write(1)

        def find(instance_id):
            return lambda reader: member(reader, reader.scale_set(fleet.set_id()), instance_id)

        assert (await fleet.platform.read(find("0")))[1].name == "web_0"
        with pytest.raises(InstanceNotFoundError):
            await fleet.platform.read(find("7"))


async def test_an_approval_for_a_scope_that_went_is_refused():
    async with Fleet() as fleet:
        await fleet.write(1)
        scope = await fleet.watch()
        await fleet.delete_set(force=True)

        with pytest.raises(ScopeNotFoundError):
            await fleet.platform.approve(Approval(scope.id, (EventId("E"),), "web_0"))
