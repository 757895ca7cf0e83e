"""The control plane's answers as plain values, ready to become JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from lastcall.engine.limits import SET_MACHINES_MAX
from lastcall.engine.model import UNPROTECTED, Machine, Power, Protection, Provisioning, ScopeId
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.names import INSTANCE_TYPE, SET_TYPE, instance_path, scale_set_path

Json = dict[str, Any]

# What the service takes and never gives back.
SECRETS = frozenset({"adminPassword", "customData", "protectedSettings"})

PROVISIONING_TEXTS = {
    Provisioning.CREATING: "Creating",
    Provisioning.UPDATING: "Updating",
    Provisioning.SUCCEEDED: "Provisioning succeeded",
    Provisioning.DELETING: "Deleting",
    Provisioning.FAILED: "Provisioning failed",
}


def encode_scale_set(scale_set: ScaleSet, document: Mapping[str, Any], capacity: int) -> Json:
    """Return a set as GET shows it: the model as given, and what the service adds."""
    model = public(document)
    sku = model.pop("sku", {})
    properties = model.pop("properties", {})
    if properties.get("virtualMachineProfile"):
        properties["virtualMachineProfile"]["timeCreated"] = scale_set.created_at.isoformat()
    model.pop("location", None)
    return {
        "name": scale_set.name,
        "id": scale_set_path(scale_set),
        "type": SET_TYPE,
        "location": scale_set.location,
        **model,
        "sku": {**sku, "capacity": capacity},
        "etag": encode_etag(scale_set),
        "properties": {
            "singlePlacementGroup": scale_set.traits.single_placement_group,
            **properties,
            "provisioningState": scale_set.provisioning,
            "uniqueId": scale_set.unique_id,
            "timeCreated": scale_set.created_at.isoformat(),
        },
    }


def encode_etag(scale_set: ScaleSet) -> str:
    """Return the etag of a set: its number of writes, in quotes (R100)."""
    return f'"{scale_set.number}"'


def encode_instance(scale_set: ScaleSet, machine: Machine, document: Mapping[str, Any]) -> Json:
    """Return an instance as GET shows it (R102); `document` is the model that it has."""
    model = public(document)
    sku = model.get("sku", {})
    encoded: Json = {
        "name": machine.name,
        "id": instance_path(scale_set, machine),
        "type": INSTANCE_TYPE,
        "location": scale_set.location,
        "instanceId": machine.instance_id,
        "sku": {key: sku[key] for key in ("name", "tier") if key in sku},
        "properties": _instance_properties(scale_set, machine, model),
    }
    if "tags" in model:
        encoded["tags"] = model["tags"]
    if machine.zone:
        encoded["zones"] = [machine.zone]
    return encoded


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
                "name": f"{machine.name}_OsDisk_1",
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


def encode_set_view(scale_set: ScaleSet, machines: Iterable[Machine], now: datetime) -> Json:
    """Return how a set and its instances are doing, counted (R103)."""
    codes = (_provisioning_code(machine.provisioning) for machine in machines)
    return {
        "virtualMachine": {"statusesSummary": encode_summary(codes)},
        "statuses": [provisioning_status(scale_set.provisioning, now)],
    }


def encode_summary(codes: Iterable[str]) -> list[Json]:
    """Return how often each code of a status occurs."""
    return [{"code": code, "count": count} for code, count in sorted(Counter(codes).items())]


def encode_operation(operation: Operation) -> Json:
    """Return the state of a long-running operation (R98)."""
    encoded: Json = {"startTime": operation.started_at.isoformat()}
    if operation.ended_at is not None:
        encoded["endTime"] = operation.ended_at.isoformat()
    encoded["status"] = operation.status
    if operation.is_over and operation.failure is not None:
        encoded |= encode_error(operation.failure.code, operation.failure.message)
    encoded["name"] = operation.id
    return encoded


def encode_list(items: Iterable[object]) -> Json:
    """Return a list of resources, whole (R104)."""
    return {"value": list(items)}


def encode_skus(sku: Mapping[str, Any]) -> Json:
    """Return the sizes that a set can have: its own, between none and the most there can be."""
    bounds = {"minimum": 0, "maximum": SET_MACHINES_MAX, "defaultCapacity": 1}
    size = {key: sku[key] for key in ("name", "tier") if key in sku}
    capacity = {**bounds, "scaleType": "Automatic"}
    return encode_list([{"resourceType": SET_TYPE, "sku": size, "capacity": capacity}])


def encode_error(code: str, message: str, target: str | None = None) -> Json:
    """Return a refusal in the envelope that every client of the control plane reads."""
    error: Json = {"code": code, "message": message}
    if target is not None:
        error["target"] = target
    return {"error": error}


def _instance_properties(scale_set: ScaleSet, machine: Machine, model: Json) -> Json:
    profile = model.get("properties", {}).get("virtualMachineProfile", {})
    system = profile.get("osProfile", {})
    system.pop("computerNamePrefix", None)
    properties: Json = {
        "latestModelApplied": machine.model.version >= scale_set.model_version,
        "modelDefinitionApplied": "VirtualMachineScaleSet",
        "provisioningState": machine.provisioning,
        "vmId": machine.id,
        "hardwareProfile": {"vmSize": model.get("sku", {}).get("name", "")},
        "storageProfile": profile.get("storageProfile", {}),
        "osProfile": {"computerName": machine.computer_name, **system},
        "timeCreated": machine.created_at.isoformat(),
    }
    if "networkProfile" in profile:
        properties["networkProfileConfiguration"] = profile["networkProfile"]
    if machine.protection != UNPROTECTED:
        properties["protectionPolicy"] = _protection(machine.protection)
    return properties


def _protection(protection: Protection) -> Json:
    return {
        "protectFromScaleIn": protection.from_scale_in,
        "protectFromScaleSetActions": protection.from_scale_set_actions,
    }


def _agent(now: datetime) -> Json:
    status = provisioning_status(Provisioning.SUCCEEDED, now)
    ready = {"displayStatus": "Ready", "message": "Guest Agent is running"}
    return {"vmAgentVersion": "Unknown", "statuses": [status | ready]}


def _provisioning_code(state: Provisioning) -> str:
    return f"ProvisioningState/{state.lower()}"


def provisioning_status(state: Provisioning, at: datetime, failure: str = "") -> Json:
    """Return the status entry of a view that tells the provisioning state."""
    status = {
        "code": _provisioning_code(state),
        "level": "Error" if state is Provisioning.FAILED else "Info",
        "displayStatus": PROVISIONING_TEXTS[state],
        "time": at.isoformat(),
    }
    return status | {"message": failure} if failure else status


def _power_status(power: Power) -> Json:
    return {"code": f"PowerState/{power}", "level": "Info", "displayStatus": f"VM {power}"}


def public(value: Mapping[str, Any]) -> Json:
    """Return a copy, all the way down, without secrets; the names of tags are the user's own."""
    return {
        key: dict(item) if key == "tags" and isinstance(item, Mapping) else _copied(item)
        for key, item in value.items()
        if key not in SECRETS
    }


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return public(value)
    return [_copied(item) for item in value] if isinstance(value, list) else value
