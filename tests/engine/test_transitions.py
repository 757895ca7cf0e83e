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


# The table's second opinion: rows are statuses, columns triggers, a dash is a refusal.
EXPECTED = """
            approved   released   deadline   forced     withdrawn  dissolved  performed
SCHEDULED   APPROVED   -          STARTED    STARTED    CANCELLED  CANCELLED  -
APPROVED    APPROVED   STARTED    STARTED    STARTED    CANCELLED  CANCELLED  -
STARTED     STARTED    -          -          STARTED    -          COMPLETED  COMPLETED
COMPLETED   COMPLETED  -          -          -          -          -          -
CANCELLED   CANCELLED  -          -          -          -          -          -
"""


def expected() -> dict[tuple[Status, Trigger], Status | None]:
    heading, *lines = EXPECTED.strip().splitlines()
    columns = [Trigger[name.upper()] for name in heading.split()]
    return {
        (Status[row], column): None if cell == "-" else Status[cell]
        for row, *cells in map(str.split, lines)
        for column, cell in zip(columns, cells, strict=True)
    }


def is_legal(status: Status, trigger: Trigger) -> bool:
    return expected()[status, trigger] is not None


@pytest.mark.parametrize(("status", "trigger"), CELLS)
def test_every_cell_leads_where_it_should_or_is_refused(status, trigger):
    after = expected()[status, trigger]
    if after is not None:
        assert following(status, trigger) is after
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
