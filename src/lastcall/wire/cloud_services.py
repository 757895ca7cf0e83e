"""A cloud service and its role instances: the model as clients write it and as they read it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from lastcall.engine.errors import InvalidParameterError, LocationRequiredError
from lastcall.engine.limits import GROUP_MACHINES_MAX
from lastcall.engine.model import Machine, Power, Provisioning
from lastcall.engine.resources import Resource
from lastcall.engine.value import Value
from lastcall.wire.arm import encode_summary, provisioning_status, public
from lastcall.wire.fields import lookup, number_at, refuse, text_at, texts_at
from lastcall.wire.merging import merge
from lastcall.wire.names import PROVIDER, SET_NAME, place
from lastcall.wire.traits import refuse_property, refuse_tags

Json = dict[str, Any]
Document = Mapping[str, Any]

SERVICE_TYPE: Final = f"{PROVIDER}/cloudServices"
ROLES: Final = "properties.roleProfile.roles"
INSTANCES: Final = "roleInstances"
BETWEEN: Final = "_IN_"
ALL: Final = "*"
ROLE_STATES: Final = {
    Power.RUNNING: "RoleStateStarted",
    Power.STOPPED: "RoleStateStopped",
    Power.DEALLOCATED: "RoleStateStopped",
}


class Role(Value, frozen=True):
    """One role of a service: so many machines of one size."""

    name: str
    size: str
    tier: str
    capacity: int


def merge_service(old: Document | None, patch: Document) -> Json:
    """Return the model after a PUT or a PATCH (D9)."""
    merged = merge(old, patch)
    if isinstance(merged.get("location"), str):
        merged["location"] = place(merged["location"])
    return merged


def parse_roles(document: Document) -> tuple[Role, ...]:
    """Return the roles of a service, or refuse the model."""
    refuse_tags(document)
    if not text_at(document, "location"):
        raise LocationRequiredError(target="location")
    entries = lookup(document, ROLES)
    if entries is None:
        return ()
    if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
        refuse(ROLES, entries, "an array of roles")
    roles = tuple(_role(document, f"{ROLES}[{index}]") for index in range(len(entries)))
    if len({role.name.lower() for role in roles}) < len(roles):
        raise InvalidParameterError("The names of the roles are not all different.", target=ROLES)
    if sum(role.capacity for role in roles) > GROUP_MACHINES_MAX:
        raise InvalidParameterError(
            f"A cloud service has at most {GROUP_MACHINES_MAX} role instances.", target=ROLES
        )
    return roles


def refuse_service_change(old: Document, new: Document) -> None:
    """Refuse a change of what a service keeps for life."""
    if old["location"] != new["location"]:
        refuse_property("location")


def parse_role_instances(document: Document) -> tuple[str, ...] | None:
    """Return which role instances are meant, None for all of them, or refuse."""
    names = texts_at(document, INSTANCES)
    if not names:
        raise InvalidParameterError(
            f"Required parameter '{INSTANCES}' is missing.", target=INSTANCES
        )
    return None if ALL in names else names


def instance_name(role: str, number: int) -> str:
    """Return what the machines of a role are called: FrontEnd_IN_0."""
    return f"{role}{BETWEEN}{number}"


def role_of(machine: Machine) -> str:
    """Return the role that a machine plays."""
    return machine.name.rpartition(BETWEEN)[0]


def number_of(machine: Machine) -> int:
    """Return which of its role's machines one is."""
    return int(machine.name.rpartition(BETWEEN)[2])


def sizes_of(machines: Iterable[Machine]) -> Counter[str]:
    """Return how many machines each role has, those on their way out aside; roles in lower case."""
    return Counter(role_of(machine).lower() for machine in machines if not machine.is_leaving)


def encode_service(service: Resource, machines: Iterable[Machine], state: Provisioning) -> Json:
    """Return a cloud service as GET shows it; capacities are counted, not remembered."""
    sizes = sizes_of(machines)
    model = public(service.content)
    properties = model.pop("properties", {})
    for role in lookup(properties, "roleProfile.roles") or ():
        role["sku"] = {**role.get("sku", {}), "capacity": sizes[role["name"].lower()]}
    return {
        "name": service.name,
        "id": service.path,
        "type": SERVICE_TYPE,
        **model,
        "properties": {**properties, "provisioningState": state},
    }


def encode_role(service: Resource, role: Role, capacity: int) -> Json:
    """Return a role, with as many instances as it has."""
    return {
        "name": role.name,
        "id": f"{service.path}/roles/{role.name}",
        "type": f"{SERVICE_TYPE}/roles",
        "location": service.content["location"],
        "sku": {"name": role.size, "tier": role.tier, "capacity": capacity},
    }


def encode_role_instance(service: Resource, machine: Machine, role: Role | None) -> Json:
    """Return a role instance as GET shows it."""
    shown: Json = {
        "name": machine.name,
        "id": machine.path,
        "type": f"{SERVICE_TYPE}/{INSTANCES}",
        "location": service.content["location"],
        "properties": {"networkProfile": {"networkInterfaces": []}},
    }
    if role is not None:
        shown["sku"] = {"name": role.size, "tier": role.tier}
    if "tags" in service.content:
        shown["tags"] = dict(service.content["tags"])
    return shown


def encode_role_instance_view(machine: Machine, now: datetime) -> Json:
    """Return how a role instance is doing."""
    state = ROLE_STATES[machine.power]
    if machine.provisioning is Provisioning.CREATING:
        state = "RoleStateStarting"
    return {
        "platformUpdateDomain": machine.update_domain,
        "platformFaultDomain": machine.fault_domain,
        "privateId": machine.id,
        "statuses": [
            provisioning_status(machine.provisioning, now, machine.failure),
            {"code": f"RoleState/{state}", "level": "Info", "displayStatus": state, "message": ""},
        ],
    }


def encode_service_view(state: Provisioning, machines: Iterable[Machine], now: datetime) -> Json:
    """Return how a service and its role instances are doing, counted."""
    present = list(machines)
    codes = [
        status["code"]
        for machine in present
        for status in encode_role_instance_view(machine, now)["statuses"]
    ]
    return {
        "roleInstance": {"statusesSummary": encode_summary(codes)},
        "privateIds": [machine.id for machine in present],
        "statuses": [provisioning_status(state, now)],
    }


def _role(document: Document, path: str) -> Role:
    name = text_at(document, f"{path}.name") or ""
    if not SET_NAME.fullmatch(name) or BETWEEN in name:
        refuse(f"{path}.name", name, "the name of a role")
    capacity = number_at(document, f"{path}.sku.capacity", range(GROUP_MACHINES_MAX + 1))
    return Role(
        name,
        text_at(document, f"{path}.sku.name") or "",
        text_at(document, f"{path}.sku.tier") or "Standard",
        1 if capacity is None else capacity,
    )
