"""Every cell of the table, legal and illegal (R52)."""

from itertools import product

import pytest

from lastcall.engine.effects import Step
from lastcall.engine.errors import IllegalTransitionError
from lastcall.engine.model import Status
from lastcall.engine.transitions import TRANSITIONS, Trigger, following

from .builders import NOON, Story, a_scope, an_event

CELLS = list(product(Status, Trigger))
ORDER = [Status.SCHEDULED, Status.APPROVED, Status.STARTED, Status.COMPLETED]


def is_legal(status: Status, trigger: Trigger) -> bool:
    """Say what is possible, in words of its own, so that the table has a second opinion."""
    if trigger is Trigger.APPROVED:
        return True
    if status in (Status.COMPLETED, Status.CANCELLED):
        return False
    if status is Status.STARTED:
        return trigger in (Trigger.FORCED, Trigger.PERFORMED, Trigger.DISSOLVED)
    if trigger is Trigger.RELEASED:
        return status is Status.APPROVED
    return trigger is not Trigger.PERFORMED


@pytest.mark.parametrize(("status", "trigger"), CELLS)
def test_every_cell_is_either_in_the_table_or_refused(status, trigger):
    if is_legal(status, trigger):
        assert following(status, trigger) is TRANSITIONS[status][trigger]
    else:
        with pytest.raises(IllegalTransitionError, match=f"{status} cannot be {trigger}"):
            following(status, trigger)


@pytest.mark.parametrize(("status", "trigger"), [cell for cell in CELLS if is_legal(*cell)])
def test_no_cell_leads_back(status, trigger):
    after = following(status, trigger)

    if after is Status.CANCELLED:
        assert status is Status.CANCELLED or status in (Status.SCHEDULED, Status.APPROVED)
    elif status is Status.CANCELLED:
        assert after is Status.CANCELLED
    else:
        assert ORDER.index(after) >= ORDER.index(status)


@pytest.mark.parametrize("status", list(Status))
def test_approval_is_never_refused(status):
    assert Trigger.APPROVED in TRANSITIONS[status]


@pytest.mark.parametrize(
    "trigger", [Trigger.DEADLINE, Trigger.FORCED, Trigger.RELEASED, Trigger.PERFORMED]
)
def test_only_a_withdrawn_or_empty_event_is_cancelled(trigger):
    outcomes = {row[trigger] for row in TRANSITIONS.values() if trigger in row}

    assert Status.CANCELLED not in outcomes


def test_a_refused_transition_changes_nothing():
    scope = a_scope(events=[an_event(Status.STARTED)])
    story = Story(scope)

    with pytest.raises(IllegalTransitionError):
        story.withdraw("E")

    assert story.scope == a_scope(events=[an_event(Status.STARTED)])
    assert story.steps == []


def test_a_decision_carries_the_scope_before_and_after():
    story = Story(a_scope(events=[an_event()]))
    before = story.scope

    decision = story.approve("E")

    assert isinstance(decision, Step)
    assert decision.before == before
    assert decision.scope.events["E"].started_at == NOON
