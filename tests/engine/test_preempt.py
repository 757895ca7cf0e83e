"""Evictions of Spot machines (R82-R84)."""

import pytest

from lastcall.engine.errors import (
    ConflictError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.model import Power, Provisioning, Source, Status

from .builders import NOON, PREEMPT, SECOND, SPOT, SPOT_DELETE, Story, a_machine, a_scope


def test_an_eviction_gives_thirty_seconds():
    story = Story(a_scope(a_machine(model=SPOT)))

    story.announce(PREEMPT, "vm_0")

    (event,) = story.document.events
    assert event.not_before == NOON + 30 * SECOND
    assert (event.description, event.source, event.duration_s) == ("", Source.PLATFORM, -1)


def test_an_eviction_without_notice_has_no_words_either():
    story = Story(a_scope(a_machine(model=SPOT)))

    story.announce(PREEMPT, "vm_0", has_started=True)

    assert story.document.events[0].description == ""


def test_the_policy_deallocate_keeps_the_machine():
    story = Story(a_scope(a_machine(model=SPOT)))
    story.announce(PREEMPT, "vm_0")

    story.wait(30 * SECOND)
    assert story.machine("vm_0").provisioning is Provisioning.UPDATING
    story.done("E", "vm_0")

    assert story.performed == [("vm_0", "deallocate")]
    assert story.machine("vm_0").power is Power.DEALLOCATED
    assert story.machine("vm_0").provisioning is Provisioning.SUCCEEDED
    assert story.document.events == ()


def test_the_policy_delete_removes_the_machine():
    story = Story(a_scope(a_machine(model=SPOT_DELETE)))
    story.announce(PREEMPT, "vm_0")

    story.wait(30 * SECOND)
    assert story.machine("vm_0").provisioning is Provisioning.DELETING
    story.done("E", "vm_0")

    assert story.performed == [("vm_0", "delete")]
    assert story.scope.machines == {}


def test_an_approved_eviction_starts_at_once():
    story = Story(a_scope(a_machine(model=SPOT)))
    story.announce(PREEMPT, "vm_0")

    story.approve("E")

    assert story.status("E") is Status.STARTED


def test_a_regular_machine_cannot_be_evicted():
    with pytest.raises(OperationNotAllowedError, match="only for Spot Virtual Machines"):
        Story().announce(PREEMPT, "vm_0")


def test_an_eviction_names_one_machine():
    spot = (a_machine("vm_0", model=SPOT), a_machine("vm_1", model=SPOT))

    with pytest.raises(InvalidParameterError, match="names one machine"):
        Story(a_scope(*spot)).announce(PREEMPT, "vm_0", "vm_1")


def test_a_withdrawn_eviction_leaves_the_machine_as_it_was():
    story = Story(a_scope(a_machine(model=SPOT_DELETE)))
    before = story.scope.machines
    story.announce(PREEMPT, "vm_0")

    story.withdraw("E")

    assert story.scope.machines == before
    assert story.performed == []


@pytest.mark.parametrize("has_started", [True, False])
def test_a_machine_that_is_being_evicted_is_not_evicted_again(has_started):
    story = Story(a_scope(a_machine(model=SPOT)))
    story.announce(PREEMPT, "vm_0", event_id="E", has_started=has_started)

    with pytest.raises(ConflictError, match="being evicted already: event E"):
        story.announce(PREEMPT, "vm_0", event_id="F")
    assert [event.id for event in story.document.events] == ["E"]
