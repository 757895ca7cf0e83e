"""The instances of Flexible sets are virtual machines too (R50)."""

from datetime import timedelta

import pytest

from lastcall.app.acknowledging import scopes_of
from lastcall.wire.paths import parse_path
from tests.web.desk import GROUP, ROOT, SETS, SUBSCRIPTION, WEB, with_notice
from tests.web.machines import VM, a_vm

VMS = f"{ROOT}/virtualMachines"
EVERYWHERE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"
MINUTE = timedelta(minutes=1)


def flexible(capacity=2, **profile):
    model = with_notice(capacity=capacity)
    model["tags"] = {"team": "a"}
    model["properties"]["orchestrationMode"] = "Flexible"
    model["properties"]["virtualMachineProfile"] |= {
        "userData": "aGk=",
        "osProfile": {"computerNamePrefix": "web", "adminUsername": "u", "adminPassword": "secret"},
        "storageProfile": {
            "imageReference": {"publisher": "Canonical", "offer": "Ubuntu", "sku": "22"},
            "osDisk": {"createOption": "FromImage"},
        },
        "networkProfile": {
            "networkInterfaceConfigurations": [{"name": "nic", "properties": {"primary": True}}]
        },
        **profile,
    }
    return model


def spot(**profile):
    return flexible(
        priority="Spot", evictionPolicy="Delete", scheduledEventsProfile=None, **profile
    )


async def names(desk, path=VMS):
    answer = await desk.arm("GET", path)
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["value"]]


async def status(desk, answer):
    return (await desk.send("GET", answer.headers["azure-asyncoperation"])).json()["status"]


@pytest.fixture
async def name(desk):
    """The name of an instance of a Flexible set, all of which are watched."""
    assert (await desk.arm("PUT", WEB, flexible() | {"zones": ["1"]})).status_code == 201
    await desk.watch()
    return (await names(desk, f"{WEB}/virtualMachines"))[0]


async def test_an_instance_is_shown_as_a_virtual_machine(desk, name):
    shown = (await desk.arm("GET", f"{VMS}/{name.upper()}")).json()

    machine = desk.platform.directory.machine(desk.platform.directory.named(name))
    assert (shown["id"], shown["name"]) == (f"{VMS}/{name}", name)
    assert shown["type"] == "Microsoft.Compute/virtualMachines"
    assert (shown["location"], shown["zones"], shown["tags"]) == ("westus", ["1"], {"team": "a"})
    assert not {"sku", "instanceId", "resources"} & shown.keys()
    properties = shown["properties"]
    assert properties["virtualMachineScaleSet"] == {"id": WEB}
    assert properties["vmId"] == machine.id
    assert properties["provisioningState"] == "Succeeded"
    assert properties["timeCreated"] == machine.created_at.isoformat()
    assert properties["hardwareProfile"] == {"vmSize": "Standard_D2s_v5"}
    assert properties["osProfile"]["computerName"] == machine.computer_name
    assert "adminPassword" not in properties["osProfile"]
    assert properties["storageProfile"]["osDisk"]["name"] == f"{name}_OsDisk_1"
    assert properties["storageProfile"]["osDisk"]["osType"] == "Linux"
    notice = properties["scheduledEventsProfile"]["terminateNotificationProfile"]
    assert notice["notBeforeTimeout"] == "PT10M"
    # az looks up every interface that a virtual machine refers to.
    assert "networkInterfaces" not in properties["networkProfile"]
    assert properties["networkProfile"]["networkInterfaceConfigurations"][0]["name"] == "nic"
    assert not {"instanceView", "userData", "latestModelApplied"} & properties.keys()


async def test_view_and_user_data_come_on_request(desk, name):
    alone = (await desk.arm("GET", f"{VMS}/{name}/instanceView")).json()
    expanded = (await desk.arm("GET", f"{VMS}/{name}?$expand=instanceView,userData")).json()

    assert [entry["code"] for entry in alone["statuses"]] == [
        "ProvisioningState/succeeded",
        "PowerState/running",
    ]
    assert "placementGroupId" not in alone
    assert expanded["properties"]["instanceView"] == alone
    assert expanded["properties"]["userData"] == "aGk="


async def test_old_api_versions_do_not_see_later_members(desk, name):
    shown = (await desk.arm("GET", f"{VMS}/{name}", version="2019-07-01")).json()

    assert "etag" not in shown
    assert not {"timeCreated", "scheduledEventsProfile"} & shown["properties"].keys()


async def test_lists_have_the_instances_of_flexible_sets_alone(desk, name):
    instances = await names(desk, f"{WEB}/virtualMachines")
    uniform = with_notice(capacity=1)
    await desk.arm("PUT", f"{SETS}/uniform", uniform)
    await desk.arm("PUT", VM, a_vm())
    other = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/other"
    await desk.arm("PUT", other, {"location": "westus"})

    everything = sorted(["db", *instances])
    assert await names(desk) == everything
    assert await names(desk, f"{EVERYWHERE}/virtualMachines") == everything
    assert await names(desk, f"{EVERYWHERE}/locations/westus/virtualMachines") == everything
    assert await names(desk, f"{EVERYWHERE}/locations/eastus/virtualMachines") == []
    assert await names(desk, f"{other}/providers/Microsoft.Compute/virtualMachines") == []


async def test_the_machines_of_one_set_are_listed_as_az_asks(desk, name):
    await desk.arm("PUT", f"{SETS}/more", flexible(1))
    await desk.arm("PUT", f"{SETS}/uniform", with_notice(capacity=1))
    await desk.arm("PUT", VM, a_vm())

    async def of(path):
        return await names(desk, f"{VMS}?$filter='virtualMachineScaleSet/id' eq '{path}'")

    assert sorted(await of(WEB.upper())) == sorted(await names(desk, f"{WEB}/virtualMachines"))
    assert await of(f"{SETS}/more") == await names(desk, f"{SETS}/more/virtualMachines")
    assert await of(f"{SETS}/uniform") == []
    assert await of(f"{SETS}/nothing") == []
    refused = await desk.arm("GET", f"{VMS}?$filter=name eq 'x'")
    assert refused.status_code == 400


@pytest.mark.parametrize(
    ("action", "event"),
    [
        ("restart", "Reboot"),
        ("redeploy", "Redeploy"),
        ("performMaintenance", "Redeploy"),
    ],
)
async def test_an_action_is_announced_as_on_the_instance(desk, name, action, event):
    answer = await desk.arm("POST", f"{VMS}/{name}/{action}")

    assert answer.status_code == 202
    assert "location" in answer.headers
    assert await status(desk, answer) == "InProgress"
    (scope_id,) = await desk.platform.read(lambda r: scopes_of(r, parse_path(f"{VMS}/{name}")))
    scope = await desk.platform.read(lambda r: r.scope(scope_id))
    assert [each.type for each in scope.events.values()] == [event]
    await desk.settle(20 * MINUTE)
    assert await status(desk, answer) == "Succeeded"


async def test_power_is_that_of_the_instance(desk):
    await desk.arm("PUT", WEB, flexible(1))
    (name,) = await names(desk)
    for action, power in (
        ("powerOff", "stopped"),
        ("start", "running"),
        ("deallocate", "deallocated"),
        ("start", "running"),
        ("reimage", "running"),
    ):
        answer = await desk.arm("POST", f"{VMS}/{name}/{action}")
        assert (answer.status_code, await status(desk, answer)) == (202, "Succeeded"), action
        for view in (f"{VMS}/{name}", f"{WEB}/virtualMachines/{name}"):
            told = (await desk.arm("GET", f"{view}/instanceView")).json()["statuses"]
            assert told[1]["code"] == f"PowerState/{power}"


async def test_a_deletion_has_its_notice_and_takes_the_instance(desk, name):
    answer = await desk.arm("DELETE", f"{VMS}/{name}")

    assert answer.status_code == 202
    assert await status(desk, answer) == "InProgress"
    assert (await desk.arm("GET", f"{VMS}/{name}")).status_code == 200
    await desk.settle(11 * MINUTE)
    assert await status(desk, answer) == "Succeeded"
    assert (await desk.arm("GET", f"{VMS}/{name}")).status_code == 404
    assert (await desk.arm("DELETE", f"{VMS}/{name}")).status_code == 204
    assert (await desk.arm("GET", WEB)).json()["sku"]["capacity"] == 1


async def test_a_forced_deletion_does_not_wait(desk, name):
    answer = await desk.arm("DELETE", f"{VMS}/{name}?forceDeletion=true")

    assert await status(desk, answer) == "Succeeded"
    assert name not in await names(desk)


async def test_a_spot_instance_is_evicted(desk):
    await desk.arm("PUT", WEB, spot())
    first, second = await names(desk)
    shown = (await desk.arm("GET", f"{VMS}/{first}")).json()["properties"]
    assert (shown["priority"], shown["evictionPolicy"]) == ("Spot", "Delete")

    assert (await desk.arm("POST", f"{VMS}/{first}/simulateEviction")).status_code == 204
    await desk.settle(MINUTE)
    assert await names(desk) == [second]


async def test_an_instance_is_written_by_its_set_alone(desk, name):
    shown = (await desk.arm("GET", f"{VMS}/{name}")).json()
    before = desk.dump()

    for method, body in (("PUT", a_vm()), ("PUT", shown), ("PATCH", {"tags": {"a": "b"}})):
        answer = await desk.arm(method, f"{VMS}/{name.upper()}", body)
        assert answer.status_code == 409
        assert "write the scale set instead" in answer.json()["error"]["message"]
    assert desk.dump() == before


async def test_a_deployment_gives_no_second_machine_of_one_name(desk, name):
    vm = {"type": "Microsoft.Compute/virtualMachines", "apiVersion": "2024-07-01", "name": name}
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": [vm | a_vm()],
    }
    deployment = f"{GROUP}/providers/Microsoft.Resources/deployments/two"
    body = {"properties": {"mode": "Incremental", "template": template}}
    await desk.arm("PUT", deployment, body, version="2024-03-01")
    told = (await desk.arm("GET", deployment, version="2024-03-01")).json()["properties"]

    assert told["provisioningState"] == "Failed"
    assert "write the scale set instead" in str(told["error"])
    assert (await names(desk)).count(name) == 1


async def test_what_is_not_built_says_so(desk, name):
    for operation in ("reapply", "capture", "runCommand"):
        answer = await desk.arm("POST", f"{VMS}/{name}/{operation}")
        assert answer.status_code == 501, operation
    assert (await desk.arm("GET", f"{VMS}/{name}/vmSizes")).json()["value"]


async def test_an_instance_of_a_uniform_set_is_no_virtual_machine(desk):
    await desk.arm("PUT", WEB, with_notice(capacity=1))

    for method, path in (("GET", ""), ("GET", "/instanceView"), ("POST", "/restart")):
        assert (await desk.arm(method, f"{VMS}/web_0{path}")).status_code == 404
    assert (await desk.arm("DELETE", f"{VMS}/web_0")).status_code == 204
    assert (await desk.arm("PUT", f"{VMS}/web_0", a_vm())).status_code == 201
