"""The names of members in one spelling: the service reads them in whatever case."""

from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.errors import InvalidRequestContentError

# What users fill with names and values of their own.
OPAQUE: Final = frozenset({"protectedSettings", "settings", "tags", "userAssignedIdentities"})

# Every name that our own code looks for in a body; others are kept as they were given.
NAMES: Final = frozenset(
    """
    adminPassword adminUsername automaticallyApprove availabilitySet
    billingProfile
    caching capacity capacityReservation computerName computerNamePrefix createOption customData
    dataDisks disablePasswordAuthentication diskSizeGB doNotRunExtensionsOnOverprovisionedVMs
    enable enableAcceleratedNetworking enableAutomaticOSUpgrade enableIPForwarding etag
    evictionPolicy
    forceDeletion
    hardwareProfile hostGroup
    id image imageReference instanceIds instanceView
    keyData
    licenseType linuxConfiguration location lun
    managedDisk maxBatchInstancePercent maxUnhealthyInstancePercent mode
    name networkProfile notBeforeTimeout
    offer orchestrationMode osDisk osImageNotificationProfile osProfile osType overprovision
    path pauseTimeBetweenBatches plan platformFaultDomainCount platformUpdateDomainCount
    primary priority product properties
    protectFromScaleIn protectFromScaleSetActions protectionPolicy provisioningState publicKeys
    publisher
    resources roleInstances roleProfile roles rollingUpgradePolicy rules
    scaleInPolicy scheduledEventsPolicy scheduledEventsProfile securityPostureReference
    singlePlacementGroup sku ssh storageAccountType storageProfile systemData
    terminateNotificationProfile tier timeCreated type
    uniqueId upgradePolicy uri userData userInitiatedReboot userInitiatedRedeploy
    value version vhd virtualMachineProfile virtualMachineScaleSet virtualMachines vmId vmSize
    windowsConfiguration writeAcceleratorEnabled
    zoneBalance zones
    """.split()  # noqa: SIM905  # A hundred pairs of quotes would hide them.
).union(OPAQUE)
SPELLINGS: Final[dict[str, str]] = {name.lower(): name for name in NAMES}


def with_known_names(
    value: Any, spellings: Mapping[str, str] = SPELLINGS, opaque: frozenset[str] = OPAQUE
) -> Any:
    """Return a copy in which the names that we know are spelled as documented.

    Two spellings of one name in the same object are refused: nobody could say which one counts.
    """
    if isinstance(value, list):
        return [with_known_names(item, spellings, opaque) for item in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for given, item in value.items():
        name = spellings.get(given.lower()) or given
        if name in result:
            raise InvalidRequestContentError(
                "The request content was invalid and could not be deserialized:"
                f" 'the member {name} is given in two spellings'."
            )
        result[name] = item if name in opaque else with_known_names(item, spellings, opaque)
    return result
