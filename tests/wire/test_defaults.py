"""What the service adds to a model, as its answers show."""

import pytest

from lastcall.wire.defaults import completed, refuse_malformed
from lastcall.wire.members import visible
from lastcall.wire.merging import merge
from lastcall.wire.traits import traits
from tests.wire.builders import a_model, refusal_of

OLD = "2019-03-01"
NEW = "2024-07-01"


def shown(document, version=NEW):
    model = merge(None, document)
    refuse_malformed(model)
    return visible(completed(model, traits(model, "web"), version), version)


def of_profile(version=NEW, size="Standard_DS1_v2", **profile):
    document = a_model(virtualMachineProfile=profile) | {"sku": {"name": size}}
    return shown(document, version)["properties"]["virtualMachineProfile"]


def test_what_the_recorded_answer_of_2019_adds():
    interface = {"primary": "true", "ipConfigurations": [{"name": "ip", "properties": {"x": 1}}]}
    profile = {
        "osProfile": {"linuxConfiguration": {"disablePasswordAuthentication": True}},
        "storageProfile": {
            "osDisk": {"createOption": "FromImage", "managedDisk": {"storageAccountType": None}}
        },
        "networkProfile": {
            "networkInterfaceConfigurations": [{"name": "nic", "properties": interface}]
        },
    }
    document = a_model(virtualMachineProfile=profile, upgradePolicy={"mode": "manual"})

    assert shown(document, OLD)["properties"] == {
        "singlePlacementGroup": True,
        "overprovision": True,
        "doNotRunExtensionsOnOverprovisionedVMs": False,
        "upgradePolicy": {"mode": "Manual"},
        "virtualMachineProfile": {
            "osProfile": {
                "computerNamePrefix": "web",
                "linuxConfiguration": {
                    "disablePasswordAuthentication": True,
                    "provisionVMAgent": True,
                },
                "secrets": [],
                "allowExtensionOperations": True,
                "requireGuestProvisionSignal": True,
            },
            "storageProfile": {
                "osDisk": {
                    "createOption": "FromImage",
                    "managedDisk": {"storageAccountType": "Premium_LRS"},
                }
            },
            "networkProfile": {
                "networkInterfaceConfigurations": [
                    {
                        "name": "nic",
                        "properties": {
                            "primary": True,
                            "enableAcceleratedNetworking": False,
                            "enableIPForwarding": False,
                            "dnsSettings": {"dnsServers": []},
                            "ipConfigurations": [
                                {
                                    "name": "ip",
                                    "properties": {"x": 1, "privateIPAddressVersion": "IPv4"},
                                }
                            ],
                        },
                    }
                ]
            },
        },
    }


def test_what_is_given_is_not_touched():
    system = {
        "computerNamePrefix": "mine",
        "allowExtensionOperations": False,
        "requireGuestProvisionSignal": False,
        "secrets": [{"x": 1}],
        "linuxConfiguration": {"provisionVMAgent": False, "enableVMAgentPlatformUpdates": True},
    }
    properties = {"overprovision": False, "platformFaultDomainCount": 2}

    assert of_profile(osProfile=system)["osProfile"] == system
    assert shown(a_model(**properties))["properties"].items() >= properties.items()


@pytest.mark.parametrize(
    ("mode", "has", "has_not"),
    [
        ("Uniform", "overprovision", "constrainedMaximumCapacity"),
        ("Flexible", "constrainedMaximumCapacity", "overprovision"),
    ],
)
def test_each_mode_has_its_own_defaults(mode, has, has_not):
    properties = shown(a_model(orchestrationMode=mode, virtualMachineProfile={"priority": "Spot"}))
    properties = properties["properties"]

    assert properties["orchestrationMode"] == mode
    assert properties["platformFaultDomainCount"] == (5 if mode == "Uniform" else 1)
    assert properties["singlePlacementGroup"] is (mode == "Uniform")
    assert has in properties
    assert has_not not in properties


def test_a_set_without_a_profile_is_given_none():
    properties = shown(a_model(virtualMachineProfile={}))["properties"]

    assert "virtualMachineProfile" not in properties
    assert "platformFaultDomainCount" not in properties


def test_zones_bring_their_balance():
    assert shown(a_model() | {"zones": ["1"]})["properties"]["zoneBalance"] is False


def test_a_rolling_policy_is_completed_and_no_other():
    policy = {"mode": "Rolling", "rollingUpgradePolicy": {"maxBatchInstancePercent": 50}}
    rolling = shown(a_model(upgradePolicy=policy))["properties"]["upgradePolicy"]

    assert rolling["rollingUpgradePolicy"] == {
        "maxBatchInstancePercent": 50,
        "maxUnhealthyInstancePercent": 20,
        "maxUnhealthyUpgradedInstancePercent": 20,
        "pauseTimeBetweenBatches": "PT0S",
        "maxSurge": False,
        "rollbackFailedInstancesOnPolicyBreach": False,
    }
    assert shown(a_model())["properties"]["upgradePolicy"] == {"mode": "Manual"}
    old = shown(a_model(upgradePolicy=policy), OLD)["properties"]["upgradePolicy"]
    assert "maxSurge" not in old["rollingUpgradePolicy"]


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        ("Standard_D2s_v5", "Premium_LRS"),
        ("Standard_DS1_v2", "Premium_LRS"),
        ("Standard_B1ls", "Premium_LRS"),
        ("Standard_E4-2ds_v5", "Premium_LRS"),
        ("standard_gs1", "Premium_LRS"),
        ("Standard_D2_v3", "Standard_LRS"),
        ("Standard_A0", "Standard_LRS"),
        ("Mix", "Standard_LRS"),
    ],
)
def test_a_disk_is_as_good_as_its_size_allows(size, kind):
    storage = {"osDisk": {"createOption": "FromImage"}}
    disk = of_profile(size=size, storageProfile=storage)["storageProfile"]["osDisk"]

    assert disk["managedDisk"] == {"storageAccountType": kind}


def test_a_disk_of_blobs_is_not_managed():
    disk = {"createOption": "FromImage", "vhdContainers": ["x"]}

    assert (
        "managedDisk" not in of_profile(storageProfile={"osDisk": disk})["storageProfile"]["osDisk"]
    )


def test_an_image_tells_its_system():
    windows = {
        "osDisk": {"createOption": "fromImage"},
        "imageReference": {"publisher": "MicrosoftWindowsServer"},
    }
    profile = of_profile(storageProfile=windows, osProfile={"adminUsername": "me"})

    assert profile["storageProfile"]["osDisk"]["osType"] == "Windows"
    assert profile["storageProfile"]["osDisk"]["diskSizeGB"] == 127
    assert profile["osProfile"]["windowsConfiguration"] == {
        "provisionVMAgent": True,
        "enableAutomaticUpdates": True,
        "enableVMAgentPlatformUpdates": False,
    }
    linux = of_profile(storageProfile={"osDisk": {"createOption": "FromImage"}})
    assert linux["storageProfile"]["osDisk"]["osType"] == "Linux"
    older = of_profile("2020-06-01", storageProfile={"osDisk": {"createOption": "FromImage"}})
    assert "osType" not in older["storageProfile"]["osDisk"]


def test_empty_objects_are_not_shown():
    document = a_model(
        additionalCapabilities={},
        scaleInPolicy={"a": {"b": {}}},
        virtualMachineProfile={"scheduledEventsProfile": {}, "billingProfile": {}},
    )
    model = shown(document | {"plan": {}, "tags": {}})

    assert "plan" not in model
    assert model["tags"] == {}
    assert model["properties"]["virtualMachineProfile"] == {"scheduledEventsProfile": {}}
    assert not {"additionalCapabilities", "scaleInPolicy"} & model["properties"].keys()


@pytest.mark.parametrize(
    "profile",
    [
        {"osProfile": {"linuxConfiguration": 1}},
        {"osProfile": {"windowsConfiguration": []}},
        {"storageProfile": {"osDisk": {"managedDisk": "x"}}},
        {"networkProfile": "x"},
        {"extensionProfile": []},
        {"userData": 5},
        {"storageProfile": {"dataDisks": 5}},
        {"storageProfile": {"dataDisks": [5]}},
    ],
)
def test_what_cannot_be_completed_is_refused(profile):
    refusal = refusal_of(lambda: of_profile(**profile))

    assert refusal is not None
    assert refusal.code == "InvalidParameter"


@pytest.mark.parametrize(
    "interfaces",
    [
        5,
        [1],
        [{"name": "x"}],
        [{"properties": {"ipConfigurations": 7}}],
        [{"properties": {"ipConfigurations": [1, {"properties": 2}]}}],
    ],
)
def test_what_has_another_shape_is_left_alone(interfaces):
    profile = of_profile(networkProfile={"networkInterfaceConfigurations": interfaces})
    found = profile["networkProfile"]["networkInterfaceConfigurations"]

    given = interfaces[0]["properties"] if found != interfaces else {}
    assert found == interfaces or found[0]["properties"].items() >= given.items()


def test_repairs_that_are_neither_on_nor_off_are_refused():
    refusal = refusal_of(lambda: shown(a_model(automaticRepairsPolicy={"enabled": "maybe"})))

    assert refusal.target == "properties.automaticRepairsPolicy.enabled"
