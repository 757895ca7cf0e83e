"""What users do to scale sets: create, change, scale, act on instances, delete."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import activities
from lastcall.app.conditions import UNCONDITIONAL, Conditions, refuse_stale
from lastcall.app.learning import Moment, learn, settle
from lastcall.app.machines import Members, Wish, admit, announce_eviction, open_scope, request
from lastcall.app.resources import expect
from lastcall.app.set_keys import SetKey, staying
from lastcall.engine.draft import PREEMPTED
from lastcall.engine.effects import Failure, Step
from lastcall.engine.errors import (
    InstanceNotFoundError,
    InvalidParameterError,
    ResourceNotFoundError,
)
from lastcall.engine.facts import Protected
from lastcall.engine.model import (
    Action,
    Machine,
    OperationId,
    Power,
    Protection,
    Provisioning,
    ScopeId,
    ScopeKind,
    SetId,
)
from lastcall.engine.operations import Operation
from lastcall.engine.placement import Birth, place, refuse_capacity
from lastcall.engine.requests import NEEDS_ALLOCATION
from lastcall.engine.scale_sets import (
    Rollout,
    RolloutCode,
    RolloutKind,
    ScaleSet,
    Traits,
    UpgradeMode,
)
from lastcall.engine.selection import select_for_removal
from lastcall.engine.upgrade import ended, outdated
from lastcall.ports import Reader, Transaction


class Revision(Struct, frozen=True, kw_only=True):
    """A set's model after a write: the document, what the engine needs of it, and what changed."""

    document: bytes
    traits: Traits
    location: str
    capacity: int | None
    changes_instances: bool


Revise = Callable[[bytes | None], Revision]


class Written(Struct, frozen=True, kw_only=True):
    """The outcome of a write to a set."""

    scale_set: ScaleSet
    operation: Operation
    is_new: bool


class Order(Struct, frozen=True, kw_only=True):
    """An action on instances of a set. `instance_ids` None means all of them."""

    action: Action
    instance_ids: tuple[str, ...] | None = None
    force: bool = False


def members(reader: Reader, scale_set: ScaleSet) -> Members:
    """Return every instance of the set with its scope, oldest first."""
    found = [
        (group.scope_id, machine)
        for group in scale_set.groups
        for machine in reader.scope(group.scope_id).machines.values()
    ]
    return sorted(found, key=lambda member: member[1].ordinal)


def member(reader: Reader, scale_set: ScaleSet, instance_id: str) -> tuple[ScopeId, Machine]:
    """Return one instance with its scope, or raise `InstanceNotFoundError`."""
    for group in scale_set.groups:
        for machine in reader.scope(group.scope_id).machines.values():
            if machine.instance_id.lower() == instance_id.lower():
                return group.scope_id, machine
    raise InstanceNotFoundError


def capacity_of(present: Members) -> int:
    """Return how many instances the set has, not counting those on their way out (D6)."""
    return sum(not machine.is_leaving for _, machine in present)


def write(
    tx: Transaction,
    key: SetKey,
    revise: Revise,
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
    part_of: OperationId | None = None,
) -> Written:
    """Create a set or change it, and begin everything that follows from the change."""
    before = _find(tx, key.id)
    refuse_stale(None if before is None else before.number, conditions)
    old = None if before is None else tx.document(before.id, before.number)
    revision = revise(old)
    if revision.capacity is not None:
        refuse_capacity(revision.traits, revision.capacity)
    scale_set = _revised(before, key, revision, moment)
    operation = begin(tx, scale_set, "write", moment, part_of=part_of)
    scale_set = replace(scale_set, writing=operation.id)
    tx.put_scale_set(scale_set, revision.document)
    present = members(tx, scale_set)
    tx.keep_documents(scale_set.id, _documents_in_use(tx, scale_set, present))
    target = _target(before, revision, present)
    parts = 0
    if target > capacity_of(present):
        parts += _grow(tx, scale_set, present, target - capacity_of(present), operation, moment)
    elif target < capacity_of(present):
        parts += _shrink(tx, scale_set, present, capacity_of(present) - target, operation, moment)
    if before is not None and _changes_rollout(before, revision):
        parts += _roll_out(tx, scale_set.id, operation.id, moment)
    operation = expect(tx, operation, parts, moment)
    return Written(scale_set=tx.scale_set(key.id), operation=operation, is_new=before is None)


def act(tx: Transaction, set_id: SetId, order: Order, moment: Moment) -> Operation:
    """Do something to some or all instances of a set."""
    scale_set = tx.scale_set(set_id)
    chosen = chosen_by(tx, scale_set, order)
    operation = begin(tx, scale_set, order.action, moment)
    _request(tx, scale_set, chosen, order, operation.id, moment)
    return expect(tx, operation, len(chosen), moment)


def delete(
    tx: Transaction,
    set_id: SetId,
    moment: Moment,
    *,
    force: bool = False,
    part_of: OperationId | None = None,
) -> Operation:
    """Delete a set: its instances get their notices, and the set goes with the last of them."""
    scale_set = tx.scale_set(set_id)
    present = members(tx, scale_set)
    scale_set = without_rollout(tx, scale_set, moment)
    tx.put_scale_set(replace(scale_set, provisioning=Provisioning.DELETING, writing=None))
    operation = begin(tx, scale_set, "delete set", moment, removes_set=True, part_of=part_of)
    order = Order(action=Action.DELETE, force=force)
    _request(tx, scale_set, present, order, operation.id, moment)
    return expect(tx, operation, len(present), moment)


def evict(tx: Transaction, set_id: SetId, instance_id: str, moment: Moment) -> Step:
    """Announce the eviction of a Spot instance (R82-R84)."""
    scope_id, machine = member(tx, tx.scale_set(set_id), instance_id)
    return announce_eviction(tx, scope_id, machine, moment)


def protect(
    tx: Transaction, set_id: SetId, instance_id: str, protection: Protection, moment: Moment
) -> Operation:
    """Change what the set may do to one of its instances (R107)."""
    scale_set = tx.scale_set(set_id)
    scope_id, machine = member(tx, scale_set, instance_id)
    learn(tx, scope_id, Protected(machine=machine.id, protection=protection), moment)
    return expect(tx, begin(tx, scale_set, "protect", moment), 0, moment)


def upgrade_batch(
    tx: Transaction,
    scale_set: ScaleSet,
    machines: Iterable[Machine],
    operation_id: OperationId | None,
    moment: Moment,
) -> None:
    """Upgrade some instances, as part of an operation or of a rollout.

    They get the latest model, or in an upgrade of the OS a new disk.
    """
    wanted = {machine.id for machine in machines}
    chosen = [entry for entry in members(tx, scale_set) if entry[1].id in wanted]
    is_os = scale_set.rollout is not None and scale_set.rollout.kind is RolloutKind.OS
    order = Order(action=Action.REIMAGE if is_os else Action.UPDATE)
    _request(tx, scale_set, chosen, order, operation_id, moment)


def _find(tx: Transaction, set_id: SetId) -> ScaleSet | None:
    try:
        return staying(tx, set_id)
    except ResourceNotFoundError:
        return None


def _revised(before: ScaleSet | None, key: SetKey, revision: Revision, moment: Moment) -> ScaleSet:
    if before is None:
        return ScaleSet(
            id=key.id,
            subscription=key.subscription,
            resource_group=key.resource_group,
            name=key.name,
            unique_id=moment.ids.machine_id(),
            created_at=moment.now,
            location=revision.location,
            traits=revision.traits,
        )
    number = before.number + 1
    return replace(
        before,
        number=number,
        model_version=number if revision.changes_instances else before.model_version,
        traits=revision.traits,
        provisioning=Provisioning.UPDATING,
    )


def _documents_in_use(reader: Reader, scale_set: ScaleSet, present: Members) -> frozenset[int]:
    numbers = {scale_set.number, scale_set.model_version}
    for _, machine in present:
        numbers |= {machine.model.version, machine.booted}
    # What an upgrade that is under way will give to its machine.
    for group in scale_set.groups:
        events = reader.scope(group.scope_id).events.values()
        numbers |= {event.model.version for event in events if event.model is not None}
    return frozenset(numbers)


def _target(before: ScaleSet | None, revision: Revision, present: Members) -> int:
    if revision.capacity is not None:
        return revision.capacity
    return capacity_of(present) if before is not None else 1


def _grow(
    tx: Transaction,
    scale_set: ScaleSet,
    present: Members,
    count: int,
    operation: Operation,
    moment: Moment,
) -> int:
    ids = moment.ids
    births = [
        Birth(ids.machine_id(), ordinal, ids.scope_id()) for ordinal in tx.take_ordinals(count)
    ]
    placed = place(scale_set, present, births, moment.now)
    known = {group.scope_id for group in scale_set.groups}
    for group in placed.scale_set.groups:
        if group.scope_id not in known:
            kind = ScopeKind.PLACEMENT_GROUP
            open_scope(tx, group.scope_id, kind, moment, scale_set.id)
    tx.put_scale_set(placed.scale_set)
    admit(tx, placed.machines, operation.id, moment)
    return count


def _shrink(
    tx: Transaction,
    scale_set: ScaleSet,
    present: Members,
    count: int,
    operation: Operation,
    moment: Moment,
) -> int:
    machines = [machine for _, machine in present]
    chosen = select_for_removal(machines, count, scale_set.traits.scale_in)
    wanted = {machine.id for machine in chosen}
    leaving = [entry for entry in present if entry[1].id in wanted]
    order = Order(action=Action.DELETE, force=scale_set.traits.scale_in_force)
    _request(tx, scale_set, leaving, order, operation.id, moment)
    return count


def _changes_rollout(before: ScaleSet, revision: Revision) -> bool:
    """Whether a write is about how, or with what, existing instances are upgraded."""
    return (
        revision.changes_instances or before.traits.upgrade_mode is not revision.traits.upgrade_mode
    )


def _roll_out(tx: Transaction, set_id: SetId, operation_id: OperationId, moment: Moment) -> int:
    """Bring the latest model to the instances, as the upgrade mode says; count the parts."""
    scale_set = without_rollout(tx, tx.scale_set(set_id), moment)
    tx.put_scale_set(scale_set)
    behind = outdated(scale_set, [machine for _, machine in members(tx, scale_set)])
    match scale_set.traits.upgrade_mode:
        case UpgradeMode.MANUAL:
            return 0
        case UpgradeMode.AUTOMATIC:
            upgrade_batch(tx, scale_set, behind, operation_id, moment)
            return len(behind)
        case UpgradeMode.ROLLING:
            rollout = Rollout(operation=operation_id, started_at=moment.now)
            tx.put_scale_set(replace(scale_set, rollout=rollout, due_at=moment.now))
            return 1  # The operation waits for the rollout as a whole.


def without_rollout(
    tx: Transaction, scale_set: ScaleSet, moment: Moment, why: Failure = PREEMPTED
) -> ScaleSet:
    """Return the set with no rolling upgrade under way; one that was is cancelled."""
    if scale_set.rollout is None:
        return scale_set
    settle(tx, scale_set.rollout.operation, 1, why, moment)
    machines = [machine for _, machine in members(tx, scale_set)]
    return ended(tx.scale_set(scale_set.id), machines, RolloutCode.CANCELLED, moment.now)


def chosen_by(reader: Reader, scale_set: ScaleSet, order: Order) -> Members:
    """Return the instances that an order means, or refuse the order."""
    return _targets(members(reader, scale_set), order)


def _targets(present: Members, order: Order) -> Members:
    if order.instance_ids is None:
        return [entry for entry in present if _is_eligible(entry[1], order.action)]
    by_id = {machine.instance_id.lower(): (scope_id, machine) for scope_id, machine in present}
    unknown = [wanted for wanted in order.instance_ids if wanted.lower() not in by_id]
    if unknown:
        # R111
        raise InvalidParameterError(
            f"The provided instanceId {unknown[0]} is not an active Virtual Machine Scale Set VM"
            " instanceId.",
            target="instanceIds",
        )
    # Each once, however often it was named: the operation counts machines.
    return [by_id[wanted] for wanted in dict.fromkeys(map(str.lower, order.instance_ids))]


def _is_eligible(machine: Machine, action: Action) -> bool:
    """Whether an action on all instances means this one too (R107)."""
    if machine.protection.from_scale_set_actions:
        return False
    if action is Action.DELETE:
        return True
    unallocated = machine.power is Power.DEALLOCATED and action in NEEDS_ALLOCATION
    return not (machine.is_leaving or unallocated)


def _request(
    tx: Transaction,
    scale_set: ScaleSet,
    chosen: Members,
    order: Order,
    operation_id: OperationId | None,
    moment: Moment,
) -> None:
    wish = Wish(
        action=order.action,
        force=order.force,
        auto_approve=scale_set.traits.auto_approve,
        model=scale_set.model if order.action is Action.UPDATE else None,
    )
    request(tx, chosen, wish, operation_id, moment)


def begin(
    tx: Transaction,
    scale_set: ScaleSet,
    name: str,
    moment: Moment,
    *,
    removes_set: bool = False,
    part_of: OperationId | None = None,
) -> Operation:
    """Begin an operation; it does not conclude before `expect` has counted its parts."""
    operation = Operation(
        id=moment.ids.operation_id(),
        name=name,
        location=scale_set.location,
        started_at=moment.now,
        remaining=1,
        set_id=scale_set.id,
        removes_set=removes_set,
        part_of=part_of,
    )
    return activities.begin(tx, operation, moment.asked)
