"""Load, decide, record: the one way in which a scope learns of something."""

from collections import Counter
from datetime import datetime

from msgspec.structs import replace

from lastcall.app import activities
from lastcall.engine.effects import Failure, Step
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.facts import Fact
from lastcall.engine.model import OperationId, Provisioning, Scope, ScopeId
from lastcall.engine.operations import Operation, OperationStatus, settled
from lastcall.engine.policy import Policy
from lastcall.engine.resources import Asked, Resource, ResourceId
from lastcall.engine.step import step
from lastcall.engine.value import Value
from lastcall.ports import Ids, Transaction
from lastcall.wire.names import scale_set_path


class Moment(Value, frozen=True):
    """The circumstances of a decision: when, under which policy, and where new ids come from.

    `asked` is the request that it belongs to, None for what the platform does by itself.
    """

    now: datetime
    policy: Policy
    ids: Ids
    asked: Asked | None = None


def learn(tx: Transaction, scope_id: ScopeId, fact: Fact, moment: Moment) -> Step:
    """Let a scope learn a fact, and record everything that follows from it."""
    scope = tx.scope(scope_id)
    decision = step(scope, fact, moment.now, moment.policy)
    tx.record(decision, moment.now)
    if len(decision.scope.machines) < len(scope.machines):
        _let_go(tx, scope, decision.scope)
    if decision.finished:
        counts = Counter(finished.operation for finished in decision.finished)
        failures = {f.operation: f.failure for f in decision.finished if f.failure is not None}
        for operation_id, count in counts.items():
            settle(tx, operation_id, count, failures.get(operation_id), moment)
    if scope.machines and not decision.scope.machines and _is_nobodys(scope):
        tx.forget_scope(scope_id)
    return decision


def _is_nobodys(scope: Scope) -> bool:
    """Whether neither a set nor a resource owns a scope: it goes with its last machine."""
    return scope.set_id is None and not any(machine.path for machine in scope.machines.values())


def _let_go(tx: Transaction, before: Scope, after: Scope) -> None:
    """Forget what machines that are gone were to the control plane, whoever had them deleted."""
    for machine in before.machines.values():
        if machine.path and machine.id not in after.machines:
            remove(tx, ResourceId(machine.path.lower()))


def settle(
    tx: Transaction,
    operation_id: OperationId,
    count: int,
    failure: Failure | None,
    moment: Moment,
) -> None:
    """Count parts of an operation as over, and conclude it after the last."""
    before = tx.operation(operation_id)
    after = settled(before, count, failure, moment.now)
    tx.put_operation(after)
    if after.is_over and not before.is_over:
        _conclude(tx, after)
        activities.end(tx, after, moment.now)
        if after.part_of is not None:
            settle(tx, after.part_of, 1, after.failure, moment)


def _conclude(tx: Transaction, operation: Operation) -> None:
    if operation.removes_resource and operation.resource_id is not None:
        remove(tx, operation.resource_id)
    if operation.set_id is None:
        return
    try:
        scale_set = tx.scale_set(operation.set_id)
    except ResourceNotFoundError:
        return  # Two deletions of one set end together; the first to be counted removed it.
    if operation.removes_set:
        for group in scale_set.groups:
            tx.forget_scope(group.scope_id)
        tx.forget_scale_set(scale_set.id)
        # What hangs below it, its metrics among it, would be there again for a set of its name.
        remove(tx, ResourceId(scale_set_path(scale_set).lower()))
    elif scale_set.writing == operation.id:
        succeeded = operation.status is OperationStatus.SUCCEEDED
        provisioning = Provisioning.SUCCEEDED if succeeded else Provisioning.FAILED
        tx.put_scale_set(replace(scale_set, provisioning=provisioning, writing=None))


def remove(tx: Transaction, resource_id: ResourceId) -> None:
    """Remove a resource and everything below it; a resource group has everything in it below it."""
    for found in tx.resources_below(resource_id):
        tx.forget_resource(found.id)
        release(tx, found)
        if found.scope_id is not None and not tx.scope(found.scope_id).machines:
            tx.forget_scope(found.scope_id)


def release(tx: Transaction, resource: Resource) -> None:
    """Let the operation of a resource that is gone, or written anew, be forgotten in its time."""
    if resource.operation is not None:
        tx.put_operation(replace(tx.operation(resource.operation), is_kept=False))
