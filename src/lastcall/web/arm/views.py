"""Sets and instances as they are shown to a client of an api-version."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from lastcall.app.machines import Members
from lastcall.app.scale_sets import capacity_of, members
from lastcall.engine.model import Provisioning
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.wire.arm import encode_scale_set
from lastcall.wire.bodies import parse_stored
from lastcall.wire.defaults import NEWEST, completed
from lastcall.wire.instances import encode_instance, encode_instance_view
from lastcall.wire.members import OF_INSTANCE, visible
from lastcall.wire.own_parts import of_instance

Json = dict[str, Any]

USER_DATA: Final = "userData"


class Manner(Struct, frozen=True, kw_only=True):
    """How something is to be shown: to which api-version, what expanded, as of when."""

    version: str
    now: datetime
    expanded: frozenset[str] = frozenset()


def model_of(reader: Reader, scale_set: ScaleSet, version: str = NEWEST) -> Json:
    """Return the model of a set with what the service adds to it in an api-version."""
    document = parse_stored(reader.document(scale_set.id, scale_set.number))
    return completed(document, scale_set.traits, version)


def show_set(
    reader: Reader, scale_set: ScaleSet, manner: Manner, state: Provisioning | None = None
) -> Json:
    """Return a set as GET shows it; `state` is what a write tells of it instead."""
    document = model_of(reader, scale_set, manner.version)
    shown = scale_set if state is None else replace(scale_set, provisioning=state)
    capacity = capacity_of(members(reader, scale_set))
    encoded = encode_scale_set(shown, document, capacity)
    profile = encoded["properties"].get("virtualMachineProfile", {})
    if USER_DATA not in manner.expanded:
        profile.pop(USER_DATA, None)
    return visible(encoded, manner.version)


def etag_header(shown: Json) -> dict[str, str]:
    """Return the header with the etag of a set or an instance, where the api-version knows it."""
    return {"ETag": shown["etag"]} if "etag" in shown else {}


def show_sets(reader: Reader, scale_sets: Iterable[ScaleSet], manner: Manner) -> list[Json]:
    """Return several sets."""
    return [show_set(reader, scale_set, manner) for scale_set in scale_sets]


def models_of(reader: Reader, scale_set: ScaleSet, version: str) -> Callable[[int], Json]:
    """Return what gives a set's model by its number, as a client of an api-version sees it."""

    @cache
    def model(number: int) -> Json:
        document = parse_stored(reader.document(scale_set.id, number))
        return visible(completed(document, scale_set.traits, version), version)

    return model


def show_instances(
    reader: Reader, scale_set: ScaleSet, chosen: Members, manner: Manner
) -> list[Json]:
    """Return instances with the model that each has; with their views when they are expanded."""
    model = models_of(reader, scale_set, manner.version)
    latest = parse_stored(reader.document(scale_set.id, scale_set.number))
    shown = []
    for scope_id, machine in chosen:
        own = of_instance(latest, machine.id)
        instance = encode_instance(scale_set, machine, model(machine.model.version), own)
        if USER_DATA not in manner.expanded:
            instance["properties"].pop(USER_DATA, None)
        if "instanceView" in manner.expanded:
            view = encode_instance_view(machine, scope_id, manner.now)
            instance["properties"]["instanceView"] = view
        shown.append(visible(instance, manner.version, OF_INSTANCE))
    return shown
