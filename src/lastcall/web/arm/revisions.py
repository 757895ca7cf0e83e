"""What a PUT or a PATCH of a set asks for, and what it makes of the model."""

from typing import Any

from msgspec import Struct

from lastcall.app import scale_sets
from lastcall.app.learning import Moment
from lastcall.app.resources import demand_open_group
from lastcall.app.scale_sets import Revision, SetKey, Written
from lastcall.engine.errors import PreconditionFailedError, ResourceNotFoundError
from lastcall.engine.model import OperationId
from lastcall.ports import Transaction
from lastcall.web.arm.front_door import api_version, key_of, known
from lastcall.web.routing import Call
from lastcall.wire.bodies import encode_json, parse_body, parse_stored
from lastcall.wire.members import refuse_members
from lastcall.wire.merging import merge
from lastcall.wire.names import place, refuse_name, refuse_resource_group_name
from lastcall.wire.paths import group_path
from lastcall.wire.traits import (
    capacity,
    instance_affecting,
    refuse_change,
    refuse_incomplete,
    traits,
)


class Change(Struct, frozen=True, kw_only=True):
    """One write: what it says, and under which conditions it is to be done (R100)."""

    key: SetKey
    patch: dict[str, Any]
    may_create: bool = True
    if_match: str | None = None
    if_none_match: str | None = None
    part_of: OperationId | None = None


async def parse_change(call: Call, *, may_create: bool) -> Change:
    """Return what a request asks for, or refuse."""
    key = key_of(call)
    if may_create:
        refuse_resource_group_name(key.resource_group)
        refuse_name(key.name)
    body = await call.body()
    patch = parse_body(body)
    refuse_members(patch, api_version(call), body)
    return Change(
        key=key,
        patch=patch,
        may_create=may_create,
        if_match=call.header("if-match"),
        if_none_match=call.header("if-none-match"),
    )


def apply(tx: Transaction, change: Change, moment: Moment) -> Written:
    """Make the change, if its conditions hold."""
    demand_open_group(tx, group_path(change.key.subscription, change.key.resource_group))
    if not change.may_create:
        known(tx, change.key)
    if change.if_none_match is not None:
        _refuse_match(tx, change.key, change.if_none_match)
    return scale_sets.write(
        tx,
        change.key,
        lambda old: revised(old, change),
        moment,
        change.if_match,
        change.part_of,
    )


def revised(old: bytes | None, change: Change) -> Revision:
    """Return the model after a change, checked; it is new where there was none."""
    before = None if old is None else parse_stored(old)
    after = merge(before, change.patch)
    if before is None:
        refuse_incomplete(after)
    checked = traits(after, change.key.name)
    if before is not None:
        refuse_change(before, after)
    return Revision(
        document=encode_json(after),
        traits=checked,
        location=place(after["location"]),
        # Not the merged one: instances may have been deleted since it was written (D6).
        capacity=capacity(change.patch),
        changes_instances=before is not None
        and instance_affecting(before) != instance_affecting(after),
    )


def _refuse_match(tx: Transaction, key: SetKey, etags: str) -> None:
    try:
        number = tx.scale_set(key.id).number
    except ResourceNotFoundError:
        return
    if etags.strip() == "*" or f'"{number}"' in etags:
        raise PreconditionFailedError("The resource exists already, or has the given etag.")
