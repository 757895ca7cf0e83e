"""What a machine is told about itself: /metadata/instance as a plain value (R115, R116)."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from lastcall.engine.model import Action, Machine, Power, ScopeId
from lastcall.engine.resources import Resource
from lastcall.engine.scale_sets import Orchestration, ScaleSet
from lastcall.metadata.versions import COMPUTE_SINCE
from lastcall.wire.cloud_services import SERVICE_TYPE, parse_roles, role_of
from lastcall.wire.interfaces import hardware_address, private_address
from lastcall.wire.names import PROVIDER, instance_path, scale_set_path
from lastcall.wire.paths import parse_path

Json = dict[str, Any]

PROFILE = "properties.virtualMachineProfile"
EVICTION_POLICIES = {Action.DEALLOCATE: "Deallocate", Action.DELETE: "Delete"}


class Membership(Struct, frozen=True):
    """The set that a machine belongs to, and the set's model as of the machine's last boot."""

    scale_set: ScaleSet
    model: Mapping[str, Any]


class Residence(Struct, frozen=True):
    """The resource that a machine is, or is a part of, and its model in the shape of a set's."""

    resource: Resource
    model: Mapping[str, Any]


def residence(machine: Machine, resource: Resource) -> Residence:
    """Return where a machine lives that no set owns: its own resource, or a cloud service."""
    content = resource.content
    properties = _object(content, "properties")
    shared = {name: content[name] for name in ("identity", "plan", "tags") if name in content}
    if resource.kind == SERVICE_TYPE.lower():
        played = role_of(machine).lower()
        sizes = {role.name.lower(): role.size for role in parse_roles(content)}
        return Residence(resource, {**shared, "sku": {"name": sizes.get(played)}})
    return Residence(
        resource,
        {
            **shared,
            "sku": {"name": _at(properties, "hardwareProfile.vmSize")},
            "properties": {"virtualMachineProfile": properties},
        },
    )


def encode_instance(
    machine: Machine, scope_id: ScopeId, home: Membership | Residence | None, version: str
) -> Json:
    """Return the metadata of a machine as a client of that api-version reads it."""
    model = {} if home is None else home.model
    compute = _of_machine(machine) | _of_model(model, machine) | _of_image(model)
    if isinstance(home, Membership):
        compute |= _of_set(machine, scope_id, home.scale_set)
    elif isinstance(home, Residence):
        compute |= _of_resource(machine, home.resource)
    known = (name for name in sorted(compute) if COMPUTE_SINCE.get(name, "") <= version)
    return {
        "compute": {name: _text(compute[name]) for name in known},
        "network": {"interface": [_interface(machine.ordinal)]},
    }


def _of_machine(machine: Machine) -> Json:
    """Return what holds for every machine; a set, if there is one, knows better about some."""
    eviction = machine.model.eviction
    return {
        "azEnvironment": "AzurePublicCloud",
        "customData": "",
        "evictionPolicy": "" if eviction is None else EVICTION_POLICIES.get(eviction, ""),
        "isHostCompatibilityLayerVm": False,
        "location": "",
        "name": machine.name,
        "placementGroupId": "",
        "platformFaultDomain": machine.fault_domain,
        "platformUpdateDomain": machine.update_domain,
        "provider": PROVIDER,
        "resourceGroupName": "",
        "resourceId": "",
        "subscriptionId": "",
        "vmId": machine.id,
        "vmScaleSetName": "",
        "zone": machine.zone,
    }


def _of_set(machine: Machine, scope_id: ScopeId, scale_set: ScaleSet) -> Json:
    group = f"/subscriptions/{scale_set.subscription}/resourceGroups/{scale_set.resource_group}"
    shared: Json = {
        "location": scale_set.location,
        # R47: a machine that is not allocated is in no placement group.
        "placementGroupId": "" if machine.power is Power.DEALLOCATED else scope_id,
        "resourceGroupName": scale_set.resource_group,
        "subscriptionId": scale_set.subscription,
        "vmScaleSetName": scale_set.name,
    }
    if scale_set.traits.orchestration is Orchestration.UNIFORM:
        return {**shared, "resourceId": instance_path(scale_set, machine)}
    return {
        **shared,
        "resourceId": f"{group}/providers/{PROVIDER}/virtualMachines/{machine.name}",
        "virtualMachineScaleSet": {"id": scale_set_path(scale_set)},
    }


def _of_resource(machine: Machine, resource: Resource) -> Json:
    path = parse_path(resource.path)
    assert path is not None, "what was written has a path"
    return {
        "location": resource.content["location"],
        "resourceGroupName": path.group,
        "resourceId": machine.path,
        "subscriptionId": path.subscription,
    }


def _of_model(model: Mapping[str, Any], machine: Machine) -> Json:
    tags = _object(model, "tags")
    linux = _object(model, f"{PROFILE}.osProfile.linuxConfiguration")
    keys = _list(linux, "ssh.publicKeys")
    return {
        "licenseType": _at(model, f"{PROFILE}.licenseType"),
        "osProfile": {
            "adminUsername": _at(model, f"{PROFILE}.osProfile.adminUsername"),
            "computerName": machine.computer_name,
            "disablePasswordAuthentication": bool(linux.get("disablePasswordAuthentication")),
        },
        "plan": {name: _at(model, f"plan.{name}") for name in ("name", "product", "publisher")},
        "priority": _at(model, f"{PROFILE}.priority"),
        "publicKeys": [{name: _at(key, name) for name in ("keyData", "path")} for key in keys],
        "tags": ";".join(f"{name}:{value}" for name, value in tags.items()),
        "tagsList": [{"name": name, "value": value} for name, value in tags.items()],
        "userData": _at(model, f"{PROFILE}.userData"),
        "vmSize": _at(model, "sku.name"),
    }


def _of_image(model: Mapping[str, Any]) -> Json:
    storage = _object(model, f"{PROFILE}.storageProfile")
    image = _object(storage, "imageReference")
    has_windows = _at(model, f"{PROFILE}.osProfile.windowsConfiguration") is not None
    os_type = _at(storage, "osDisk.osType") or ("Windows" if has_windows else "Linux")
    return {
        **{name: image.get(name) for name in ("offer", "publisher", "sku", "version")},
        "osType": os_type,
        "storageProfile": {
            "dataDisks": [_disk(disk, "lun") for disk in _list(storage, "dataDisks")],
            "imageReference": {
                name: image.get(name) for name in ("id", "offer", "publisher", "sku", "version")
            },
            "osDisk": {**_disk(_object(storage, "osDisk")), "osType": os_type},
            "resourceDisk": {"size": ""},
        },
    }


def _disk(disk: Mapping[str, Any], *more: str) -> Json:
    names = ("caching", "createOption", "diskSizeGB", "name", "writeAcceleratorEnabled", *more)
    return {
        **{name: disk.get(name) for name in names},
        "managedDisk": {
            "id": _at(disk, "managedDisk.id"),
            "storageAccountType": _at(disk, "managedDisk.storageAccountType"),
        },
        "image": {"uri": _at(disk, "image.uri")},
        "vhd": {"uri": _at(disk, "vhd.uri")},
    }


def _interface(ordinal: int) -> Json:
    """Return the one network interface, its addresses made up from the machine's ordinal."""
    return {
        "ipv4": {
            "ipAddress": [{"privateIpAddress": private_address(ordinal), "publicIpAddress": ""}],
            "subnet": [{"address": "10.0.0.0", "prefix": "8"}],
        },
        "ipv6": {"ipAddress": []},
        "macAddress": hardware_address(ordinal),
    }


def _at(value: Any, path: str) -> Any:
    """Return what a dotted path leads to; None where it leads nowhere."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _object(value: Any, path: str) -> Mapping[str, Any]:
    found = _at(value, path)
    return found if isinstance(found, Mapping) else {}


def _list(value: Any, path: str) -> list[Any]:
    found = _at(value, path)
    return found if isinstance(found, list) else []


def _text(value: Any) -> Any:
    """Return the same value with every primitive as a string (R115)."""
    if isinstance(value, Mapping):
        return {name: _text(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_text(child) for child in value]
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
