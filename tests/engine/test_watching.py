"""Scheduled Events is on while somebody reads (R22, R33-R37)."""

import pytest

from lastcall.engine.facts import Watched
from lastcall.engine.model import Action, Status
from lastcall.engine.step import due_at

from .builders import DAY, FREEZE, HOUR, MINUTE, NOON, NOTICE, SECOND, Story, a_scope


def test_the_first_reader_turns_it_on_for_every_machine_of_the_scope():
    story = Story(a_scope(watched_at=None))

    story.watch()
    story.delete("vm_0", "vm_1")

    assert story.history == ["watched", "announced", "announced"]
    assert story.performed == []


def test_further_readers_are_no_news():
    story = Story()
    story.now += MINUTE

    story.watch()

    assert story.history == []
    assert story.scope.watched_at == NOON + MINUTE


def test_a_reading_that_is_reported_late_does_not_turn_back_the_clock():
    story = Story()

    story.learn(Watched(at=NOON - MINUTE))

    assert story.scope.watched_at == NOON


def test_a_day_without_readers_turns_it_off():
    story = Story()

    story.wait(DAY - SECOND)
    assert story.scope.watched_at == NOON
    story.wait(SECOND)

    assert story.scope.watched_at is None
    assert story.history == ["unwatched"]


def test_reading_once_a_day_keeps_it_on():
    story = Story()

    for _ in range(5):
        story.wait(DAY - SECOND)
        story.watch()

    assert story.history == []


def test_it_is_off_after_a_day_even_when_the_timer_is_late():
    story = Story()
    story.now += DAY

    story.request(Action.RESTART, "vm_0")

    assert story.performed == [("vm_0", "restart")]


def test_what_was_announced_is_still_honoured_when_it_turns_off():
    story = Story()
    story.wait(DAY - MINUTE)
    story.delete("vm_0")

    story.wait(MINUTE)
    assert story.scope.watched_at is None
    assert story.status("A") is Status.SCHEDULED
    story.wait(NOTICE - MINUTE)

    assert story.performed == [("vm_0", "delete")]


@pytest.mark.parametrize("timer_is_late", [True, False])
def test_after_a_gap_the_incarnation_starts_over(timer_is_late):
    story = Story(a_scope(incarnation=41))
    story.now += DAY
    if not timer_is_late:
        story.wait(HOUR)

    story.watch()

    assert story.scope.incarnation == 1
    assert story.scope.watched_at == story.now
    assert story.history[-1] == "watched"


def test_the_first_document_is_number_one_whatever_happened_unseen():
    story = Story(a_scope(watched_at=None))
    story.announce(FREEZE, "vm_0")
    story.withdraw("E")

    story.watch()

    assert story.document.incarnation == 1


def test_without_a_gap_reading_leaves_the_incarnation_alone():
    story = Story(a_scope(incarnation=41))
    story.now += DAY - SECOND

    story.watch()

    assert story.scope.incarnation == 41


def test_a_scope_that_nobody_watches_and_nothing_happens_to_is_never_due():
    assert due_at(a_scope(watched_at=None)) is None


def test_a_watched_scope_is_due_after_a_day():
    assert due_at(a_scope()) == NOON + DAY


def test_a_scope_is_due_at_its_first_not_before():
    story = Story()
    story.announce(FREEZE, "vm_0")
    story.delete("vm_1")

    assert due_at(story.scope) == NOON + NOTICE


def test_a_started_event_is_not_due_again():
    story = Story(a_scope(watched_at=None))

    story.announce(FREEZE, "vm_0", has_started=True)

    assert due_at(story.scope) is None


def test_an_approved_event_that_waits_is_still_due():
    story = Story()
    story.delete("vm_0", "vm_1")
    story.approve("A")

    assert due_at(story.scope) == NOON + NOTICE
