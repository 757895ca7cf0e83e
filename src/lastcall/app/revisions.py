"""What a PUT or a PATCH makes of a set's model; requests and deployments write sets through it."""

from typing import Any

from msgspec import Struct

from lastcall.app import scale_sets
from lastcall.app.conditions import UNCONDITIONAL, Conditions
from lastcall.app.learning import Moment
from lastcall.app.resources import demand_open_group
from lastcall.app.scale_sets import Revision, Written
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.model import OperationId
from lastcall.ports import Transaction
from lastcall.wire.bodies import parse_stored, refuse_depth
from lastcall.wire.defaults import completed, refuse_malformed
from lastcall.wire.documents import encode_set_document
from lastcall.wire.members import refuse_members
from lastcall.wire.merging import merge
from lastcall.wire.names import place, refuse_name, refuse_resource_group_name
from lastcall.wire.paths import group_path
from lastcall.wire.traits import (
    capacity,
    instance_affecting,
    is_empty_group,
    refuse_change,
    refuse_incomplete,
    traits,
)


class Change(Struct, frozen=True, kw_only=True):
    """One write: what it says, and under which conditions it is to be done (R100)."""

    key: SetKey
    patch: dict[str, Any]
    may_create: bool = True
    conditions: Conditions = UNCONDITIONAL
    part_of: OperationId | None = None


def checked(
    key: SetKey, patch: dict[str, Any], api_version: str, body: bytes | None = None
) -> dict[str, Any]:
    """Return a patch whose members its api-version knows, for a set that may have that name.

    `body` is the JSON that it came in, for the position of what is refused (R67).
    """
    refuse_resource_group_name(key.resource_group)
    refuse_name(key.name)
    refuse_members(patch, api_version, body)
    return patch


def apply(tx: Transaction, change: Change, moment: Moment) -> Written:
    """Make the change, if its conditions hold."""
    demand_open_group(tx, group_path(change.key.subscription, change.key.resource_group))
    if not change.may_create:
        known(tx, change.key)
    return scale_sets.write(
        tx,
        change.key,
        lambda old: revised(old, change),
        moment,
        change.conditions,
        change.part_of,
    )


def revised(old: bytes | None, change: Change) -> Revision:
    """Return the model after a change, checked; it is new where there was none."""
    before = None if old is None else parse_stored(old)
    after = merge(before, change.patch)
    refuse_depth(after)
    if before is None:
        refuse_incomplete(after)
    name = change.key.name
    found = traits(after, name)
    refuse_malformed(after)
    if before is not None:
        refuse_change(before, after)
    wanted = capacity(change.patch)
    if wanted is None and before is None and is_empty_group(after):
        wanted = 0
    return Revision(
        document=encode_set_document(after),
        traits=found,
        location=place(after["location"]),
        # Not the merged one: instances may have been deleted since it was written (D6).
        capacity=wanted,
        changes_instances=before is not None
        # Clients send back what they have read: a default that is spelled out changes nothing.
        and instance_affecting(completed(before, traits(before, name)))
        != instance_affecting(completed(after, found)),
    )
