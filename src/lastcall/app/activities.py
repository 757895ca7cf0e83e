"""Who asked for what, and what came of it: logged in the transaction that does it.

A request that begins an operation is logged twice: when it is accepted, and when the operation is
over, whenever that is. Any other is logged once.
"""

from contextvars import ContextVar
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec.structs import asdict, replace

from lastcall.engine.errors import DomainError
from lastcall.engine.operations import Operation, OperationStatus
from lastcall.engine.resources import Activity, Asked
from lastcall.ports import Transaction


class Request:
    """A request that is being answered, and whether the log has it already."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.is_logged = False


# The edge sets it, and every transaction that is made for a request knows whose it is.
UNDER_WAY: Final[ContextVar[Request | None]] = ContextVar("UNDER_WAY", default=None)


class Outcome(StrEnum):
    """What came of a request, in ARM's words."""

    ACCEPTED = "Accepted"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


def begin(tx: Transaction, operation: Operation, asked: Asked | None) -> Operation:
    """Write a new operation down, with whose it is; parts of another are the same request."""
    if asked is not None and operation.part_of is None:
        operation = replace(operation, asked=asked)
        _log(tx, asked, Outcome.ACCEPTED, operation.id, operation.started_at)
    tx.put_operation(operation)
    return operation


def end(tx: Transaction, operation: Operation, now: datetime) -> None:
    """Log how an operation ended."""
    if operation.asked is None:
        return
    if operation.status is OperationStatus.SUCCEEDED:
        _log(tx, operation.asked, Outcome.SUCCEEDED, operation.id, now)
        return
    failure = operation.failure
    assert failure is not None, "what failed has a reason"
    activity = _activity(operation.asked, Outcome.FAILED, operation.id, now)
    tx.log(replace(activity, reason=failure.code, message=failure.message))


def done(tx: Transaction, asked: Asked, correlation: str, now: datetime) -> None:
    """Log a request that is over with its transaction."""
    _log(tx, asked, Outcome.SUCCEEDED, correlation, now)


def refused(asked: Asked, refusal: DomainError, correlation: str, now: datetime) -> Activity:
    """Return what is logged of a request that changed nothing, and why."""
    activity = _activity(asked, Outcome.FAILED, correlation, now)
    return replace(activity, reason=refusal.code, message=str(refusal))


def _log(tx: Transaction, asked: Asked, outcome: Outcome, correlation: str, at: datetime) -> None:
    tx.log(_activity(asked, outcome, correlation, at))


def _activity(asked: Asked, outcome: Outcome, correlation: str, at: datetime) -> Activity:
    return Activity(**asdict(asked), status=outcome, correlation=correlation, at=at)
