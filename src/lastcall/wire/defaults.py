"""What the service adds to a model that does not say it, as its recorded answers show.

A default is shown, never stored: a model remains what its owner wrote. Nothing is added to an
object that is not there, because clients read an empty object as a difference.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.scale_sets import Orchestration, Traits, UpgradeMode
from lastcall.wire.fields import lookup, object_at, text_at
from lastcall.wire.own_model import refuse_disks
from lastcall.wire.spelling import OPAQUE
from lastcall.wire.traits import PROFILE, is_windows, repairs_are_on

Json = dict[str, Any]

NEWEST: Final = "9999-12-31"
# Answers of 2019-03-01 do not have the count of fault domains, later ones do.
FAULT_DOMAINS_SINCE: Final = "2019-12-01"
# Answers of 2019-03-01 do not tell what the disk's image is, those of 2022 do.
DISK_SINCE: Final = "2021-07-01"
DISK_GB: Final = {"Linux": 30, "Windows": 127}

# What is looked into here; where one of these is no object, the model is refused.
OBJECTS: Final = (
    "osProfile.linuxConfiguration",
    "osProfile.windowsConfiguration",
    "storageProfile.osDisk.managedDisk",
    "networkProfile",
    "extensionProfile",
)
ROLLING: Final = {
    "maxBatchInstancePercent": 20,
    "maxUnhealthyInstancePercent": 20,
    "maxUnhealthyUpgradedInstancePercent": 20,
    "pauseTimeBetweenBatches": "PT0S",
    "maxSurge": False,
    "rollbackFailedInstancesOnPolicyBreach": False,
}
SYSTEM: Final = {
    "secrets": [],
    "allowExtensionOperations": True,
    "requireGuestProvisionSignal": True,
}
LINUX: Final = {"provisionVMAgent": True, "enableVMAgentPlatformUpdates": False}
WINDOWS: Final = {**LINUX, "enableAutomaticUpdates": True}
INTERFACE: Final = {
    "disableTcpStateTracking": False,
    "enableAcceleratedNetworking": False,
    "enableIPForwarding": False,
    "dnsSettings": {"dnsServers": []},
}
ADDRESS: Final = {"privateIPAddressVersion": "IPv4"}

# Sizes with premium storage have an "s" behind their number of cores, old ones in their family.
PREMIUM: Final = re.compile(r"standard_([a-z]*\d+(-\d+)?[a-z]*s[a-z]*(_|$)|[dg]s\d)", re.IGNORECASE)
# R65: empty says that it was disabled. Tags are the user's own.
MAY_BE_EMPTY: Final = OPAQUE | {"scheduledEventsProfile"}


def completed(document: Mapping[str, Any], known: Traits, version: str = NEWEST) -> Json:
    """Return a model with what the service adds, and without objects that say nothing.

    It has been accepted: `refuse_malformed` was asked about it, and `known` was read out of it.
    """
    shown = _without_empty(document)
    properties = {**_of_set(document, known, version), **shown.get("properties", {})}
    properties["upgradePolicy"] = _upgrades(properties.get("upgradePolicy"), known)
    profile = properties.get("virtualMachineProfile")
    if profile:
        properties["virtualMachineProfile"] = _profile(profile, document, known, version)
    return {**shown, "properties": properties}


def refuse_malformed(document: Mapping[str, Any]) -> None:
    """Refuse a model of which a part that we show or change has another shape."""
    repairs_are_on(document)
    for path in OBJECTS:
        object_at(document, f"{PROFILE}.{path}")
    text_at(document, f"{PROFILE}.userData")
    refuse_disks(document, f"{PROFILE}.storageProfile.dataDisks")


def _without_empty(value: Mapping[str, Any]) -> Json:
    kept: Json = {}
    for name, item in value.items():
        if name in MAY_BE_EMPTY or not isinstance(item, Mapping):
            kept[name] = item
        elif inner := _without_empty(item):
            kept[name] = inner
    return kept


def _of_set(document: Mapping[str, Any], known: Traits, version: str) -> Json:
    added: Json = {
        "singlePlacementGroup": known.single_placement_group,
        "orchestrationMode": str(known.orchestration),
    }
    if known.orchestration is Orchestration.UNIFORM:
        added |= {"overprovision": True, "doNotRunExtensionsOnOverprovisionedVMs": False}
    else:
        added["constrainedMaximumCapacity"] = False
    if known.zones:
        added["zoneBalance"] = False
    if version >= FAULT_DOMAINS_SINCE and lookup(document, PROFILE):
        added["platformFaultDomainCount"] = known.fault_domains
    return added


def _upgrades(policy: Any, known: Traits) -> Json:
    shown = {"mode": str(known.upgrade_mode), **(policy or {})}
    if known.upgrade_mode is UpgradeMode.ROLLING:
        shown["rollingUpgradePolicy"] = {**ROLLING, **shown.get("rollingUpgradePolicy", {})}
    return shown


def _profile(
    profile: Mapping[str, Any], document: Mapping[str, Any], known: Traits, version: str
) -> Json:
    shown = dict(profile)
    system = "Windows" if is_windows(document) else "Linux"
    if "osProfile" in shown:
        shown["osProfile"] = _system(shown["osProfile"], known, system)
    if lookup(shown, "storageProfile.osDisk") is not None:
        size = lookup(document, "sku.name") or ""
        storage = shown["storageProfile"]
        disk = _disk(storage["osDisk"], size, system if version >= DISK_SINCE else "")
        shown["storageProfile"] = {**storage, "osDisk": disk}
    interfaces = lookup(shown, "networkProfile.networkInterfaceConfigurations")
    if isinstance(interfaces, list):
        network = [_interface(entry) for entry in interfaces]
        shown["networkProfile"] = {
            **shown["networkProfile"],
            "networkInterfaceConfigurations": network,
        }
    return shown


def _system(profile: Mapping[str, Any], known: Traits, system: str) -> Json:
    shown = {"computerNamePrefix": known.name_prefix, **SYSTEM, **profile}
    name, added = {
        "Linux": ("linuxConfiguration", LINUX),
        "Windows": ("windowsConfiguration", WINDOWS),
    }[system]
    if system == "Windows" or name in shown:
        shown[name] = {**added, **shown.get(name, {})}
    return shown


def _disk(disk: Mapping[str, Any], size: str, system: str) -> Json:
    shown = dict(disk)
    if "vhdContainers" not in shown and "image" not in shown:
        kind = "Premium_LRS" if PREMIUM.match(size) else "Standard_LRS"
        shown["managedDisk"] = {"storageAccountType": kind, **shown.get("managedDisk", {})}
    if system and str(shown.get("createOption")).lower() == "fromimage":
        shown = {"osType": system, "diskSizeGB": DISK_GB[system], **shown}
    return shown


def _interface(interface: Any) -> Any:
    properties = interface.get("properties") if isinstance(interface, Mapping) else None
    if not isinstance(properties, Mapping):
        return interface
    shown = {**INTERFACE, **properties}
    addresses = shown.get("ipConfigurations")
    if isinstance(addresses, list):
        shown["ipConfigurations"] = [_address(address) for address in addresses]
    return {**interface, "properties": shown}


def _address(address: Any) -> Any:
    properties = address.get("properties") if isinstance(address, Mapping) else None
    if not isinstance(properties, Mapping):
        return address
    return {**address, "properties": {**ADDRESS, **properties}}
