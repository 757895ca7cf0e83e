"""A virtual machine that no scale set owns: its model as clients write it and as they read it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from lastcall.engine.errors import InvalidParameterError, LocationRequiredError
from lastcall.engine.model import Action, EventType, Machine, Model
from lastcall.engine.resources import Resource
from lastcall.engine.value import Value
from lastcall.wire.arm import public
from lastcall.wire.catalogue import disk_of
from lastcall.wire.fields import lookup, object_at, refuse, text_at
from lastcall.wire.instances import encode_instance_view
from lastcall.wire.members import Member, visible
from lastcall.wire.merging import merge, normal_notifications
from lastcall.wire.names import PROVIDER, place
from lastcall.wire.traits import (
    approvals_at,
    eviction_at,
    notice_at,
    refuse_property,
    refuse_tags,
    zones_at,
)

Json = dict[str, Any]
Document = Mapping[str, Any]

VM_TYPE: Final = f"{PROVIDER}/virtualMachines"
PROFILE: Final = "properties"
EVENTS: Final = "scheduledEventsProfile"
SIZE: Final = "properties.hardwareProfile.vmSize"
AVAILABILITY_SET: Final = "properties.availabilitySet"
SCALE_SET: Final = "properties.virtualMachineScaleSet"
COMPUTER_NAME: Final = "properties.osProfile.computerName"
# Whatever is looked into when a machine is shown; where one of these is no object it is refused.
OBJECTS: Final = (
    "properties.hardwareProfile",
    "properties.networkProfile",
    "properties.osProfile.linuxConfiguration",
    "properties.osProfile.windowsConfiguration",
    "properties.storageProfile.imageReference",
    "properties.storageProfile.osDisk.managedDisk",
)
COMPUTER_NAME_MAX: Final = 64

MEMBERS: Final = (
    Member(path="properties.userData", owner="Properties", since="2021-03-01"),
    Member(path=f"properties.{EVENTS}", owner="Properties", since="2021-03-01"),
    Member(
        path=f"properties.{EVENTS}.osImageNotificationProfile",
        owner="ScheduledEventsProfile",
        since="2022-11-01",
    ),
    Member(path="properties.scheduledEventsPolicy", owner="Properties", since="2024-03-01"),
)
TIME_SINCE: Final = "2021-11-01"
ETAG_SINCE: Final = "2024-03-01"

# What only the service writes, beside what holds for every resource.
READ_ONLY: Final = ("vmId", "instanceView")

SYSTEM: Final = {
    "secrets": [],
    "allowExtensionOperations": True,
    "requireGuestProvisionSignal": True,
}


class VirtualMachine(Value, frozen=True, kw_only=True):
    """What the engine and its neighbours need to know of a virtual machine's model."""

    location: str
    computer_name: str
    zone: str = ""
    availability_set: str = ""
    notice: timedelta | None = None
    eviction: Action | None = None
    auto_approve: tuple[EventType, ...] = ()

    def model(self, version: int) -> Model:
        """Return what the machine gets of it when it is applied."""
        return Model(version=version, notice=self.notice, eviction=self.eviction)


def merge_machine(old: Document | None, patch: Document) -> Json:
    """Return the model after a PUT or a PATCH (D9)."""
    given = {key: value for key, value in patch.items() if key != "resources"}
    if isinstance(given.get("properties"), Mapping):
        properties = given["properties"]
        given["properties"] = {k: v for k, v in properties.items() if k not in READ_ONLY}
    merged = merge(old, given)
    properties = merged.get("properties")
    if isinstance(properties, dict) and isinstance(properties.get(EVENTS), Mapping):
        properties[EVENTS] = normal_notifications(properties[EVENTS])
    if isinstance(merged.get("location"), str):
        merged["location"] = place(merged["location"])
    return merged


def parse_machine(document: Document, name: str) -> VirtualMachine:
    """Return what matters of a model, or refuse the model."""
    refuse_tags(document)
    location = text_at(document, "location")
    if not location:
        raise LocationRequiredError(target="location")
    if not text_at(document, SIZE):
        raise InvalidParameterError(f"Required parameter '{SIZE}' is missing.", target=SIZE)
    for path in OBJECTS:
        object_at(document, path)
    if lookup(document, SCALE_SET) is not None:
        raise InvalidParameterError(
            "A virtual machine cannot be put into a scale set here: raise the capacity of the set"
            " instead.",
            target=SCALE_SET,
        )
    eviction = eviction_at(document, PROFILE)
    zone, home = _zone(document), text_at(document, f"{AVAILABILITY_SET}.id") or ""
    if zone and home:
        raise InvalidParameterError(
            "A virtual machine is in a zone or in an availability set, not in both.",
            target="zones",
        )
    return VirtualMachine(
        location=place(location),
        computer_name=_computer_name(document, name),
        zone=zone,
        availability_set=home,
        notice=notice_at(document, PROFILE, eviction),
        eviction=eviction,
        auto_approve=approvals_at(document),
    )


def refuse_machine_change(old: Document, new: Document, name: str) -> None:
    """Refuse a change of what a virtual machine keeps for life; both are valid on their own."""
    before, after = parse_machine(old, name), parse_machine(new, name)
    if before.location != after.location:
        refuse_property("location")
    if before.zone != after.zone:
        refuse_property("zones")
    if before.availability_set.lower() != after.availability_set.lower():
        refuse_property(f"{AVAILABILITY_SET}.id")
    if before.computer_name != after.computer_name:
        refuse_property(COMPUTER_NAME)
    if (before.eviction is None) != (after.eviction is None):
        refuse_property("properties.priority")


def encode_machine(vm: Resource, machine: Machine, version: str) -> Json:
    """Return a virtual machine as GET shows it to a client of an api-version."""
    model = public(visible(vm.content, version, MEMBERS))
    properties = model.pop("properties", {})
    shown: Json = {
        "name": vm.name,
        "id": vm.path,
        "type": VM_TYPE,
        **model,
        "properties": {
            **_with_defaults(properties, vm.name, machine),
            "provisioningState": machine.provisioning,
            "vmId": machine.id,
        },
    }
    if version >= TIME_SINCE:
        shown["properties"]["timeCreated"] = vm.created_at.isoformat()
    if version >= ETAG_SINCE:
        shown["etag"] = f'"{vm.number}"'
    return shown


def encode_machine_view(vm: Resource, machine: Machine, now: datetime) -> Json:
    """Return how a virtual machine is doing; only an availability set gives it domains."""
    view = encode_instance_view(machine, None, now)
    disk = lookup(vm.content, "properties.storageProfile.osDisk.name")
    if disk is not None:
        view["disks"][0]["name"] = disk
    if lookup(vm.content, AVAILABILITY_SET) is None:
        del view["platformUpdateDomain"], view["platformFaultDomain"]
    return view


def without_user_data(shown: Json) -> Json:
    """Return a machine without its user data, which is told on request alone."""
    kept = {k: v for k, v in shown["properties"].items() if k != "userData"}
    return {**shown, "properties": kept}


def _zone(document: Document) -> str:
    zones = zones_at(document)
    if len(zones) > 1:
        refuse("zones", list(zones), "an array of one zone")
    return zones[0] if zones else ""


def _computer_name(document: Document, name: str) -> str:
    given = text_at(document, COMPUTER_NAME) or name
    if len(given) > COMPUTER_NAME_MAX:
        refuse(COMPUTER_NAME, given, f"at most {COMPUTER_NAME_MAX} characters long")
    return given


def _with_defaults(properties: Document, name: str, machine: Machine) -> Json:
    """Return properties with what the service adds; it adds nothing to an object that is absent."""
    shown = dict(properties)
    if "osProfile" in shown:
        system = {"computerName": machine.computer_name, **SYSTEM, **shown["osProfile"]}
        for configuration in ("linuxConfiguration", "windowsConfiguration"):
            if configuration in system:
                system[configuration] = {"provisionVMAgent": True, **system[configuration]}
        shown["osProfile"] = system
    if "storageProfile" in shown:
        storage = {"dataDisks": [], **shown["storageProfile"]}
        if "osDisk" in storage:
            disk = {"storageAccountType": disk_of(shown["hardwareProfile"]["vmSize"])}
            storage["osDisk"] = {
                "osType": "Windows" if _is_windows(properties) else "Linux",
                "name": f"{name}_OsDisk_1",
                "deleteOption": "Detach",
                **storage["osDisk"],
                "managedDisk": {**disk, **storage["osDisk"].get("managedDisk", {})},
            }
        shown["storageProfile"] = storage
    return shown


def _is_windows(properties: Document) -> bool:
    publisher = lookup(properties, "storageProfile.imageReference.publisher")
    return lookup(properties, "osProfile.windowsConfiguration") is not None or (
        isinstance(publisher, str) and publisher.lower().startswith("microsoftwindows")
    )
