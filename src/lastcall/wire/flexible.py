"""An instance of a Flexible set, shown as the virtual machine that it is too (R50)."""

from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.members import visible
from lastcall.wire.names import scale_set_path
from lastcall.wire.paths import resource_scope
from lastcall.wire.virtual_machines import MEMBERS, VM_TYPE

Json = dict[str, Any]

# Parts of the set's profile that a virtual machine has, and an instance does not show.
OF_PROFILE: Final = ("priority", "evictionPolicy", "billingProfile", "scheduledEventsProfile")
# What an instance alone has. Its interfaces are no resources of their own, as those are to which
# a virtual machine refers: it has their configurations instead.
OF_INSTANCE: Final = frozenset({"instanceId", "sku", "resources"})
OF_INSTANCE_PROPERTIES: Final = frozenset(
    {
        "latestModelApplied",
        "modelDefinitionApplied",
        "networkProfile",
        "networkProfileConfiguration",
        "protectionPolicy",
    }
)


def encode_flexible(
    scale_set: ScaleSet, instance: Json, profile: Mapping[str, Any], version: str
) -> Json:
    """Return an instance as GET of a virtual machine shows it.

    `instance` is how the set shows it, `profile` that of the model which it has.
    """
    given = instance["properties"]
    kept = {key: item for key, item in instance.items() if key not in OF_INSTANCE}
    properties: Json = {
        **{key: item for key, item in given.items() if key not in OF_INSTANCE_PROPERTIES},
        **{key: profile[key] for key in OF_PROFILE if key in profile},
        "virtualMachineScaleSet": {"id": scale_set_path(scale_set)},
    }
    if "networkProfileConfiguration" in given:
        properties["networkProfile"] = given["networkProfileConfiguration"]
    group = resource_scope(scale_set.subscription, scale_set.resource_group)
    own = {"id": f"{group}/providers/{VM_TYPE}/{instance['name']}", "type": VM_TYPE}
    return visible({**kept, **own, "properties": properties}, version, MEMBERS)
