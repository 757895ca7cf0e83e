"""Instances of a set as the control plane shows them: the model that each has, and its view."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lastcall.engine.model import UNPROTECTED, Machine, Power, Protection, Provisioning, ScopeId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire import own_parts
from lastcall.wire.arm import provisioning_status, public, set_extensions
from lastcall.wire.fields import object_at
from lastcall.wire.interfaces import interface_configurations, interface_path
from lastcall.wire.names import INSTANCE_TYPE, instance_path

Json = dict[str, Any]

PROFILE = "properties.virtualMachineProfile"
# Parts of the profile that an instance has under the same name.
COPIED = ("diagnosticsProfile", "licenseType", "securityProfile", "userData")


def encode_instance(
    scale_set: ScaleSet, machine: Machine, document: Mapping[str, Any], own: Mapping[str, Any]
) -> Json:
    """Return an instance as GET shows it (R102).

    `document` is the model that it has, completed; `own` is what it has in place of that.
    """
    model = public(document)
    sku = model.get("sku", {})
    encoded: Json = {
        "name": machine.name,
        "id": instance_path(scale_set, machine),
        "type": INSTANCE_TYPE,
        "location": scale_set.location,
        "instanceId": machine.instance_id,
        "etag": encode_instance_etag(machine, own),
        "sku": {key: sku[key] for key in ("name", "tier") if key in sku},
        "properties": _properties(scale_set, machine, model, own),
    }
    tags = own.get(own_parts.TAGS, model.get("tags"))
    if tags is not None:
        encoded["tags"] = tags
    if "plan" in model:
        encoded["plan"] = model["plan"]
    if machine.zone:
        encoded["zones"] = [machine.zone]
    resources = encode_extensions(scale_set, machine, document, own)
    if resources:
        encoded["resources"] = resources
    return encoded


def encode_instance_etag(machine: Machine, own: Mapping[str, Any]) -> str:
    """Return the etag of an instance."""
    return f'"{instance_number(machine, own)}"'


def instance_number(machine: Machine, own: Mapping[str, Any]) -> int:
    """Return a number that rises with each model and each write that an instance gets."""
    writes: int = own.get(own_parts.WRITES, 0)
    return machine.model.version + writes


def encode_extensions(
    scale_set: ScaleSet, machine: Machine, document: Mapping[str, Any], own: Mapping[str, Any]
) -> list[Json]:
    """Return the extensions on an instance: those of its model, and its own, which come first."""
    path = f"{instance_path(scale_set, machine)}/extensions"
    kept = own_parts.children(own, own_parts.EXTENSIONS)
    shared = {entry["name"].lower(): entry for entry in set_extensions(document)}
    return [
        {
            "name": entry["name"],
            "id": f"{path}/{entry['name']}",
            "type": f"{INSTANCE_TYPE}/extensions",
            "location": scale_set.location,
            "properties": {
                **public(object_at(entry, "properties")),
                "provisioningState": "Succeeded",
            },
        }
        for entry in {**shared, **kept}.values()
    ]


def encode_instance_view(machine: Machine, group: ScopeId | None, now: datetime) -> Json:
    """Return how a machine is doing (R103); `group` is its placement group, if it can have one."""
    statuses = [provisioning_status(machine.provisioning, now, machine.failure)]
    if machine.provisioning is not Provisioning.CREATING:
        statuses.append(_power_status(machine.power))
    view: Json = {
        "platformUpdateDomain": machine.update_domain,
        "platformFaultDomain": machine.fault_domain,
        "computerName": machine.computer_name,
        "disks": [
            {
                "name": _disk_name(machine),
                "statuses": [provisioning_status(Provisioning.SUCCEEDED, machine.created_at)],
            }
        ],
        "statuses": statuses,
    }
    # R47: a deallocated instance is in no placement group.
    if group is not None and machine.power is not Power.DEALLOCATED:
        view["placementGroupId"] = group
    if machine.power is Power.RUNNING and machine.provisioning is not Provisioning.CREATING:
        view["vmAgent"] = _agent(now)
    return view


def _properties(scale_set: ScaleSet, machine: Machine, model: Json, own: Mapping[str, Any]) -> Json:
    profile = object_at(model, PROFILE)
    is_own = bool(own_parts.OWN_MODEL & own.keys())
    properties: Json = {
        "latestModelApplied": machine.model.version >= scale_set.model_version,
        "modelDefinitionApplied": "VirtualMachine" if is_own else "VirtualMachineScaleSet",
        "provisioningState": machine.provisioning,
        "vmId": machine.id,
        **{name: profile[name] for name in COPIED if name in profile},
        **_machine_profiles(scale_set, machine, model, profile),
        "timeCreated": machine.created_at.isoformat(),
    }
    storage = dict(profile.get("storageProfile", {}))
    if own_parts.DATA_DISKS in own:
        storage["dataDisks"] = own[own_parts.DATA_DISKS]
    if storage:
        properties["storageProfile"] = storage | _os_disk(storage, machine)
    if own_parts.USER_DATA in own:
        properties["userData"] = own[own_parts.USER_DATA]
    if machine.protection != UNPROTECTED:
        properties["protectionPolicy"] = _protection(machine.protection)
    return properties


def _machine_profiles(
    scale_set: ScaleSet, machine: Machine, model: Json, profile: Mapping[str, Any]
) -> Json:
    system = dict(profile.get("osProfile", {}))
    system.pop("computerNamePrefix", None)
    shown: Json = {"osProfile": {"computerName": machine.computer_name, **system}}
    size = model.get("sku", {}).get("name")
    if size:
        shown["hardwareProfile"] = {"vmSize": size}
    interfaces = interface_configurations(model)
    if interfaces:
        shown["networkProfile"] = {
            "networkInterfaces": [
                {
                    "id": interface_path(scale_set, machine, interface),
                    "properties": {"primary": interface.is_primary},
                }
                for interface in interfaces
            ]
        }
    if "networkInterfaceConfigurations" in profile.get("networkProfile", {}):
        configured = profile["networkProfile"]["networkInterfaceConfigurations"]
        shown["networkProfileConfiguration"] = {"networkInterfaceConfigurations": configured}
    return shown


def _os_disk(storage: Mapping[str, Any], machine: Machine) -> Json:
    disk = storage.get("osDisk")
    return {} if disk is None else {"osDisk": {"name": _disk_name(machine), **disk}}


def _disk_name(machine: Machine) -> str:
    return f"{machine.name}_OsDisk_1"


def _protection(protection: Protection) -> Json:
    return {
        "protectFromScaleIn": protection.from_scale_in,
        "protectFromScaleSetActions": protection.from_scale_set_actions,
    }


def _agent(now: datetime) -> Json:
    status = provisioning_status(Provisioning.SUCCEEDED, now)
    ready = {"displayStatus": "Ready", "message": "Guest Agent is running"}
    return {"vmAgentVersion": "Unknown", "statuses": [status | ready]}


def _power_status(power: Power) -> Json:
    return {"code": f"PowerState/{power}", "level": "Info", "displayStatus": f"VM {power}"}
