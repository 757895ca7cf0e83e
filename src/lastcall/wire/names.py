"""Resource ids and names: parsing, printing and what may be a name (R92)."""

import re

from lastcall.engine.errors import (
    InvalidParameterError,
    InvalidResourceGroupError,
    InvalidResourceNameError,
)
from lastcall.engine.limits import (
    NAME_CHARACTERS_MAX,
    RESOURCE_DEPTH_MAX,
    RESOURCE_NAME_CHARACTERS_MAX,
)
from lastcall.engine.model import Machine, SetId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.paths import Path
from lastcall.wire.quoting import shown

PROVIDER = "Microsoft.Compute"
SET_TYPE = f"{PROVIDER}/virtualMachineScaleSets"
INSTANCE_TYPE = f"{SET_TYPE}/virtualMachines"
GROUP_CHARACTERS_MAX = 90

SET_NAME = re.compile(r"(?![_.])[A-Za-z0-9_.-]+(?<![.-])")
CHILD_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
GROUP_NAME = re.compile(r"[-\w.()]+(?<!\.)")

# What no provider allows in a name, and the narrower rule of the network's.
FORBIDDEN = re.compile(r"[<>*%&:\\?/+#\x00-\x1f\x7f]")
NETWORK_NAME = re.compile(r"\w([\w.-]{0,78}\w)?")
TYPE_PART = re.compile(r"[A-Za-z0-9_.-]{1,80}")


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


def place(location: str) -> str:
    """Return a location in its one spelling: "West US" is "westus"."""
    return location.replace(" ", "").lower()


def refuse_name(name: str, what: str = "scale set") -> None:
    """Refuse what cannot be the name of a scale set or of another machine's resource."""
    if len(name) > NAME_CHARACTERS_MAX or not SET_NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The {what} name '{shown(name)}' is not allowed: it has 1 to"
            f" {NAME_CHARACTERS_MAX} letters, digits, '_', '.' or '-', does not start with '_' or"
            " '.' and does not end with '.' or '-'.",
            target="name",
        )


def refuse_child_name(name: str) -> None:
    """Refuse what cannot be the name of an extension or of a run command."""
    if not CHILD_NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The name '{shown(name)}' is not allowed: it has 1 to 80 letters, digits, '_', '.' or"
            " '-'.",
            target="name",
        )


def refuse_resource_group_name(name: str) -> None:
    """Refuse what cannot be the name of a resource group."""
    if len(name) > GROUP_CHARACTERS_MAX or not GROUP_NAME.fullmatch(name):
        raise InvalidResourceGroupError(
            f"The provided resource group name '{shown(name)}' is not allowed: it has 1 to"
            f" {GROUP_CHARACTERS_MAX} letters, digits, '_', '.', '-', '(' or ')' and does not end"
            " with '.'.",
            target="resourceGroupName",
        )


def is_resource_name(name: str) -> bool:
    """Whether a resource of any kind can have a name; "providers" would be taken for a path."""
    is_short = 0 < len(name) <= RESOURCE_NAME_CHARACTERS_MAX
    is_plain = not (FORBIDDEN.search(name) or name.endswith("."))
    return is_short and is_plain and name.lower() != "providers"


def refuse_resource_name(path: Path) -> None:
    """Refuse what cannot be the name or the type of a resource of any kind."""
    parts = path.type.split("/")
    if len(parts) > RESOURCE_DEPTH_MAX or not all(map(TYPE_PART.fullmatch, parts)):
        raise InvalidResourceNameError(
            f"The resource type '{shown(path.type)}' is not allowed: it has at most"
            f" {RESOURCE_DEPTH_MAX} parts of letters, digits, '_', '.' or '-'."
        )
    for name in path.names:
        if not is_resource_name(name):
            raise InvalidResourceNameError(
                f"Resource name {shown(name)} is invalid. It has 1 to"
                f" {RESOURCE_NAME_CHARACTERS_MAX} characters, none of them a control character or"
                " one of <>*%&:\\?/+#, and does not end with a full stop."
            )
    if path.kind.startswith("microsoft.network/") and not NETWORK_NAME.fullmatch(path.name):
        raise InvalidResourceNameError(
            f"Resource name {shown(path.name)} is invalid. The name can be up to 80 characters"
            " long. It must begin with a word character, and it must end with a word character or"
            " with '_'. The name may contain word characters or '.', '-', '_'."
        )
