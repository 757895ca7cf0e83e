"""What is done to a set as a whole, beside writing and deleting it."""

from msgspec.structs import replace

from lastcall.app.learning import Moment
from lastcall.app.resources import expect
from lastcall.app.scale_sets import Order, begin, chosen_by
from lastcall.app.set_keys import staying
from lastcall.engine.errors import InvalidParameterError, OperationNotAllowedError
from lastcall.engine.model import Action, Provisioning, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import Group, Orchestration, ScaleSet
from lastcall.ports import Transaction
from lastcall.wire.bodies import encode_json, parse_stored
from lastcall.wire.merging import merge
from lastcall.wire.traits import repairs_are_on


def reapply(tx: Transaction, set_id: SetId, moment: Moment) -> Operation:
    """Apply a set's own state again: one that had failed is well when the operation ends."""
    scale_set = tx.scale_set(set_id)
    operation = begin(tx, scale_set, "reapply", moment)
    if scale_set.provisioning is Provisioning.FAILED:
        updating = replace(scale_set, provisioning=Provisioning.UPDATING, writing=operation.id)
        tx.put_scale_set(updating)
    return expect(tx, operation, 0, moment)


def approve_upgrade(
    tx: Transaction, set_id: SetId, instance_ids: tuple[str, ...] | None, moment: Moment
) -> Operation:
    """Let deferred rolling upgrades begin on instances; none is ever deferred here (R91)."""
    scale_set = tx.scale_set(set_id)
    chosen_by(tx, scale_set, Order(action=Action.UPDATE, instance_ids=instance_ids))
    return expect(tx, begin(tx, scale_set, "approve upgrade", moment), 0, moment)


def set_repairs(
    tx: Transaction, set_id: SetId, moment: Moment, *, are_suspended: bool
) -> Operation:
    """Suspend or resume the automatic repairs of a set that has them."""
    scale_set = tx.scale_set(set_id)
    if not repairs_are_on(parse_stored(tx.document(set_id, scale_set.number))):
        raise OperationNotAllowedError(
            f"The automatic repairs of '{scale_set.name}' are not on: its automaticRepairsPolicy"
            " does not enable them."
        )
    tx.put_scale_set(replace(scale_set, repairs_suspended=are_suspended))
    return expect(tx, begin(tx, scale_set, "set repairs", moment), 0, moment)


def convert_to_single_group(tx: Transaction, set_id: SetId, active: str | None) -> None:
    """Make a set whose instances are all in one placement group keep to that one (R47)."""
    scale_set = staying(tx, set_id)
    if scale_set.traits.single_placement_group:
        return
    if scale_set.traits.orchestration is Orchestration.FLEXIBLE or scale_set.traits.zones:
        raise OperationNotAllowedError(
            "Only a Uniform set without zones can be converted to a single placement group."
        )
    used = [group for group in scale_set.groups if tx.scope(group.scope_id).machines]
    kept = _active(scale_set, used, active)
    for group in scale_set.groups:
        if group is not kept:
            tx.forget_scope(group.scope_id)
    model = parse_stored(tx.document(set_id, scale_set.number))
    document = merge(model, {"properties": {"singlePlacementGroup": True}})
    converted = replace(
        scale_set,
        number=scale_set.number + 1,
        traits=replace(scale_set.traits, single_placement_group=True),
        groups=() if kept is None else (kept,),
    )
    tx.put_scale_set(converted, encode_json(document))


def _active(scale_set: ScaleSet, used: list[Group], active: str | None) -> Group | None:
    if len(used) > 1:
        raise OperationNotAllowedError(
            f"The instances of '{scale_set.name}' are in {len(used)} placement groups; a single one"
            " needs them all in the same."
        )
    if active is None:
        return used[0] if used else next(iter(scale_set.groups), None)
    found = next((g for g in scale_set.groups if g.scope_id == active.lower()), None)
    if found is None or (used and found is not used[0]):
        raise InvalidParameterError(
            "The activePlacementGroupId is not the placement group of the instances.",
            target="activePlacementGroupId",
        )
    return found
