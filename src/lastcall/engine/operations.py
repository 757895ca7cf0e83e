"""Long-running operations: what a user asked for, until the last machine has been dealt with."""

from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from lastcall.engine.effects import Failure
from lastcall.engine.model import OperationId, SetId
from lastcall.engine.resources import Asked, ResourceId
from lastcall.engine.value import Value


class OperationStatus(StrEnum):
    """ARM's words (R98)."""

    IN_PROGRESS = "InProgress"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


class Operation(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One request under way. `remaining` counts the machines that it still waits for.

    `removes_set` is the deletion of a whole set: the set goes with its last machine. In the same
    way `removes_resource` is the deletion of a resource, of a group with everything in it. An
    operation that is `part_of` another one counts there like a machine. `asked` is what its end is
    logged as. One that `is_kept` is not forgotten after its time: something refers to it.
    """

    id: OperationId
    name: str
    location: str
    started_at: datetime
    remaining: int
    set_id: SetId | None = None
    status: OperationStatus = OperationStatus.IN_PROGRESS
    ended_at: datetime | None = None
    failure: Failure | None = None
    removes_set: bool = False
    resource_id: ResourceId | None = None
    removes_resource: bool = False
    part_of: OperationId | None = None
    is_kept: bool = False
    asked: Asked | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status is not OperationStatus.IN_PROGRESS


def settled(operation: Operation, count: int, failure: Failure | None, now: datetime) -> Operation:
    """Count `count` machines as dealt with; the first failure is the one that is told."""
    if operation.is_over:
        return operation
    remaining = max(0, operation.remaining - count)
    after = replace(operation, remaining=remaining, failure=operation.failure or failure)
    if remaining:
        return after
    status = OperationStatus.SUCCEEDED if after.failure is None else OperationStatus.FAILED
    return replace(after, status=status, ended_at=now)
