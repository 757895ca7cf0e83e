"""What the platform announces (R24-R32, R54-R59)."""

from datetime import timedelta

import pytest

from lastcall.engine.errors import (
    ConflictError,
    EventNotFoundError,
    IllegalTransitionError,
    InstanceNotFoundError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.limits import EVENTS_PER_SCOPE_MAX
from lastcall.engine.model import Power, Provisioning, Source, Status
from lastcall.engine.policy import Policy

from .builders import (
    DAY,
    FREEZE,
    MINUTE,
    NOON,
    REBOOT,
    REDEPLOY,
    SECOND,
    TERMINATE,
    Story,
    a_machine,
    a_scope,
)

NOTICES = [(FREEZE, 15 * MINUTE), (REBOOT, 15 * MINUTE), (REDEPLOY, 10 * MINUTE)]
ACTIONS = [(FREEZE, "freeze"), (REBOOT, "restart"), (REDEPLOY, "redeploy")]


@pytest.mark.parametrize(("event_type", "notice"), NOTICES)
def test_each_type_has_its_own_notice(event_type, notice):
    story = Story()

    story.announce(event_type, "vm_0")

    (event,) = story.document.events
    assert event.type is event_type
    assert event.source is Source.PLATFORM
    assert event.not_before == NOON + notice
    assert story.performed == []


@pytest.mark.parametrize(("event_type", "notice"), NOTICES)
def test_each_type_starts_at_not_before_and_no_earlier(event_type, notice):
    story = Story()
    story.announce(event_type, "vm_0")

    story.wait(notice - SECOND)
    assert story.status("E") is Status.SCHEDULED
    story.wait(SECOND)

    assert story.status("E") is Status.STARTED


@pytest.mark.parametrize(("event_type", "action"), ACTIONS)
def test_each_type_has_its_own_action(event_type, action):
    story = Story()
    story.announce(event_type, "vm_0")

    story.approve("E")

    assert story.performed == [("vm_0", action)]


def test_a_pace_shortens_the_notice():
    story = Story(policy=Policy(pace=60))

    story.announce(FREEZE, "vm_0")

    assert story.document.events[0].not_before == NOON + 15 * SECOND


def test_degraded_hardware_is_announced_days_ahead():
    story = Story()

    story.announce(REDEPLOY, "vm_0", notice=7 * DAY)

    assert story.document.events[0].not_before == NOON + 7 * DAY


@pytest.mark.parametrize("notice", [-SECOND, 31 * DAY])
def test_an_impossible_notice_is_refused(notice):
    with pytest.raises(InvalidParameterError, match="between 0 and 30 days"):
        Story().announce(FREEZE, "vm_0", notice=notice)


def test_without_any_notice_it_is_due_at_once():
    story = Story()
    story.announce(FREEZE, "vm_0", notice=timedelta(0))

    story.wait(timedelta(0))

    assert story.status("E") is Status.STARTED


@pytest.mark.parametrize("event_type", [REBOOT, REDEPLOY])
def test_a_hardware_failure_appears_as_started(event_type):
    story = Story()

    story.announce(event_type, "vm_0", has_started=True)

    (event,) = story.document.events
    assert event.has_started
    assert event.not_before is None
    assert event.description == "Virtual machine has encountered a failure."
    assert len(story.performed) == 1
    assert story.history == ["started"]


def test_a_freeze_says_how_long_and_the_others_that_it_is_unknown():
    story = Story()
    for letter, event_type in zip("FRD", (FREEZE, REBOOT, REDEPLOY), strict=True):
        story.announce(event_type, "vm_0", event_id=letter)

    assert [event.duration_s for event in story.document.events] == [5, -1, -1]


def test_the_announcer_may_choose_the_words_and_the_duration():
    story = Story()

    story.announce(FREEZE, "vm_0", description="Live migration.", duration_s=9)
    story.approve("E")

    (event,) = story.document.events
    assert (event.description, event.duration_s) == ("Live migration.", 9)
    assert story.step.performs[0].duration_s == 9


def test_routine_maintenance_has_the_usual_words():
    story = Story()

    story.announce(FREEZE, "vm_0")

    assert story.document.events[0].description == "Host server is undergoing maintenance."


def test_machines_of_one_host_share_one_event():
    story = Story()

    story.announce(FREEZE, "vm_0", "vm_1", "vm_0")

    (event,) = story.document.events
    assert event.resources == ("vm_0", "vm_1")


def test_one_approval_starts_it_for_all_its_machines():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1")

    story.approve("E", by="vm_1")

    assert story.performed == [("vm_0", "freeze"), ("vm_1", "freeze")]


def test_it_stays_started_until_the_last_machine_is_done():
    story = Story()
    story.announce(FREEZE, "vm_0", "vm_1", has_started=True)

    story.done("E", "vm_1")
    assert story.document.events[0].resources == ("vm_0", "vm_1")
    assert story.document.events[0].has_started
    story.done("E", "vm_0")

    assert story.document.events == ()
    assert story.step.ended[0].status is Status.COMPLETED


def test_events_on_different_hosts_are_approved_separately():
    story = Story()
    story.announce(FREEZE, "vm_0", event_id="E")
    story.announce(FREEZE, "vm_1", event_id="F")

    story.approve("F")

    assert [event.has_started for event in story.document.events] == [False, True]


def test_a_withdrawn_event_disappears_without_having_started():
    story = Story()
    story.announce(FREEZE, "vm_0")

    decision = story.withdraw("E")

    assert story.document.events == ()
    assert story.performed == []
    assert decision.ended[0].status is Status.CANCELLED
    assert decision.notes[0].what == "cancelled"


def test_a_started_event_cannot_be_withdrawn():
    story = Story()
    story.announce(FREEZE, "vm_0", has_started=True)

    with pytest.raises(IllegalTransitionError, match="Started cannot be withdrawn"):
        story.withdraw("E")


def test_what_a_user_asked_for_cannot_be_withdrawn():
    story = Story()
    story.delete("vm_0")

    with pytest.raises(IllegalTransitionError, match="asked for by a user"):
        story.withdraw("A")


def test_an_unknown_event_cannot_be_withdrawn():
    with pytest.raises(EventNotFoundError, match="'X'"):
        Story().withdraw("X")


def test_a_quiet_event_cannot_be_withdrawn():
    story = Story()
    story.delete("vm_0", force=True)

    with pytest.raises(EventNotFoundError):
        story.withdraw("A")


def test_terminate_cannot_be_announced():
    with pytest.raises(InvalidParameterError, match="by deleting the instance"):
        Story().announce(TERMINATE, "vm_0")


def test_an_event_needs_a_machine():
    with pytest.raises(InvalidParameterError, match="at least one machine"):
        Story().announce(FREEZE)


def test_an_event_names_only_members():
    with pytest.raises(InstanceNotFoundError):
        Story().announce(FREEZE, "vm_0", "elsewhere_0")


def test_platform_events_need_neither_profile_nor_watcher():
    story = Story(a_scope(watched_at=None))

    story.announce(FREEZE, "vm_0")

    assert story.document.events[0].not_before == NOON + 15 * MINUTE


def test_a_pause_heals_nothing():
    broken = a_machine(provisioning=Provisioning.FAILED, failure="no luck")
    story = Story(a_scope(broken))
    story.announce(FREEZE, "vm_0", has_started=True)

    story.done("E", "vm_0")

    assert story.machine("vm_0") == broken


def test_a_restart_by_the_platform_leaves_the_machine_running():
    story = Story(a_scope(a_machine(power=Power.STOPPED)))
    story.announce(REBOOT, "vm_0", has_started=True)

    story.done("E", "vm_0", number=7)

    assert story.machine("vm_0").power is Power.RUNNING
    assert story.machine("vm_0").booted == 7


def test_the_history_tells_the_notice_in_seconds():
    story = Story()

    story.announce(REDEPLOY, "vm_0")

    assert story.step.notes[0].text == "Redeploy announced with 600 s of notice."
    assert story.step.notes[0].machine == "vm_0"


def test_a_note_about_several_machines_names_none():
    story = Story()

    story.announce(REDEPLOY, "vm_0", "vm_1")

    assert story.step.notes[0].machine is None


def test_a_scope_bears_only_so_many_events():
    story = Story(a_scope(a_machine()))
    for number in range(EVENTS_PER_SCOPE_MAX):
        story.announce(FREEZE, "vm_0", event_id=f"E{number}")

    with pytest.raises(ConflictError, match="1000 events already"):
        story.announce(FREEZE, "vm_0", event_id="more")


@pytest.mark.parametrize("event_type", [FREEZE, REBOOT, REDEPLOY])
def test_a_machine_without_a_host_has_no_maintenance(event_type):
    story = Story(a_scope(a_machine(), a_machine("vm_1", power=Power.DEALLOCATED)))

    with pytest.raises(OperationNotAllowedError, match="is deallocated: it has no host"):
        story.announce(event_type, "vm_0", "vm_1")
