"""The control plane's answers as plain values, ready to become JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from lastcall.engine.limits import SET_MACHINES_MAX
from lastcall.engine.model import Machine, Provisioning
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.envelope import encode_error
from lastcall.wire.fields import lookup
from lastcall.wire.names import SET_TYPE, scale_set_path
from lastcall.wire.spelling import INSTANCES
from lastcall.wire.traits import REPAIRS, repairs_are_on

Json = dict[str, Any]

EXTENSIONS = "properties.virtualMachineProfile.extensionProfile.extensions"

# What the service takes and never gives back.
SECRETS = frozenset(
    {"adminPassword", "customData", "protectedParameters", "protectedSettings", "runAsPassword"}
)
FOLDED_SECRETS = frozenset(map(str.lower, SECRETS))

PROVISIONING_TEXTS = {
    Provisioning.CREATING: "Creating",
    Provisioning.UPDATING: "Updating",
    Provisioning.SUCCEEDED: "Provisioning succeeded",
    Provisioning.DELETING: "Deleting",
    Provisioning.FAILED: "Provisioning failed",
}


def encode_scale_set(scale_set: ScaleSet, document: Mapping[str, Any], capacity: int) -> Json:
    """Return a set as GET shows it: the model, completed, and what only the service knows."""
    model = public(document)
    model.pop(INSTANCES, None)
    sku = model.pop("sku", {})
    properties = model.pop("properties", {})
    if properties.get("virtualMachineProfile"):
        properties["virtualMachineProfile"]["timeCreated"] = scale_set.created_at.isoformat()
    model.pop("location", None)
    if sku or capacity:
        model["sku"] = {**sku, "capacity": capacity}
    return {
        "name": scale_set.name,
        "id": scale_set_path(scale_set),
        "type": SET_TYPE,
        "location": scale_set.location,
        **model,
        "etag": encode_etag(scale_set),
        "properties": {
            **properties,
            "provisioningState": scale_set.provisioning,
            "uniqueId": scale_set.unique_id,
            "timeCreated": scale_set.created_at.isoformat(),
        },
    }


def encode_etag(scale_set: ScaleSet) -> str:
    """Return the etag of a set: its number of writes, in quotes (R100)."""
    return f'"{scale_set.number}"'


def encode_set_view(
    scale_set: ScaleSet,
    machines: Sequence[Machine],
    document: Mapping[str, Any],
    now: datetime,
) -> Json:
    """Return how a set, its instances and its extensions are doing, counted (R103)."""
    summary = encode_summary(_provisioning_code(machine.provisioning) for machine in machines)
    view: Json = {
        "virtualMachine": {"statusesSummary": summary},
        "statuses": [provisioning_status(scale_set.provisioning, now)],
    }
    names = [entry["name"] for entry in set_extensions(document)]
    if names and machines:
        view["extensions"] = [{"name": name, "statusesSummary": summary} for name in names]
    if lookup(document, REPAIRS) is not None:
        state = "Suspended" if scale_set.repairs_suspended else "Running"
        is_on = repairs_are_on(document)
        view["orchestrationServices"] = [
            {"serviceName": "AutomaticRepairs", "serviceState": state if is_on else "NotRunning"}
        ]
    return view


def set_extensions(document: Mapping[str, Any]) -> list[Json]:
    """Return the extensions of a model; what has no name, or another shape, is none."""
    found = lookup(document, EXTENSIONS)
    return [
        entry
        for entry in (found if isinstance(found, list) else ())
        if isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("properties", {}), dict)
    ]


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


def encode_list(items: Iterable[object], next_link: str | None = None) -> Json:
    """Return a list of resources (R104), with the address of the next page if there is one."""
    page: Json = {"value": list(items)}
    if next_link is not None:
        page["nextLink"] = next_link
    return page


def encode_skus(sku: Mapping[str, Any]) -> Json:
    """Return the sizes that a set can have: its own, up to the most instances there can be."""
    bounds = {"minimum": 0, "maximum": SET_MACHINES_MAX, "defaultCapacity": 1}
    size = {key: sku[key] for key in ("name", "tier") if key in sku}
    if not size:
        return encode_list([])
    capacity = {**bounds, "scaleType": "Automatic"}
    return encode_list([{"resourceType": SET_TYPE, "sku": size, "capacity": capacity}])


def _provisioning_code(state: Provisioning) -> str:
    return f"ProvisioningState/{state.lower()}"


def provisioning_status(state: Provisioning, at: datetime, failure: str = "") -> Json:
    """Return a provisioning state as views list it."""
    status = {
        "code": _provisioning_code(state),
        "level": "Error" if state is Provisioning.FAILED else "Info",
        "displayStatus": PROVISIONING_TEXTS[state],
        "time": at.isoformat(),
    }
    return status | {"message": failure} if failure else status


def is_secret(member: str) -> bool:
    """Whether the value of a member is never shown again, in whatever spelling it was given."""
    return member.lower() in FOLDED_SECRETS


def public(value: Mapping[str, Any]) -> Json:
    """Return a copy, all the way down, without secrets; the names of tags are the user's own."""
    return {
        key: dict(item) if key == "tags" and isinstance(item, Mapping) else _copied(item)
        for key, item in value.items()
        if not is_secret(key)
    }


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return public(value)
    return [_copied(item) for item in value] if isinstance(value, list) else value
