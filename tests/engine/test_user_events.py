"""What users ask of machines other than their deletion (R39, R53, R85-R87, D8)."""

import pytest

from lastcall.engine.errors import InstanceNotFoundError, OperationNotAllowedError
from lastcall.engine.facts import ActionDelayed, MachinesAdded, Protected
from lastcall.engine.model import (
    Action,
    EventId,
    MachineId,
    Model,
    OperationId,
    Power,
    Protection,
    Provisioning,
    Source,
    Status,
)

from .builders import (
    FREEZE,
    MINUTE,
    NOON,
    REBOOT,
    REDEPLOY,
    SECOND,
    UNHELD,
    Story,
    a_machine,
    a_scope,
)

TOLD = [
    (Action.RESTART, REBOOT, 15 * MINUTE, "restarted"),
    (Action.REDEPLOY, REDEPLOY, 10 * MINUTE, "redeployed"),
]
QUIET = [Action.UPDATE, Action.START, Action.POWER_OFF, Action.REIMAGE, Action.DEALLOCATE]


@pytest.mark.parametrize(("action", "event_type", "notice", "word"), TOLD)
def test_a_users_restart_or_redeploy_is_announced(action, event_type, notice, word):
    story = Story(a_scope(a_machine(model=UNHELD)))

    story.request(action, "vm_0", operation="op")

    (event,) = story.document.events
    assert (event.type, event.source) == (event_type, Source.USER)
    assert event.not_before == NOON + notice
    assert event.description == (
        f"Virtual machine is going to be {word} as requested by authorized user."
    )
    assert story.performed == []


@pytest.mark.parametrize(("action", "event_type", "notice", "word"), TOLD)
def test_it_starts_at_not_before_and_no_earlier(action, event_type, notice, word):
    story = Story()
    story.request(action, "vm_0", operation="op")

    story.wait(notice - SECOND)
    assert story.performed == []
    story.wait(SECOND)
    story.done("A", "vm_0")

    assert story.performed == [("vm_0", action)]
    assert story.settled == [("op", None)]


@pytest.mark.parametrize("action", [Action.RESTART, Action.REDEPLOY])
def test_where_nobody_watches_it_happens_at_once(action):
    story = Story(a_scope(watched_at=None))

    story.request(action, "vm_0")

    assert story.performed == [("vm_0", action)]
    assert story.document.events == ()


def test_approval_starts_it_early():
    story = Story()
    story.request(Action.RESTART, "vm_0")

    story.approve("A")

    assert story.performed == [("vm_0", "restart")]


def test_an_automatic_approval_shows_it_as_started_at_once():
    story = Story()

    story.request(Action.RESTART, "vm_0", auto_approve=True)

    (event,) = story.document.events
    assert event.has_started
    assert story.performed == [("vm_0", "restart")]
    assert story.history == ["announced", "started"]
    assert story.scope.events["A"].started_at == NOON


def test_a_second_restart_joins_the_first():
    story = Story()
    story.request(Action.RESTART, "vm_0", operation="first")

    story.request(Action.RESTART, "vm_0", ids="B", operation="second")
    story.approve("A")
    story.done("A", "vm_0")

    assert story.performed == [("vm_0", "restart")]
    assert story.settled == [("first", None), ("second", None)]


def test_a_redeploy_does_not_join_a_restart():
    story = Story()
    story.request(Action.RESTART, "vm_0")

    story.request(Action.REDEPLOY, "vm_0", ids="B")

    assert [event.type for event in story.document.events] == [REBOOT, REDEPLOY]


def test_a_users_restart_does_not_join_the_platforms():
    story = Story()
    story.announce(REBOOT, "vm_0")

    story.request(Action.RESTART, "vm_0")

    assert [event.source for event in story.document.events] == [Source.PLATFORM, Source.USER]


@pytest.mark.parametrize("action", [Action.RESTART, Action.REDEPLOY, *QUIET])
def test_nothing_else_is_begun_on_a_machine_with_a_pending_terminate(action):
    story = Story()
    story.delete("vm_0")

    with pytest.raises(OperationNotAllowedError, match="Terminate event A is pending"):
        story.request(action, "vm_0", ids="B")


def test_nothing_else_is_begun_on_a_machine_that_is_being_deleted():
    story = Story()
    story.delete("vm_0", force=True)

    with pytest.raises(OperationNotAllowedError, match="it is being deleted"):
        story.request(Action.RESTART, "vm_0", ids="B")


@pytest.mark.parametrize("action", [Action.RESTART, Action.REDEPLOY, Action.POWER_OFF])
def test_a_deallocated_machine_cannot_do_it(action):
    story = Story(a_scope(a_machine(power=Power.DEALLOCATED)))

    with pytest.raises(OperationNotAllowedError, match="it is deallocated"):
        story.request(action, "vm_0")


@pytest.mark.parametrize("action", QUIET)
def test_other_actions_are_never_announced(action):
    story = Story()

    story.request(action, "vm_0", operation="op")
    assert story.machine("vm_0").provisioning is Provisioning.UPDATING
    story.done("A", "vm_0")

    assert story.performed == [("vm_0", action)]
    assert story.settled == [("op", None)]
    assert story.history == [action]
    assert story.machine("vm_0").provisioning is Provisioning.SUCCEEDED
    assert story.scope.incarnation == 1


@pytest.mark.parametrize(
    ("action", "power"),
    [
        (Action.START, Power.RUNNING),
        (Action.POWER_OFF, Power.STOPPED),
        (Action.DEALLOCATE, Power.DEALLOCATED),
        (Action.UPDATE, Power.STOPPED),
    ],
)
def test_an_action_leaves_the_machine_in_its_power_state(action, power):
    story = Story(a_scope(a_machine(power=Power.STOPPED)))
    story.request(action, "vm_0")

    story.done("A", "vm_0")

    assert story.machine("vm_0").power is power


def test_a_machine_that_was_deallocated_meanwhile_is_not_started_by_a_restart():
    story = Story()
    story.announce(REBOOT, "vm_0")
    story.request(Action.DEALLOCATE, "vm_0")
    story.done("A", "vm_0")
    story.wait(15 * MINUTE)

    story.done("E", "vm_0")

    assert story.machine("vm_0").power is Power.DEALLOCATED


def test_an_update_applies_the_latest_model_and_boots_nothing():
    latest = Model(version=4, notice=9 * MINUTE)
    story = Story()
    story.request(Action.UPDATE, "vm_0", model=latest)

    story.done("A", "vm_0", number=4)

    assert story.machine("vm_0").model == latest
    assert story.machine("vm_0").booted == 1


def test_of_two_updates_the_later_request_wins():
    story = Story()
    story.request(Action.UPDATE, "vm_0", ids="A", model=Model(version=2))
    story.request(Action.UPDATE, "vm_0", ids="B", model=Model(version=3))

    story.done("B", "vm_0")
    story.done("A", "vm_0")

    assert story.machine("vm_0").model.version == 3


def test_trouble_is_told_and_changes_nothing():
    story = Story()
    story.request(Action.START, "vm_0")
    before = story.scope

    story.learn(ActionDelayed(event_id=EventId("A"), machine=MachineId("vm_0"), reason="no luck"))
    story.learn(ActionDelayed(event_id=EventId("X"), machine=MachineId("vm_0"), reason="no luck"))

    assert story.history == ["delayed"]
    assert story.scope == before


def test_a_start_boots_and_applies_no_model():
    story = Story()
    story.request(Action.START, "vm_0")

    story.done("A", "vm_0", number=4)

    assert story.machine("vm_0").model.version == 1
    assert story.machine("vm_0").booted == 4


def test_a_machine_outside_any_set_has_no_latest_model():
    story = Story()
    story.request(Action.UPDATE, "vm_0", "vm_1")
    before = story.machine("vm_0").model

    story.done("A", "vm_0")

    assert story.machine("vm_0").model == before


def test_a_failure_is_kept_and_told_to_the_operation():
    story = Story()
    story.request(Action.UPDATE, "vm_0", operation="op")

    story.fail("A", "vm_0", "disk full")

    assert story.machine("vm_0").provisioning is Provisioning.FAILED
    assert story.machine("vm_0").failure == "disk full"
    assert story.step.finished[0].failure.message == "disk full"
    assert "disk full" in story.step.notes[0].text


def test_a_later_success_heals_a_failure():
    story = Story()
    story.request(Action.UPDATE, "vm_0")
    story.fail("A", "vm_0")

    story.request(Action.START, "vm_0")
    story.done("A", "vm_0")

    assert story.machine("vm_0").provisioning is Provisioning.SUCCEEDED
    assert story.machine("vm_0").failure == ""


def test_a_failure_ends_the_event_all_the_same():
    story = Story()
    story.announce(REBOOT, "vm_0", has_started=True)

    story.fail("E", "vm_0")

    assert story.document.events == ()


def test_a_failure_on_a_machine_that_leaves_does_not_bring_it_back():
    story = Story()
    story.request(Action.UPDATE, "vm_0", ids="U")
    story.delete("vm_0")

    story.fail("U", "vm_0")

    assert story.machine("vm_0").provisioning is Provisioning.DELETING


@pytest.mark.parametrize("event_id", ["A", "X"])
def test_a_report_that_is_repeated_or_unknown_changes_nothing(event_id):
    story = Story()
    story.request(Action.UPDATE, "vm_0", operation="op")
    story.done("A", "vm_0")
    before = story.scope

    story.done(event_id, "vm_0")
    story.fail(event_id, "vm_0")

    assert story.scope == before
    assert story.settled == [("op", None)]


def test_a_report_repeated_while_others_go_on_changes_nothing():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1", has_started=True)
    story.done("E", "vm_0")
    before = story.scope

    story.done("E", "vm_0")
    story.fail("E", "vm_0")

    assert story.scope == before


def test_a_machine_is_not_ready_while_a_change_goes_on():
    story = Story()
    story.request(Action.UPDATE, "vm_0", ids="U")
    story.request(Action.RESTART, "vm_0", ids="R", auto_approve=True)

    story.done("R", "vm_0")
    assert story.machine("vm_0").provisioning is Provisioning.UPDATING
    story.done("U", "vm_0")

    assert story.machine("vm_0").provisioning is Provisioning.SUCCEEDED


def test_a_new_machine_is_created_without_an_event_in_the_document():
    story = Story()
    newcomer = a_machine("vm_2", provisioning=Provisioning.CREATING)
    added = MachinesAdded(
        machines=(newcomer,), event_ids=(EventId("N"),), operation=OperationId("op")
    )

    story.learn(added)
    assert story.performed == [("vm_2", "create")]
    assert story.machine("vm_2").provisioning is Provisioning.CREATING
    story.done("N", "vm_2")

    assert story.machine("vm_2").provisioning is Provisioning.SUCCEEDED
    assert story.settled == [("op", None)]
    assert story.scope.incarnation == 1


def test_a_pause_does_not_make_a_machine_that_is_being_created_ready():
    newcomer = a_machine("vm_0", provisioning=Provisioning.CREATING)
    story = Story(a_scope(a_machine("vm_1")))
    story.learn(MachinesAdded(machines=(newcomer,), event_ids=(EventId("N"),)))
    story.announce(REBOOT, "vm_0", has_started=True)

    story.done("E", "vm_0")

    assert story.machine("vm_0").provisioning is Provisioning.CREATING


def test_a_machine_can_be_deleted_while_it_is_created():
    newcomer = a_machine("vm_2", provisioning=Provisioning.CREATING)
    story = Story()
    story.learn(
        MachinesAdded(
            machines=(newcomer,), event_ids=(EventId("N"),), operation=OperationId("create")
        )
    )
    story.delete("vm_2", force=True, operation="delete")

    decision = story.done("A", "vm_2")

    assert decision.dropped == (("A", "vm_2"), ("N", "vm_2"))
    assert story.settled == [("delete", None), ("create", "OperationPreempted")]


def test_protection_is_the_owners_word():
    story = Story()
    protection = Protection(from_scale_in=True)

    story.learn(Protected(machine=MachineId("vm_0"), protection=protection))

    assert story.machine("vm_0").protection == protection
    assert story.machine("vm_1").protection == Protection()


def test_a_stranger_cannot_be_protected():
    with pytest.raises(InstanceNotFoundError, match="not found in this Azure location"):
        Story().learn(Protected(machine=MachineId("vm_9"), protection=Protection()))


def test_a_protected_machine_can_still_be_deleted_by_its_owner():
    story = Story(a_scope(a_machine(protection=Protection(from_scale_set_actions=True))))

    story.delete("vm_0")

    assert story.status("A") is Status.SCHEDULED
