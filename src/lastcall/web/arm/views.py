"""Sets and instances as they are shown to a client of an api-version."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from msgspec.structs import replace

from lastcall.app.machines import Members
from lastcall.app.scale_sets import capacity_of, members
from lastcall.engine.model import Provisioning
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.wire.arm import encode_instance, encode_instance_view, encode_scale_set
from lastcall.wire.bodies import parse_stored
from lastcall.wire.members import visible

Json = dict[str, Any]


def show_set(
    reader: Reader, scale_set: ScaleSet, version: str, state: Provisioning | None = None
) -> Json:
    """Return a set as GET shows it; `state` is what a write tells of it instead."""
    document = parse_stored(reader.document(scale_set.id, scale_set.number))
    shown = scale_set if state is None else replace(scale_set, provisioning=state)
    capacity = capacity_of(members(reader, scale_set))
    return visible(encode_scale_set(shown, document, capacity), version)


def show_sets(reader: Reader, scale_sets: Iterable[ScaleSet], version: str) -> list[Json]:
    """Return several sets."""
    return [show_set(reader, scale_set, version) for scale_set in scale_sets]


def show_instances(
    reader: Reader, scale_set: ScaleSet, chosen: Members, version: str, now: datetime | None
) -> list[Json]:
    """Return instances with the model that each has; with their views when there is a `now`."""

    @cache
    def document(number: int) -> Json:
        return visible(parse_stored(reader.document(scale_set.id, number)), version)

    shown = []
    for scope_id, machine in chosen:
        instance = encode_instance(scale_set, machine, document(machine.model.version))
        if now is not None:
            view = encode_instance_view(machine, scope_id, now)
            instance["properties"]["instanceView"] = view
        shown.append(visible(instance, version))
    return shown
