"""Deletions and the Terminate events they raise (R74-R81, D2-D6)."""

import pytest

from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import Action, Model, Provisioning, Source, Status
from lastcall.engine.policy import Policy

from .builders import (
    DAY,
    FREEZE,
    MINUTE,
    NOON,
    NOTICE,
    PREEMPT,
    REBOOT,
    SECOND,
    SPOT_DELETE,
    TERMINATE,
    UNHELD,
    Story,
    a_machine,
    a_scope,
)


def test_a_deletion_is_held_for_the_notice_of_the_machines_model():
    story = Story(a_scope(a_machine(model=Model(notice=9 * MINUTE))))

    story.delete("vm_0", operation="op")

    (event,) = story.document.events
    assert event.type is TERMINATE
    assert event.not_before == NOON + 9 * MINUTE
    assert not event.has_started
    assert event.resources == ("vm_0",)
    assert story.performed == []
    assert story.settled == []


def test_terminate_says_who_asked_and_that_its_duration_is_unknown():
    story = Story()

    story.delete("vm_0")

    (event,) = story.document.events
    assert event.description == (
        "Virtual machine is going to be deleted as requested by authorized user."
    )
    assert event.source is Source.USER
    assert event.duration_s == -1


def test_a_held_machine_shows_as_deleting():
    story = Story()

    story.delete("vm_0")

    assert story.machine("vm_0").provisioning is Provisioning.DELETING
    assert story.machine("vm_1").provisioning is Provisioning.SUCCEEDED


def test_several_deletions_are_several_events():
    story = Story()

    story.delete("vm_0", "vm_1")

    assert [event.resources for event in story.document.events] == [("vm_0",), ("vm_1",)]


def test_approval_deletes_early():
    story = Story()
    story.delete("vm_0")
    story.wait(SECOND)

    story.approve("A")

    assert story.performed == [("vm_0", "delete")]
    assert story.document.events[0].has_started
    assert story.document.events[0].not_before is None
    assert story.history == ["announced", "approved", "started"]


def test_nothing_starts_a_moment_before_not_before():
    story = Story()
    story.delete("vm_0")

    story.wait(NOTICE - SECOND)

    assert story.status("A") is Status.SCHEDULED
    assert story.performed == []


def test_not_before_is_as_good_as_approval():
    story = Story()
    story.delete("vm_0")

    story.wait(NOTICE)

    assert story.status("A") is Status.STARTED
    assert story.performed == [("vm_0", "delete")]
    assert story.history == ["announced", "started"]


def test_a_started_event_is_not_started_again():
    story = Story()
    story.delete("vm_0")
    story.wait(NOTICE)

    story.wait(MINUTE)
    story.approve("A")

    assert story.performed == [("vm_0", "delete")]


def test_no_request_extends_the_notice():
    story = Story()
    story.delete("vm_0")
    story.wait(4 * MINUTE)

    story.delete("vm_0", ids="B")
    story.wait(MINUTE)

    assert "B" not in story.scope.events
    assert story.performed == [("vm_0", "delete")]


def test_when_the_driver_is_done_the_machine_and_its_event_are_gone():
    story = Story()
    story.delete("vm_0", operation="op")
    story.approve("A")

    decision = story.done("A", "vm_0")

    assert list(story.scope.machines) == ["vm_1"]
    assert story.document.events == ()
    assert [event.status for event in decision.ended] == [Status.COMPLETED]
    assert story.settled == [("op", None)]
    assert story.history[-2:] == ["completed", "deleted"]


def test_a_machine_that_goes_leaves_every_event_that_names_it():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1", event_id="F")
    story.delete("vm_0")
    story.approve("A")

    story.done("A", "vm_0")

    (event,) = story.document.events
    assert event.resources == ("vm_1",)
    assert story.scope.events["F"].remaining == ("vm_1",)


def test_an_event_whose_only_machine_goes_is_cancelled():
    story = Story()
    story.announce(FREEZE, "vm_0", event_id="F")
    story.delete("vm_0")
    story.approve("A")

    decision = story.done("A", "vm_0")

    assert {event.id: event.status for event in decision.ended} == {
        "A": Status.COMPLETED,
        "F": Status.CANCELLED,
    }
    assert decision.dropped == (("A", "vm_0"),)


def test_orders_for_a_machine_that_goes_are_dropped():
    story = Story()
    story.announce(FREEZE, "vm_0", event_id="F", has_started=True)
    story.delete("vm_0", force=True)

    decision = story.done("A", "vm_0")

    assert decision.dropped == (("A", "vm_0"), ("F", "vm_0"))
    assert [event.status for event in decision.ended] == [Status.COMPLETED]


def test_an_event_that_waits_only_for_a_machine_that_goes_is_over():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1", event_id="F", has_started=True)
    story.done("F", "vm_1")
    story.delete("vm_0", force=True)

    story.done("A", "vm_0")

    assert story.scope.events == {}
    assert story.performed == [("vm_0", "freeze"), ("vm_1", "freeze"), ("vm_0", "delete")]


def test_an_event_goes_on_for_the_machines_that_stay():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1", event_id="F", has_started=True)
    story.done("F", "vm_0")
    story.delete("vm_0", force=True)

    decision = story.done("A", "vm_0")

    assert decision.dropped == (("A", "vm_0"),)
    assert story.scope.events["F"].machines == ("vm_1",)
    assert story.status("F") is Status.STARTED


def test_a_request_that_the_deletion_overtakes_fails_as_preempted():
    story = Story()
    story.request(Action.RESTART, "vm_0", ids="R", operation="restart")
    story.delete("vm_0", operation="delete")
    story.approve("A")

    story.done("A", "vm_0")

    assert sorted(story.settled) == [("delete", None), ("restart", "OperationPreempted")]


def test_a_deletion_that_an_eviction_overtakes_has_what_it_wanted():
    held_spot = a_machine(model=Model(notice=NOTICE, eviction=Action.DELETE))
    story = Story(a_scope(held_spot))
    story.announce(PREEMPT, "vm_0", event_id="P")
    story.delete("vm_0", operation="op")

    story.wait(30 * SECOND)
    story.done("P", "vm_0")

    assert story.scope.machines == {}
    assert story.scope.events == {}
    assert story.settled == [("op", None)]


# Approve all pending deletions (R78, R79).


def test_an_approved_deletion_waits_for_a_pending_one():
    story = Story()
    story.delete("vm_0", ids="A")
    story.wait(MINUTE)
    story.delete("vm_1", ids="B")

    story.approve("B")

    assert story.status("B") is Status.APPROVED
    assert [event.has_started for event in story.document.events] == [False, False]
    assert story.performed == []


def test_the_last_approval_releases_all():
    story = Story()
    story.delete("vm_0", ids="A")
    story.wait(MINUTE)
    story.delete("vm_1", ids="B")
    story.approve("B")

    story.approve("A")

    assert sorted(story.performed) == [("vm_0", "delete"), ("vm_1", "delete")]


def test_a_timeout_releases_the_approved_before_their_own_not_before():
    story = Story()
    story.delete("vm_0", ids="A")
    story.wait(MINUTE)
    story.delete("vm_1", ids="B")
    story.approve("B")

    story.wait(4 * MINUTE)

    assert sorted(story.performed) == [("vm_0", "delete"), ("vm_1", "delete")]
    assert story.scope.events["B"].not_before > story.now


def test_a_timeout_does_not_start_the_unapproved():
    story = Story()
    story.delete("vm_0", ids="A")
    story.wait(MINUTE)
    story.delete("vm_1", ids="B")

    story.wait(4 * MINUTE)

    assert story.performed == [("vm_0", "delete")]
    assert story.status("B") is Status.SCHEDULED


def test_an_approved_deletion_waits_at_most_until_its_own_not_before():
    story = Story()
    story.delete("vm_0", ids="A")
    story.wait(MINUTE)
    story.delete("vm_1", ids="B")
    story.approve("A")
    assert story.performed == []

    story.wait(4 * MINUTE)

    assert story.performed == [("vm_0", "delete")]
    assert story.status("B") is Status.SCHEDULED


@pytest.mark.parametrize("approved", ["A", "B"])
def test_with_the_same_not_before_one_approval_is_not_enough(approved):
    story = Story()
    story.delete("vm_0", "vm_1")

    story.approve(approved)
    story.wait(NOTICE - SECOND)
    assert story.performed == []
    story.wait(SECOND)

    assert sorted(story.performed) == [("vm_0", "delete"), ("vm_1", "delete")]


def test_with_the_same_not_before_both_approvals_delete_both():
    story = Story()
    story.delete("vm_0", "vm_1")

    story.approve("A", "B")

    assert sorted(story.performed) == [("vm_0", "delete"), ("vm_1", "delete")]


def test_a_pending_deletion_that_an_eviction_overtakes_holds_nobody_any_more():
    spot = a_machine("vm_0", model=Model(notice=NOTICE, eviction=Action.DELETE))
    story = Story(a_scope(spot, a_machine("vm_1")))
    story.delete("vm_0", "vm_1")
    story.approve("B")
    story.announce(PREEMPT, "vm_0", event_id="P", has_started=True)

    story.done("P", "vm_0")

    assert story.performed == [("vm_0", "delete"), ("vm_1", "delete")]


def test_a_deletion_that_has_started_holds_nobody():
    story = Story()
    story.delete("vm_0", ids="A")
    story.approve("A")
    story.delete("vm_1", ids="B")

    story.approve("B")

    assert story.performed == [("vm_0", "delete"), ("vm_1", "delete")]


def test_a_pending_deletion_holds_no_other_kind_of_event():
    story = Story()
    story.delete("vm_0", ids="A")
    story.announce(FREEZE, "vm_1", event_id="F")

    story.approve("F")

    assert story.performed == [("vm_1", "freeze")]


def test_another_kind_of_event_holds_no_deletion():
    story = Story()
    story.announce(FREEZE, "vm_1", event_id="F")
    story.delete("vm_0", ids="A")

    story.approve("A")

    assert story.performed == [("vm_0", "delete")]


# Force, and deletions that meet.


def test_force_skips_the_hold():
    story = Story()

    story.delete("vm_0", force=True)

    assert story.performed == [("vm_0", "delete")]
    assert story.document.events == ()
    assert "forceDeletion" in story.step.notes[0].text


def test_force_ends_a_hold_that_is_under_way():
    story = Story()
    story.delete("vm_0", operation="first")

    story.delete("vm_0", ids="B", operation="second", force=True)
    story.done("A", "vm_0")

    assert story.performed == [("vm_0", "delete")]
    assert story.settled == [("first", None), ("second", None)]


def test_force_releases_an_approved_neighbour():
    story = Story()
    story.delete("vm_0", "vm_1")
    story.approve("B")

    story.delete("vm_0", ids="C", force=True)

    assert sorted(story.performed) == [("vm_0", "delete"), ("vm_1", "delete")]


def test_force_on_a_deletion_that_has_started_changes_nothing():
    story = Story()
    story.delete("vm_0")
    story.approve("A")
    before = story.scope

    story.delete("vm_0", ids="B", force=True)

    assert story.scope == before
    assert story.step.performs == ()


def test_a_second_deletion_joins_the_first():
    story = Story()
    story.delete("vm_0", operation="first")
    story.delete("vm_0", ids="B", operation="second")

    story.approve("A")
    story.done("A", "vm_0")

    assert story.settled == [("first", None), ("second", None)]
    assert story.performed == [("vm_0", "delete")]


def test_an_operation_joins_an_event_once():
    story = Story()
    story.delete("vm_0", operation="op")

    story.delete("vm_0", ids="B", operation="op")

    assert story.scope.events["A"].operations == ("op",)


def test_a_deletion_joins_an_eviction_that_has_started():
    story = Story(a_scope(a_machine(model=SPOT_DELETE)))
    story.announce(PREEMPT, "vm_0", event_id="P", has_started=True)

    story.delete("vm_0", operation="op")
    story.done("P", "vm_0")

    assert story.performed == [("vm_0", "delete")]
    assert story.settled == [("op", None)]


def test_a_deletion_does_not_rely_on_an_eviction_that_may_be_withdrawn():
    story = Story(a_scope(a_machine(model=SPOT_DELETE)))
    story.announce(PREEMPT, "vm_0", event_id="P")

    story.delete("vm_0", operation="op")
    story.withdraw("P")

    assert story.performed == [("vm_0", "delete")]


# Who is not held (D5).


def test_a_machine_without_the_profile_is_deleted_at_once():
    story = Story(a_scope(a_machine(model=UNHELD)))

    story.delete("vm_0", operation="op")

    assert story.performed == [("vm_0", "delete")]
    assert story.document.events == ()
    assert "no terminate notification" in story.step.notes[0].text
    story.done("A", "vm_0")
    assert story.settled == [("op", None)]
    assert story.step.ended == ()


def test_where_nobody_watches_a_deletion_is_not_held_and_the_history_says_why():
    story = Story(a_scope(watched_at=None))

    story.delete("vm_0")

    assert story.performed == [("vm_0", "delete")]
    assert story.history == ["not-held"]
    assert "nobody in its scope has read scheduledevents" in story.step.notes[0].text


def test_where_nobody_has_watched_for_a_day_a_deletion_is_not_held():
    story = Story(a_scope(watched_at=NOON - DAY))

    story.delete("vm_0")

    assert story.performed == [("vm_0", "delete")]


def test_always_notify_holds_where_nobody_watches():
    story = Story(a_scope(watched_at=None), Policy(always_notify=True))

    story.delete("vm_0")

    assert story.status("A") is Status.SCHEDULED


def test_always_notify_gives_no_notice_that_the_model_does_not_ask_for():
    story = Story(a_scope(a_machine(model=UNHELD)), Policy(always_notify=True))

    story.delete("vm_0")

    assert story.performed == [("vm_0", "delete")]


def test_a_pace_shortens_the_notice_and_not_before_says_so():
    story = Story(policy=Policy(pace=60))

    story.delete("vm_0")

    assert story.document.events[0].not_before == NOON + 5 * SECOND


def test_user_events_are_approved_automatically_but_deletions_never():
    story = Story()

    story.delete("vm_0", auto_approve=True)

    assert story.status("A") is Status.SCHEDULED


@pytest.mark.parametrize(
    "action",
    [
        Action.UPDATE,
        Action.START,
        Action.POWER_OFF,
        Action.REIMAGE,
        Action.DEALLOCATE,
        Action.RESTART,
        Action.REDEPLOY,
    ],
)
def test_nothing_but_a_deletion_raises_terminate(action):
    story = Story()

    story.request(action, "vm_0")

    assert all(event.type is not TERMINATE for event in story.document.events)


def test_an_unknown_machine_is_refused_and_nothing_changes():
    story = Story()
    before = story.scope

    with pytest.raises(InstanceNotFoundError):
        story.delete("vm_0", "vm_9")

    assert story.scope == before
    assert story.machine("vm_0").provisioning is Provisioning.SUCCEEDED


def test_a_pending_restart_still_happens_to_a_machine_that_is_held():
    story = Story()
    story.request(Action.RESTART, "vm_0", ids="R")
    story.wait(11 * MINUTE)
    story.delete("vm_0")

    story.wait(4 * MINUTE)

    assert story.performed == [("vm_0", "restart")]
    assert story.scope.events["R"].type is REBOOT
    story.done("R", "vm_0")
    assert story.machine("vm_0").provisioning is Provisioning.DELETING
