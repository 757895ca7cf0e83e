"""Where an event goes next.

Rule 1: every change of an event's status is a cell of TRANSITIONS.
Rule 2: nothing here reads a clock, draws a random number, logs, or awaits.

TRANSITIONS is data: the diagram in docs/engine.md is generated from it, and
tests/engine/test_transitions.py visits every cell of it.
"""

from collections.abc import Mapping
from enum import StrEnum

from lastcall.engine.errors import IllegalTransitionError
from lastcall.engine.model import Status


class Trigger(StrEnum):
    """What can befall one event."""

    APPROVED = "approved"
    RELEASED = "released"
    DEADLINE = "NotBefore reached"
    FORCED = "forced"
    WITHDRAWN = "withdrawn"
    DISSOLVED = "no machine left"
    PERFORMED = "performed"


TRANSITIONS: Mapping[Status, Mapping[Trigger, Status]] = {
    Status.SCHEDULED: {
        Trigger.APPROVED: Status.APPROVED,
        Trigger.DEADLINE: Status.STARTED,
        Trigger.FORCED: Status.STARTED,
        Trigger.WITHDRAWN: Status.CANCELLED,
        Trigger.DISSOLVED: Status.CANCELLED,
    },
    # Approved, but a neighbour's Terminate is neither approved nor due (R78).
    Status.APPROVED: {
        Trigger.APPROVED: Status.APPROVED,
        Trigger.RELEASED: Status.STARTED,
        Trigger.DEADLINE: Status.STARTED,
        Trigger.FORCED: Status.STARTED,
        Trigger.WITHDRAWN: Status.CANCELLED,
        Trigger.DISSOLVED: Status.CANCELLED,
    },
    # One way, never back (R52). Guests repeat approvals, and one may race the deadline: harmless.
    Status.STARTED: {
        Trigger.APPROVED: Status.STARTED,
        Trigger.FORCED: Status.STARTED,
        Trigger.PERFORMED: Status.COMPLETED,
        Trigger.DISSOLVED: Status.COMPLETED,
    },
    # R43: an id that was valid stays approvable.
    Status.COMPLETED: {Trigger.APPROVED: Status.COMPLETED},
    Status.CANCELLED: {Trigger.APPROVED: Status.CANCELLED},
}


def following(status: Status, trigger: Trigger) -> Status:
    """Return what `trigger` makes of `status`, or raise `IllegalTransitionError`."""
    after = TRANSITIONS[status].get(trigger)
    if after is None:
        raise IllegalTransitionError(f"An event that is {status} cannot be {trigger}.")
    return after


def diagram() -> str:
    """Return one arrow per cell of the table, as Mermaid."""
    arrows = (
        f"    {status.name} --> {after.name}: {trigger}"
        for status, row in TRANSITIONS.items()
        for trigger, after in row.items()
    )
    starts = ("    [*] --> SCHEDULED: announced", "    [*] --> STARTED: no notice due")
    return "\n".join(["stateDiagram-v2", *starts, *arrows])
