"""Who may approve what, how often, and how late (R42-R44, D3)."""

import pytest

from lastcall.engine.errors import EventNotFoundError
from lastcall.engine.model import Status

from .builders import FREEZE, NOTICE, Story


def test_several_events_are_approved_in_one_call():
    story = Story()
    story.announce(FREEZE, "vm_0", event_id="E")
    story.announce(FREEZE, "vm_1", event_id="F")

    story.approve("E", "F")

    assert story.performed == [("vm_0", "freeze"), ("vm_1", "freeze")]


def test_any_machine_of_the_scope_may_approve():
    story = Story()
    story.delete("vm_0")

    story.approve("A", by="vm_1")

    assert story.status("A") is Status.STARTED
    assert story.step.notes[0].by == "vm_1"
    assert story.step.notes[0].event_id == "A"


def test_a_repeated_approval_changes_nothing():
    story = Story()
    story.delete("vm_0", "vm_1")
    story.approve("A")
    before = story.scope

    decision = story.approve("A", by="vm_1")

    assert story.scope == before
    assert decision.notes == ()


def test_an_id_given_twice_counts_once():
    story = Story()
    story.delete("vm_0")

    story.approve("A", "A")

    assert story.history == ["announced", "approved", "started"]
    assert story.performed == [("vm_0", "delete")]


def test_an_approval_after_the_start_changes_nothing():
    story = Story()
    story.delete("vm_0")
    story.wait(NOTICE)
    before = story.scope

    decision = story.approve("A")

    assert story.scope == before
    assert decision.performs == ()


def test_an_approval_after_the_end_is_welcome():
    story = Story()
    story.delete("vm_0")
    story.approve("A")
    story.done("A", "vm_0")
    before = story.scope

    story.approve("A", finished=["A"])

    assert story.scope == before


def test_an_approval_of_a_withdrawn_event_is_welcome():
    story = Story()
    story.announce(FREEZE, "vm_0")
    story.withdraw("E")

    story.approve("E", finished=["E"])

    assert story.performed == []


def test_an_unknown_event_is_refused_by_name():
    with pytest.raises(EventNotFoundError, match="no scheduled event 'X'"):
        Story().approve("X")


def test_an_unknown_event_spoils_the_whole_call():
    story = Story()
    story.delete("vm_0")
    before = story.scope

    with pytest.raises(EventNotFoundError):
        story.approve("A", "X")

    assert story.scope == before
    assert story.status("A") is Status.SCHEDULED


def test_a_finished_id_does_not_stop_the_others():
    story = Story()
    story.delete("vm_0")

    story.approve("X", "A", finished=["X"])

    assert story.status("A") is Status.STARTED


def test_a_quiet_event_cannot_be_approved():
    story = Story()
    story.delete("vm_0", force=True)

    with pytest.raises(EventNotFoundError):
        story.approve("A")


def test_no_ids_at_all_change_nothing():
    story = Story()
    story.delete("vm_0")
    before = story.scope

    story.approve()

    assert story.scope == before
