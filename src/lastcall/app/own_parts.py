"""What single instances have of their own, written with the operations that clients follow."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from lastcall.app.learning import Moment
from lastcall.app.resources import expect
from lastcall.app.scale_sets import begin, member, members
from lastcall.engine.model import Machine, ScopeId
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader, Transaction
from lastcall.wire.bodies import parse_stored, refuse_depth
from lastcall.wire.documents import encode_set_document
from lastcall.wire.instances import instance_number
from lastcall.wire.own_parts import of_instance, with_own

Own = Mapping[str, Any]
Edit = Callable[[Own], Own]


class Part(Struct, frozen=True, kw_only=True):
    """An instance, the set it belongs to, and what it has of its own."""

    scale_set: ScaleSet
    scope_id: ScopeId
    machine: Machine
    own: Own

    @property
    def number(self) -> int:
        """Return what its etag has between its quotes."""
        return instance_number(self.machine, self.own)


def part(reader: Reader, scale_set: ScaleSet, instance_id: str) -> Part:
    """Return one instance, or raise `InstanceNotFoundError`."""
    scope_id, machine = member(reader, scale_set, instance_id)
    document = parse_stored(reader.document(scale_set.id, scale_set.number))
    return Part(
        scale_set=scale_set,
        scope_id=scope_id,
        machine=machine,
        own=of_instance(document, machine.id),
    )


def rewrite(
    tx: Transaction, scale_set: ScaleSet, instance_id: str, edit: Edit, moment: Moment
) -> Operation:
    """Change what an instance has of its own; it does not count as a write of the set."""
    found = part(tx, scale_set, instance_id)
    document = parse_stored(tx.document(scale_set.id, scale_set.number))
    alive = {machine.id for _, machine in members(tx, scale_set)}
    changed = with_own(document, found.machine.id, edit(found.own), alive)
    refuse_depth(changed)
    tx.put_scale_set(scale_set, encode_set_document(changed))
    return expect(tx, begin(tx, scale_set, "write instance", moment), 0, moment)
