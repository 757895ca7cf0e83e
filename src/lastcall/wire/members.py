"""Which members of a model exist since which api-version (R67)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from lastcall.engine.errors import DomainError
from lastcall.wire.bodies import encode_json
from lastcall.wire.fields import lookup

DATE_CHARACTERS = len("2019-03-01")


class Member(Struct, frozen=True):
    """A member that came later: where, in an object of which type, since when."""

    path: str
    since: str
    owner: str = ""

    def is_known(self, api_version: str) -> bool:
        """Whether a version has it; previews count as the version of their date."""
        return api_version[:DATE_CHARACTERS] >= self.since


PROFILE = "properties.virtualMachineProfile"
STORAGE = f"{PROFILE}.storageProfile"
SYSTEM = f"{PROFILE}.osProfile"
INTERFACE = f"{PROFILE}.networkProfile.networkInterfaceConfigurations[].properties"
EXTENSION = f"{PROFILE}.extensionProfile.extensions[]"
UPGRADE = "properties.upgradePolicy"
PUBLISHING = "properties.scheduledEventsPolicy.scheduledEventsAdditionalPublishingTargets"

# Refused in older versions, and not shown in them.
MEMBERS = (
    Member(f"{PROFILE}.scheduledEventsProfile", "2019-03-01", "VirtualMachineProfile"),
    Member(f"{PROFILE}.billingProfile", "2019-03-01", "VirtualMachineProfile"),
    Member("properties.scaleInPolicy", "2019-03-01", "Properties"),
    Member("properties.orchestrationMode", "2019-12-01", "Properties"),
    Member("properties.hostGroup", "2020-06-01", "Properties"),
    Member(f"{PROFILE}.userData", "2021-03-01", "VirtualMachineProfile"),
    Member(f"{PROFILE}.capacityReservation", "2021-04-01", "VirtualMachineProfile"),
    Member(f"{PROFILE}.hardwareProfile", "2021-11-01", "VirtualMachineProfile"),
    Member(
        f"{PROFILE}.scheduledEventsProfile.osImageNotificationProfile",
        "2022-03-01",
        "ScheduledEventsProfile",
    ),
    Member(f"{PROFILE}.securityPostureReference", "2023-03-01", "VirtualMachineProfile"),
    Member("properties.scheduledEventsPolicy", "2024-03-01", "Properties"),
)

# Not shown in older versions, which could not send them back; taken from whoever sends them,
# because public material does not date all of them to the day.
LATER = (
    Member(f"{STORAGE}.osDisk.managedDisk.diskEncryptionSet", "2019-07-01"),
    Member(f"{STORAGE}.dataDisks[].managedDisk.diskEncryptionSet", "2019-07-01"),
    Member(f"{STORAGE}.dataDisks[].diskIOPSReadWrite", "2019-07-01"),
    Member(f"{STORAGE}.dataDisks[].diskMBpsReadWrite", "2019-07-01"),
    Member(f"{STORAGE}.osDisk.diffDiskSettings.placement", "2019-12-01"),
    Member(f"{PROFILE}.securityProfile", "2020-06-01"),
    Member(f"{PROFILE}.extensionProfile.extensionsTimeBudget", "2020-06-01"),
    Member(f"{SYSTEM}.windowsConfiguration.patchSettings", "2020-06-01"),
    Member(f"{EXTENSION}.properties.enableAutomaticUpgrade", "2020-06-01"),
    Member(f"{EXTENSION}.type", "2020-06-01"),
    Member("extendedLocation", "2020-12-01"),
    Member(f"{UPGRADE}.rollingUpgradePolicy.enableCrossZoneUpgrade", "2020-12-01"),
    Member(f"{UPGRADE}.rollingUpgradePolicy.prioritizeUnhealthyInstances", "2020-12-01"),
    Member(f"{PROFILE}.networkProfile.networkApiVersion", "2020-12-01"),
    Member(f"{INTERFACE}.deleteOption", "2020-12-01"),
    Member(f"{INTERFACE}.enableFpga", "2020-12-01"),
    Member(
        f"{INTERFACE}.ipConfigurations[].properties.publicIPAddressConfiguration.sku", "2020-12-01"
    ),
    Member(f"{SYSTEM}.linuxConfiguration.patchSettings", "2020-12-01"),
    Member("properties.additionalCapabilities.hibernationEnabled", "2021-04-01"),
    Member("properties.spotRestorePolicy", "2021-04-01"),
    Member(f"{STORAGE}.imageReference.sharedGalleryImageId", "2021-07-01"),
    Member(f"{STORAGE}.osDisk.managedDisk.securityProfile", "2021-07-01"),
    Member(f"{PROFILE}.applicationProfile", "2021-07-01"),
    Member(f"{EXTENSION}.properties.suppressFailures", "2021-07-01"),
    Member("properties.automaticRepairsPolicy.repairAction", "2021-11-01"),
    Member("properties.timeCreated", "2021-11-01"),
    Member(f"{STORAGE}.imageReference.communityGalleryImageId", "2021-11-01"),
    Member("properties.scaleInPolicy.forceDeletion", "2022-03-01"),
    Member(f"{UPGRADE}.automaticOSUpgradePolicy.useRollingUpgradePolicy", "2022-03-01"),
    Member(f"{EXTENSION}.properties.protectedSettingsFromKeyVault", "2022-03-01"),
    Member("properties.priorityMixPolicy", "2022-08-01"),
    Member(f"{STORAGE}.diskControllerType", "2022-08-01"),
    Member(f"{STORAGE}.osDisk.deleteOption", "2022-08-01"),
    Member(f"{STORAGE}.dataDisks[].deleteOption", "2022-08-01"),
    Member(f"{SYSTEM}.linuxConfiguration.enableVMAgentPlatformUpdates", "2022-08-01"),
    Member(f"{SYSTEM}.windowsConfiguration.enableVMAgentPlatformUpdates", "2022-08-01"),
    Member("properties.constrainedMaximumCapacity", "2022-11-01"),
    Member(f"{UPGRADE}.rollingUpgradePolicy.maxSurge", "2022-11-01"),
    Member(f"{UPGRADE}.rollingUpgradePolicy.rollbackFailedInstancesOnPolicyBreach", "2022-11-01"),
    Member(f"{INTERFACE}.disableTcpStateTracking", "2022-11-01"),
    Member(f"{PROFILE}.serviceArtifactReference", "2022-11-01"),
    Member(f"{UPGRADE}.automaticOSUpgradePolicy.osRollingUpgradeDeferral", "2023-07-01"),
    Member(f"{INTERFACE}.auxiliaryMode", "2023-07-01"),
    Member(f"{INTERFACE}.auxiliarySku", "2023-07-01"),
    Member(f"{PROFILE}.timeCreated", "2023-09-01"),
    Member("etag", "2024-03-01"),
    Member("properties.resiliencyPolicy", "2024-03-01"),
    Member("properties.skuProfile", "2024-07-01"),
    Member("properties.zonalPlatformFaultDomainAlignMode", "2024-07-01"),
    Member("properties.scheduledEventsPolicy.allInstancesDown", "2025-04-01"),
    Member(f"{PUBLISHING}.eventGridAndResourceGraph.scheduledEventsApiVersion", "2025-04-01"),
)

# The same for the view of a set, and for what an instance has beside its model.
OF_SET_VIEW = (Member("orchestrationServices", "2019-12-01"),)
OF_INSTANCE = (
    Member("properties.userData", "2021-03-01"),
    Member("properties.timeCreated", "2021-11-01"),
    Member("properties.instanceView.computerName", "2023-07-01"),
    Member("etag", "2024-03-01"),
)

TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}\[\]]')


def refuse_members(
    document: Mapping[str, Any],
    api_version: str,
    body: bytes | None = None,
    members: Iterable[Member] = MEMBERS,
    root: str = "vmss",
) -> None:
    """Refuse a model with a member that the api-version does not have, as the service words it.

    `body` is the JSON that the model came in; without it, positions are those of compact JSON.
    """
    for member in members:
        if member.is_known(api_version) or lookup(document, member.path) is None:
            continue
        text = (encode_json(document) if body is None else body).decode()
        line, position = _place(text, member.path)
        raise DomainError(
            f"Could not find member '{member.path.rpartition('.')[2]}' on object of type"
            f" '{member.owner}'. Path '{member.path}', line {line}, position {position}.",
            target=f"{root}.{member.path}",
        )


def visible(
    document: Mapping[str, Any], api_version: str, members: Iterable[Member] = (*MEMBERS, *LATER)
) -> dict[str, Any]:
    """Return a model without the members that a client of the api-version could not send back."""
    shown = dict(document)
    for member in members:
        if not member.is_known(api_version):
            shown = _without(shown, member.path.split("."))
    return shown


def _without(value: Mapping[str, Any], keys: list[str]) -> dict[str, Any]:
    kept = dict(value)
    first, *rest = keys
    name = first.removesuffix("[]")
    inner = kept.get(name)
    if not rest:
        kept.pop(name, None)
    elif isinstance(inner, Mapping):
        kept[name] = _without(inner, rest)
    elif isinstance(inner, list):
        kept[name] = [_without(e, rest) if isinstance(e, Mapping) else e for e in inner]
    return kept


def _place(text: str, path: str) -> tuple[int, int]:
    """Return the line and the column up to which the service has read when it meets a member.

    Its parser stops behind the colon that follows the member's name, in whatever case that is.
    """
    wanted = path.lower()
    end = next((end for found, end in _members(text) if found.lower() == wanted), 0)
    start = text.rfind("\n", 0, end) + 1
    return text.count("\n", 0, end) + 1, end - start


def _members(text: str) -> Iterator[tuple[str, int]]:
    """Yield each member of valid JSON: its path (array elements have an empty step), its end."""
    steps: list[str] = []
    name = ""
    for token in TOKEN.finditer(text):
        if token[2]:
            name = msgspec.json.decode(token[1], type=str)
            yield ".".join([*steps[1:], name]), token.end()
        elif token[0] in "{[":
            steps.append(name)
            name = ""
        elif token[0] in "}]":
            steps.pop()
            name = ""
