"""The incarnation rises exactly when the document changes (R19-R21)."""

import pytest

from lastcall.engine.document import Document
from lastcall.engine.model import Action

from .builders import FREEZE, MINUTE, NOTICE, SECOND, Story

RISES = {
    "a platform event appears": (lambda s: None, lambda s: s.announce(FREEZE, "vm_0")),
    "a deletion is announced": (lambda s: None, lambda s: s.delete("vm_0")),
    "two deletions are announced at once": (lambda s: None, lambda s: s.delete("vm_0", "vm_1")),
    "a restart is announced": (lambda s: None, lambda s: s.request(Action.RESTART, "vm_0")),
    "an event is approved": (lambda s: s.delete("vm_0"), lambda s: s.approve("A")),
    "a deadline passes": (lambda s: s.delete("vm_0"), lambda s: s.wait(NOTICE)),
    "a deletion is forced": (
        lambda s: s.delete("vm_0"),
        lambda s: s.delete("vm_0", ids="B", force=True),
    ),
    "an event is withdrawn": (lambda s: s.announce(FREEZE, "vm_0"), lambda s: s.withdraw("E")),
    "an event is over": (
        lambda s: s.announce(FREEZE, "vm_0", has_started=True),
        lambda s: s.done("E", "vm_0"),
    ),
    "a machine leaves an event": (
        lambda s: (s.announce(FREEZE, "vm_0", "vm_1"), s.delete("vm_0", force=True)),
        lambda s: s.done("A", "vm_0"),
    ),
}
STAYS = {
    "time passes": (lambda s: s.delete("vm_0"), lambda s: s.wait(MINUTE)),
    "somebody reads": (lambda s: s.delete("vm_0"), lambda s: s.watch()),
    "an approval has to wait": (lambda s: s.delete("vm_0", "vm_1"), lambda s: s.approve("A")),
    "an approval is repeated": (
        lambda s: (s.delete("vm_0"), s.approve("A")),
        lambda s: s.approve("A"),
    ),
    "a deletion joins another": (
        lambda s: s.delete("vm_0", operation="first"),
        lambda s: s.delete("vm_0", ids="B", operation="second"),
    ),
    "a quiet deletion begins": (lambda s: None, lambda s: s.delete("vm_0", force=True)),
    "a quiet deletion is over": (
        lambda s: s.delete("vm_0", force=True),
        lambda s: s.done("A", "vm_0"),
    ),
    "a quiet action overtakes another": (
        lambda s: (s.request(Action.UPDATE, "vm_0", ids="U"), s.delete("vm_0", force=True)),
        lambda s: s.done("A", "vm_0"),
    ),
    "one machine of several is done": (
        lambda s: s.announce(FREEZE, "vm_0", "vm_1", has_started=True),
        lambda s: s.done("E", "vm_0"),
    ),
    "a machine starts": (lambda s: None, lambda s: s.request(Action.START, "vm_0")),
}


@pytest.mark.parametrize("change", RISES)
def test_the_incarnation_rises_by_one_when(change):
    given, when = RISES[change]
    story = Story()
    given(story)
    before = story.document

    when(story)

    assert story.document.events != before.events
    assert story.document.incarnation == before.incarnation + 1


@pytest.mark.parametrize("change", STAYS)
def test_the_incarnation_stays_when(change):
    given, when = STAYS[change]
    story = Story()
    given(story)
    before = story.document

    when(story)

    assert story.document == before


def test_the_first_document_is_number_one_and_empty():
    assert Story().document == Document(incarnation=1, events=())


def test_events_stand_in_the_order_of_their_announcement():
    story = Story()
    story.announce(FREEZE, "vm_1", event_id="Z")
    story.wait(SECOND)
    story.delete("vm_0", ids="A")

    story.approve("Z")

    assert [event.id for event in story.document.events] == ["Z", "A"]


def test_an_event_keeps_its_id_for_life():
    story = Story()
    story.delete("vm_0")

    story.approve("A")

    assert [event.id for event in story.document.events] == ["A"]
