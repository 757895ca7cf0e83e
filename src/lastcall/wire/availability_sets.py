"""An availability set: its model as clients write it and as they read it."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from lastcall.engine.errors import LocationRequiredError
from lastcall.engine.limits import UPDATE_DOMAINS
from lastcall.engine.model import Machine
from lastcall.engine.resources import Resource
from lastcall.engine.value import Value
from lastcall.wire.arm import public
from lastcall.wire.fields import number_at, text_at, word_at
from lastcall.wire.merging import merge
from lastcall.wire.names import PROVIDER, place
from lastcall.wire.traits import refuse_property, refuse_tags

Json = dict[str, Any]
Document = Mapping[str, Any]

SET_TYPE: Final = f"{PROVIDER}/availabilitySets"
FAULT_DOMAINS: Final = "properties.platformFaultDomainCount"
UPDATE_DOMAIN_COUNT: Final = "properties.platformUpdateDomainCount"
FAULT_DOMAINS_DEFAULT: Final = 2
FAULT_DOMAINS_ALLOWED: Final = range(1, 4)
UPDATE_DOMAINS_ALLOWED: Final = range(1, 21)


class Sku(StrEnum):
    """Whether the disks of its machines are managed."""

    ALIGNED = "Aligned"
    CLASSIC = "Classic"


class AvailabilitySet(Value, frozen=True, kw_only=True):
    """What is needed of an availability set's model."""

    fault_domains: int
    update_domains: int
    sku: Sku


def merge_set(old: Document | None, patch: Document) -> Json:
    """Return the model after a PUT or a PATCH (D9); which machines are in it is not written."""
    given = dict(patch)
    if isinstance(given.get("properties"), Mapping):
        properties = given["properties"]
        given["properties"] = {k: v for k, v in properties.items() if k != "virtualMachines"}
    merged = merge(old, given)
    if isinstance(merged.get("location"), str):
        merged["location"] = place(merged["location"])
    return merged


def parse_set(document: Document) -> AvailabilitySet:
    """Return what matters of a model, or refuse the model."""
    refuse_tags(document)
    if not text_at(document, "location"):
        raise LocationRequiredError(target="location")
    return AvailabilitySet(
        fault_domains=number_at(document, FAULT_DOMAINS, FAULT_DOMAINS_ALLOWED)
        or FAULT_DOMAINS_DEFAULT,
        update_domains=number_at(document, UPDATE_DOMAIN_COUNT, UPDATE_DOMAINS_ALLOWED)
        or UPDATE_DOMAINS,
        sku=word_at(document, "sku.name", Sku.CLASSIC),
    )


def refuse_set_change(old: Document, new: Document) -> None:
    """Refuse a change of what an availability set keeps for life."""
    before, after = parse_set(old), parse_set(new)
    if place(old["location"]) != place(new["location"]):
        refuse_property("location")
    if before.fault_domains != after.fault_domains:
        refuse_property(FAULT_DOMAINS)
    if before.update_domains != after.update_domains:
        refuse_property(UPDATE_DOMAIN_COUNT)


def encode_set(found: Resource, machines: Iterable[Machine]) -> Json:
    """Return an availability set as GET shows it."""
    model = public(found.content)
    known = parse_set(model)
    properties, sku = model.pop("properties", {}), model.pop("sku", {})
    return {
        "name": found.name,
        "id": found.path,
        "type": SET_TYPE,
        **model,
        "sku": {**sku, "name": known.sku},
        "properties": {
            **properties,
            "platformFaultDomainCount": known.fault_domains,
            "platformUpdateDomainCount": known.update_domains,
            "virtualMachines": [{"id": machine.path} for machine in machines],
        },
    }
