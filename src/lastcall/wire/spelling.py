"""The names of members in one spelling: the service reads them in whatever case."""

from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.errors import InvalidRequestContentError

# Under this name a document keeps what single instances have of their own (`wire.own_parts`).
INSTANCES: Final = "$instances"

# What users, or we, fill with names and values of their own.
OPAQUE: Final = frozenset(
    {INSTANCES, "protectedSettings", "settings", "tags", "userAssignedIdentities"}
)

# Every name that our own code looks for in a body; others are kept as they were given.
NAMES: Final = frozenset(
    """
    action activePlacementGroupId additionalCapabilities adminPassword adminUsername
    allInstancesDown allowExtensionOperations applicationGatewayBackendAddressPools
    applicationProfile applicationSecurityGroups automaticallyApprove automaticOSUpgradePolicy
    automaticRepairsPolicy auxiliaryMode auxiliarySku availabilitySet
    billingProfile
    caching capacity capacityReservation communityGalleryImageId computerName computerNamePrefix
    constrainedMaximumCapacity createOption customData
    dataDisks dataDisksToAttach dataDisksToDetach deleteOption diagnosticsProfile diffDiskSettings
    disablePasswordAuthentication disableTcpStateTracking diskControllerType diskEncryptionSet
    diskId diskIOPSReadWrite diskMBpsReadWrite diskSizeGB dnsServers dnsSettings
    doNotRunExtensionsOnOverprovisionedVMs
    enable enableAcceleratedNetworking enableAutomaticOSUpgrade enableAutomaticUpdates
    enableAutomaticUpgrade enableCrossZoneUpgrade enabled enableFpga enableIPForwarding
    enableVMAgentPlatformUpdates etag eventGridAndResourceGraph evictionPolicy extendedLocation
    extensionProfile extensions extensionsTimeBudget
    forceDeletion
    hardwareProfile hibernationEnabled hostGroup
    id idleTimeoutInMinutes image imageReference instanceIds instanceView ipConfigurations
    keyData
    licenseType linuxConfiguration loadBalancerBackendAddressPools location lun
    managedDisk maxBatchInstancePercent maxSurge maxUnhealthyInstancePercent
    maxUnhealthyUpgradedInstancePercent mode
    name networkApiVersion networkInterfaceConfigurations networkProfile networkSecurityGroup
    notBeforeTimeout
    offer orchestrationMode osDisk osImageNotificationProfile osProfile osRollingUpgradeDeferral
    osType overprovision
    patchSettings path pauseTimeBetweenBatches placement plan platformFaultDomainCount
    platformUpdateDomainCount primary prioritizeUnhealthyInstances priority priorityMixPolicy
    privateIPAddressVersion product properties protectedParameters protectedSettingsFromKeyVault
    protectFromScaleIn protectFromScaleSetActions protectionPolicy provisioningState
    provisionVMAgent publicIPAddressConfiguration publicIPAddressVersion publicKeys publisher
    repairAction requireGuestProvisionSignal resiliencyPolicy resources roleInstances roleProfile
    roles rollbackFailedInstancesOnPolicyBreach rollingUpgradePolicy rules runAsPassword
    scaleInPolicy scheduledEventsAdditionalPublishingTargets scheduledEventsApiVersion
    scheduledEventsPolicy scheduledEventsProfile secrets securityPostureReference securityProfile
    serviceArtifactReference serviceName sharedGalleryImageId singlePlacementGroup sku skuProfile
    spotRestorePolicy ssh storageAccountType storageProfile subnet suppressFailures systemData
    terminateNotificationProfile tier timeCreated type
    uniqueId upgradePolicy uri userData userInitiatedReboot userInitiatedRedeploy
    useRollingUpgradePolicy
    value version vhd vhdContainers virtualMachineProfile virtualMachines virtualMachineScaleSet
    vmId vmSize
    windowsConfiguration writeAcceleratorEnabled
    zonalPlatformFaultDomainAlignMode zoneBalance zones
    """.split()  # noqa: SIM905  # So many pairs of quotes would hide them.
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
