"""Resource ids and names: parsing, printing and what may be a name (R92)."""

import re

from msgspec import Struct

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import NAME_CHARACTERS_MAX
from lastcall.engine.model import Machine, SetId
from lastcall.engine.scale_sets import ScaleSet

PROVIDER = "Microsoft.Compute"
SET_TYPE = f"{PROVIDER}/virtualMachineScaleSets"
INSTANCE_TYPE = f"{SET_TYPE}/virtualMachines"
GROUP_CHARACTERS_MAX = 90

SET_NAME = re.compile(r"(?![_.])[A-Za-z0-9_.-]+(?<![.-])")
GROUP_NAME = re.compile(r"[-\w.()]+(?<!\.)")


class ResourceId(Struct, frozen=True, kw_only=True):
    """The parts of a resource id: `type` and `names` run in parallel below the provider."""

    subscription: str
    resource_group: str
    type: str
    names: tuple[str, ...]


def set_id(subscription: str, resource_group: str, name: str) -> SetId:
    """Return the key of a scale set, the same in whatever case its parts were written."""
    return SetId(f"{subscription}/{resource_group}/{name}".lower())


def scale_set_path(scale_set: ScaleSet) -> str:
    """Return the resource id of a scale set, as its creator spelled it."""
    return (
        f"/subscriptions/{scale_set.subscription}/resourceGroups/{scale_set.resource_group}"
        f"/providers/{SET_TYPE}/{scale_set.name}"
    )


def instance_path(scale_set: ScaleSet, machine: Machine) -> str:
    """Return the resource id of an instance."""
    return f"{scale_set_path(scale_set)}/virtualMachines/{machine.instance_id}"


def parse_resource_id(text: str) -> ResourceId:
    """Return the parts of the id of a resource in a resource group, or refuse."""
    root, *parts = text.rstrip("/").split("/")
    words = [part.lower() for part in parts[:5:2]]
    rest = parts[6:]
    if (
        root
        or words != ["subscriptions", "resourcegroups", "providers"]
        or not rest
        or len(rest) % 2
        or not all(parts)
    ):
        raise InvalidParameterError(f"'{text[:200]}' is not a resource id.")
    return ResourceId(
        subscription=parts[1],
        resource_group=parts[3],
        type="/".join([parts[5], *rest[::2]]),
        names=tuple(rest[1::2]),
    )


def parse_set_path(text: str) -> SetId:
    """Return the key of the scale set whose resource id this is, or refuse."""
    parsed = parse_resource_id(text)
    if parsed.type.lower() != SET_TYPE.lower():
        raise InvalidParameterError(f"'{text[:200]}' is not the id of a scale set.")
    return set_id(parsed.subscription, parsed.resource_group, parsed.names[0])


def refuse_name(name: str) -> None:
    """Refuse what cannot be the name of a scale set."""
    if len(name) > NAME_CHARACTERS_MAX or not SET_NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The scale set name '{name[:200]}' is not allowed: it has 1 to"
            f" {NAME_CHARACTERS_MAX} letters, digits, '_', '.' or '-', does not start with '_' or"
            " '.' and does not end with '.' or '-'.",
            target="name",
        )


def refuse_resource_group_name(name: str) -> None:
    """Refuse what cannot be the name of a resource group."""
    if len(name) > GROUP_CHARACTERS_MAX or not GROUP_NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The resource group name '{name[:200]}' is not allowed: it has 1 to"
            f" {GROUP_CHARACTERS_MAX} letters, digits, '_', '.', '-', '(' or ')' and does not end"
            " with '.'.",
            target="resourceGroupName",
        )
