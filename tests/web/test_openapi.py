"""Every operation of the vendor's descriptions is answered, and every answer fits them."""

import json
from datetime import timedelta

import pytest

from lastcall.web.arm.not_implemented import NOT_IMPLEMENTED
from tests.web.desk import SETS, SUBSCRIPTION, WEB
from tests.web.openapi import (
    DATA,
    FILES,
    NEW,
    OLD,
    VERSIONS,
    check,
    needs_data,
    normal,
    operations,
    responses,
)

pytestmark = needs_data

EXAMPLES = sorted((DATA / "examples_2024-07-01").glob("*.json"))
# Beside the descriptions: from others of the vendor's, and the operations that clients follow.
ELSEWHERE = (
    "/operations/",
    "/runcommand",
    "/networkinterfaces",
    "/publicipaddresses",
    "/microsoft.insights/",
)
SUBNET = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Group/providers/Microsoft.Network"
    "/virtualNetworks/net/subnets/one"
)


def a_profile(**more):
    """What az asks for, with every part that the service completes."""
    address = {"name": "ip", "properties": {"subnet": {"id": SUBNET}}}
    interface = {"primary": "true", "ipConfigurations": [address]}
    return {
        "storageProfile": {
            "osDisk": {
                "createOption": "FromImage",
                "caching": "ReadWrite",
                "managedDisk": {"storageAccountType": None},
            },
            "imageReference": {
                "publisher": "Canonical",
                "offer": "UbuntuServer",
                "sku": "18.04-LTS",
                "version": "latest",
            },
            "dataDisks": [{"lun": 0, "createOption": "Empty", "diskSizeGB": 8}],
        },
        "osProfile": {
            "computerNamePrefix": "web",
            "adminUsername": "me",
            "adminPassword": "secret",
            "linuxConfiguration": {"disablePasswordAuthentication": False},
        },
        "networkProfile": {
            "networkInterfaceConfigurations": [{"name": "nic", "properties": interface}]
        },
        "extensionProfile": {
            "extensions": [
                {
                    "name": "health",
                    "properties": {
                        "publisher": "Microsoft.ManagedServices",
                        "type": "ApplicationHealthLinux",
                        "typeHandlerVersion": "1.0",
                        "settings": {"port": 80},
                        "protectedSettings": {"key": "secret"},
                    },
                }
            ]
        },
        **more,
    }


def a_set(profile=None, **properties):
    return {
        "location": "West US",
        "sku": {"name": "Standard_D2s_v5", "capacity": 2},
        "tags": {"team": "one"},
        "properties": {"virtualMachineProfile": profile or a_profile(), **properties},
    }


NOTICE = {"terminateNotificationProfile": {"enable": "true", "notBeforeTimeout": "PT10M"}}
OS_NOTICE = {"osImageNotificationProfile": {"enable": True}}
WINDOWS = {
    "osProfile": {"adminUsername": "me", "adminPassword": "secret"},
    "storageProfile": {
        "osDisk": {"createOption": "FromImage"},
        "imageReference": {"publisher": "MicrosoftWindowsServer", "sku": "2022-Datacenter"},
    },
}
ROLLING = {"mode": "Rolling", "rollingUpgradePolicy": {"maxBatchInstancePercent": 50}}
SETS_OF = {
    "uniform": a_set(upgradePolicy={"mode": "manual"}, overprovision=True),
    "bare": {"location": "westus", "sku": {"name": "Standard_D1_v2", "capacity": 1}},
    "empty-parts": a_set(additionalCapabilities={}, upgradePolicy={}, scaleInPolicy={}),
    "notified": a_set(a_profile(scheduledEventsProfile=NOTICE)),
    "os-image": a_set(a_profile(scheduledEventsProfile=NOTICE | OS_NOTICE)),
    "flexible": a_set(orchestrationMode="Flexible", singlePlacementGroup=None),
    "empty": {
        "location": "westus",
        "properties": {"orchestrationMode": "Flexible", "platformFaultDomainCount": 1},
    },
    "spot": a_set(
        a_profile(priority="Spot", evictionPolicy="Delete", billingProfile={"maxPrice": -1})
    ),
    "zonal": a_set(zoneBalance=False) | {"zones": ["1", "2"]},
    "rolling": a_set(
        upgradePolicy=ROLLING | {"automaticOSUpgradePolicy": {"enableAutomaticOSUpgrade": False}}
    ),
    "surge": a_set(upgradePolicy={"mode": "Rolling", "rollingUpgradePolicy": {"maxSurge": True}}),
    "windows": a_set(a_profile(**WINDOWS)),
    "policies": a_set(
        scheduledEventsPolicy={"userInitiatedReboot": {"automaticallyApprove": "true"}},
        automaticRepairsPolicy={"enabled": True, "gracePeriod": "PT30M", "repairAction": "Replace"},
        scaleInPolicy={"rules": ["OldestVM"], "forceDeletion": True},
    ),
    "user-data": a_set(a_profile(userData="aGVsbG8=")) | {"identity": {"type": "SystemAssigned"}},
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_operation_of_the_description_has_a_route(desk, version):
    answered = {(route.method, normal(route.path)) for route in desk.routes}

    assert operations(version)
    assert operations(version) - answered == set()


async def test_every_route_answers_as_declared(desk):
    declared = operations(NEW)

    for route in desk.routes:
        path = normal(route.path)
        if "virtualmachinescalesets" not in path or any(part in path for part in ELSEWHERE):
            continue
        assert (route.method, path) in declared, path
        statuses = {str(status) for status in route.answers}
        assert statuses <= responses(NEW, route.method, path).keys(), path


async def test_what_is_not_implemented_says_so_and_changes_nothing(web):
    assert NOT_IMPLEMENTED
    for unbuilt in NOT_IMPLEMENTED:
        path = unbuilt.path.format(
            subscription=SUBSCRIPTION, group="Group", set="web", instance="0"
        )
        before = web.dump()
        answer = await web.arm(unbuilt.method, path, {})
        assert answer.status_code == 501
        assert answer.json()["error"]["code"] == "NotImplemented"
        assert unbuilt.why in answer.json()["error"]["message"]
        assert web.dump() == before


@pytest.mark.parametrize("kind", SETS_OF)
async def test_every_answer_fits_the_description(desk, kind):
    path = f"{SETS}/{kind}"
    created = await desk.arm("PUT", path, SETS_OF[kind])
    assert created.status_code == 201, created.text
    check(NEW, "VirtualMachineScaleSet", created.json())
    updated = await desk.arm("PATCH", path, {"tags": {"a": "b"}})
    check(NEW, "VirtualMachineScaleSet", updated.json())

    for version in VERSIONS:

        async def read(suffix="", version=version):
            answer = await desk.arm("GET", f"{path}{suffix}", version=version)
            assert answer.status_code == 200, answer.text
            return answer.json()

        check(version, "VirtualMachineScaleSet", await read())
        check(version, "VirtualMachineScaleSet", await read("?$expand=userData"))
        everything = (await desk.arm("GET", SETS, version=version)).json()
        check(version, "VirtualMachineScaleSetListResult", everything)
        check(version, "VirtualMachineScaleSetInstanceView", await read("/instanceView"))
        check(version, "VirtualMachineScaleSetListSkusResult", await read("/skus"))
        check(version, "VirtualMachineScaleSetExtensionListResult", await read("/extensions"))
        listed = await read("/virtualMachines?$expand=instanceView")
        check(version, "VirtualMachineScaleSetVMListResult", listed)
        for instance in (await read("/virtualMachines"))["value"]:
            one = f"/virtualMachines/{instance['instanceId']}"
            check(version, "VirtualMachineScaleSetVM", instance)
            check(version, "VirtualMachineScaleSetVM", await read(f"{one}?$expand=userData"))
            check(
                version, "VirtualMachineScaleSetVMInstanceView", await read(f"{one}/instanceView")
            )


@pytest.mark.parametrize("kind", SETS_OF)
async def test_what_was_read_can_be_written_back_and_changes_no_instance(desk, kind):
    path = f"{SETS}/{kind}"
    await desk.arm("PUT", path, SETS_OF[kind])
    for version in (NEW, "2026-04-01"):
        read = (await desk.arm("GET", path, version=version)).json()
        answer = await desk.arm("PUT", path, read, version=version)
        assert answer.status_code == 200, answer.text
        again = (await desk.arm("GET", path, version=version)).json()
        assert again.pop("etag") != read.pop("etag")
        assert again == read
    shown = (await desk.arm("GET", f"{path}/virtualMachines")).json()["value"]
    assert all(entry["properties"]["latestModelApplied"] for entry in shown)


async def test_instances_with_parts_of_their_own_fit_the_description(desk):
    await desk.arm("PUT", WEB, SETS_OF["notified"])
    one = f"{WEB}/virtualMachines/0"
    extension = {"location": "westus", "properties": {"publisher": "P", "type": "T"}}
    await desk.arm("PUT", f"{one}/extensions/own", extension)
    disks = {"dataDisksToAttach": [{"diskId": f"{WEB}/disks/extra"}]}
    await desk.arm("POST", f"{one}/attachDetachDataDisks", disks)
    body = {"properties": {"protectionPolicy": {"protectFromScaleIn": True}}}
    written = await desk.arm("PUT", one, body)
    check(NEW, "VirtualMachineScaleSetVM", written.json())
    for version in VERSIONS:
        shown = (await desk.arm("GET", one, version=version)).json()
        check(version, "VirtualMachineScaleSetVM", shown)
        listed = (await desk.arm("GET", f"{one}/extensions", version=version)).json()
        check(NEW, "VirtualMachineScaleSetVMExtensionsListResult", listed)


async def test_rolling_upgrades_fit_the_description(desk):
    policy = ROLLING["rollingUpgradePolicy"] | {"pauseTimeBetweenBatches": "PT1M"}
    await desk.arm(
        "PUT", WEB, a_set(upgradePolicy={"mode": "Rolling", "rollingUpgradePolicy": policy})
    )
    assert (await desk.arm("POST", f"{WEB}/osRollingUpgrade")).status_code == 202
    for by in (timedelta(0), timedelta(minutes=5)):
        await desk.settle(by)
        for version in VERSIONS:
            latest = await desk.arm("GET", f"{WEB}/rollingUpgrades/latest", version=version)
            check(version, "RollingUpgradeStatusInfo", latest.json())
            history = await desk.arm("GET", f"{WEB}/osUpgradeHistory", version=version)
            check(version, "VirtualMachineScaleSetListOSUpgradeHistory", history.json())
            assert len(history.json()["value"]) == 1


def request_of(path):
    """Return an official example as a request: its operation, address, query and body."""
    example = json.loads(path.read_text().replace("{vmss-name}", "web"))
    given = example["parameters"]
    description = json.loads((DATA / FILES[NEW][0]).read_text())
    stem = path.stem.partition("VirtualMachineScaleSet")[2].lstrip("_")
    owner = "VirtualMachineScaleSetVMs" if stem.startswith("VM_") else "VirtualMachineScaleSets"
    verb = stem.removeprefix("VM_").partition("_")[0]
    verb = {"Create": "CreateOrUpdate"}.get(verb, verb)
    for address, item in description["paths"].items():
        for method, operation in item.items():
            if operation["operationId"] == f"{owner}_{verb}":
                body = [value for value in given.values() if isinstance(value, dict)]
                return method.upper(), address, given, body[0] if body else None
    raise KeyError(path.stem)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_every_official_example_is_accepted(desk, path):
    method, address, given, body = request_of(path)
    set_name = given.get("vmScaleSetName") or given["virtualMachineScaleSetName"]
    one = f"{SETS}/{set_name}"
    if method != "PUT":
        model = a_set(a_profile(priority="Spot"), orchestrationMode="Flexible")
        assert (await desk.arm("PUT", one, model)).status_code == 201
    listed = (await desk.arm("GET", f"{one}/virtualMachines")).json().get("value", [])
    # The instance ids of the examples are placeholders.
    if body is not None and "instanceIds" in body:
        body = body | {"instanceIds": [listed[0]["instanceId"]]}
    url = address.format(
        subscriptionId=SUBSCRIPTION,
        resourceGroupName="Group",
        vmScaleSetName=set_name,
        virtualMachineScaleSetName=set_name,
        instanceId=listed[0]["instanceId"] if listed else "",
    )
    flags = {
        name: given[name]
        for name in ("forceDeletion", "hibernate", "skipShutdown")
        if name in given
    }
    query = "&".join(f"{name}={str(value).lower()}" for name, value in flags.items())

    answer = await desk.arm(method, f"{url}?{query}" if query else url, body)

    assert str(answer.status_code) in responses(NEW, method, address), answer.text


async def test_the_description_is_read_strictly(desk):
    """The checks can fail: a wrong type, a closed word, a member that nobody knows."""
    await desk.arm("PUT", WEB, SETS_OF["uniform"])
    shown = (await desk.arm("GET", WEB)).json()
    for name, value in (("zones", "1"), ("surprise", 1), ("plan", {})):
        with pytest.raises(AssertionError):
            check(NEW, "VirtualMachineScaleSet", shown | {name: value})
    with pytest.raises(AssertionError):
        check(OLD, "VirtualMachineScaleSet", shown)
