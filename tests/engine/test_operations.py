"""Operations end with their last machine (R98)."""

import pytest
from msgspec.structs import replace

from lastcall.engine.effects import Failure
from lastcall.engine.errors import (
    ConflictError,
    DomainError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.model import Action, OperationId
from lastcall.engine.operations import Operation, OperationStatus, settled

from .builders import MINUTE, NOON, Story

FIRST = Failure("Broken", "The first thing that broke.")
SECOND_FAILURE = Failure("AlsoBroken", "The second.")


def an_operation(remaining: int = 2, **changes) -> Operation:
    return Operation(
        id=OperationId("op"),
        name="delete",
        location="westus",
        started_at=NOON,
        remaining=remaining,
        **changes,
    )


def test_it_is_in_progress_until_the_last_machine():
    after = settled(an_operation(2), 1, None, NOON + MINUTE)

    assert after.status is OperationStatus.IN_PROGRESS
    assert not after.is_over
    assert (after.remaining, after.ended_at) == (1, None)


def test_it_succeeds_with_the_last_machine():
    after = settled(an_operation(2), 2, None, NOON + MINUTE)

    assert after.status is OperationStatus.SUCCEEDED
    assert after.is_over
    assert after.ended_at == NOON + MINUTE


def test_one_failure_fails_it_and_the_first_is_told():
    after = settled(an_operation(3), 1, FIRST, NOON)
    after = settled(after, 1, SECOND_FAILURE, NOON)
    after = settled(after, 1, None, NOON)

    assert after.status is OperationStatus.FAILED
    assert after.failure == FIRST


@pytest.mark.parametrize("status", [OperationStatus.SUCCEEDED, OperationStatus.FAILED])
def test_nothing_more_happens_to_one_that_is_over(status):
    over = replace(an_operation(1), status=status, ended_at=NOON)

    assert settled(over, 1, FIRST, NOON + MINUTE) == over


def test_it_never_waits_for_fewer_than_none():
    assert settled(an_operation(1), 5, None, NOON).remaining == 0


def test_a_request_for_several_machines_ends_once_for_each():
    story = Story()
    story.request(Action.UPDATE, "vm_0", "vm_1", operation="op")

    story.done("A", "vm_0")
    story.fail("B", "vm_1")

    assert [operation for operation, _ in story.settled] == ["op", "op"]


def test_a_request_that_nobody_waits_for_settles_nothing():
    story = Story()
    story.request(Action.UPDATE, "vm_0")

    story.done("A", "vm_0")

    assert story.settled == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConflictError, "Conflict"),
        (OperationNotAllowedError, "OperationNotAllowed"),
        (DomainError, "BadRequest"),
    ],
)
def test_a_refusal_says_its_docstring_unless_told_otherwise(error, code):
    assert str(error()) == error.__doc__
    assert str(error("No.")) == "No."
    assert error().code == code


def test_a_refusal_may_name_its_target():
    assert InvalidParameterError("No.", target="sku.capacity").target == "sku.capacity"
    assert InvalidParameterError("No.").target is None
