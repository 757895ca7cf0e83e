import asyncio
from datetime import timedelta

import pytest

from lastcall.store.sqlite import SqliteStore
from lastcall.web.arm.virtual_machines import ACTIONS, UNBUILT
from tests.web.desk import ROOT, SUBSCRIPTION, WEB, a_desk, a_model
from tests.web.machines import AVAILABILITY, VM, a_group, a_vm, in_set, with_notice

MINUTE = timedelta(minutes=1)
EVERYWHERE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"


@pytest.fixture
async def vm(desk):
    """The desk with one virtual machine that gets ten minutes of notice, and is watched."""

    assert (await desk.arm("PUT", VM, with_notice())).status_code == 201
    await desk.watch()
    return desk


async def status(desk, answer):
    followed = await desk.send("GET", answer.headers["azure-asyncoperation"])
    assert followed.status_code == 200, followed.text
    return followed.json()["status"]


def events(desk, name="db"):
    machine = desk.platform.directory.named(name)
    scope = desk.platform.directory.scope_of(machine).scope
    return [event for event in scope.events.values() if event.type is not None]


def codes(view):
    return [entry["code"] for entry in view["statuses"]]


async def test_a_machine_is_created_as_az_follows_it(desk):

    answer = await desk.arm("PUT", VM, a_vm())

    assert answer.status_code == 201
    assert answer.json()["properties"]["provisioningState"] == "Creating"
    assert "location" not in answer.headers
    assert answer.headers["retry-after"] == "1"
    assert await status(desk, answer) == "Succeeded"


async def test_a_machine_is_shown_with_what_the_service_adds_and_without_secrets(vm):
    shown = (await vm.arm("GET", VM)).json()

    machine = vm.platform.directory.machine(vm.platform.directory.named("db"))
    assert shown["id"] == VM
    assert shown["name"] == "db"
    assert shown["type"] == "Microsoft.Compute/virtualMachines"
    assert shown["location"] == "westus"
    assert shown["tags"] == {"team": "a"}
    assert shown["etag"] == '"1"'
    properties = shown["properties"]
    assert properties["vmId"] == machine.id
    assert properties["provisioningState"] == "Succeeded"
    assert properties["timeCreated"] == machine.created_at.isoformat()
    assert properties["hardwareProfile"] == {"vmSize": "Standard_D2s_v5"}
    assert properties["osProfile"]["computerName"] == "db-host"
    assert properties["osProfile"]["allowExtensionOperations"] is True
    assert "adminPassword" not in properties["osProfile"]
    assert properties["storageProfile"]["osDisk"]["osType"] == "Linux"
    assert properties["storageProfile"]["osDisk"]["name"] == "db_OsDisk_1"
    assert properties["storageProfile"]["osDisk"]["managedDisk"] == {
        "storageAccountType": "Premium_LRS"
    }
    assert properties["storageProfile"]["dataDisks"] == []
    assert properties["networkProfile"]["networkInterfaces"][0]["id"].endswith("/nic")
    assert "instanceView" not in properties


async def test_the_instance_view_comes_on_request_and_has_no_group_and_no_domains(vm):
    alone = (await vm.arm("GET", f"{VM}/instanceView")).json()
    shown = (await vm.arm("GET", f"{VM}?$expand=instanceView")).json()
    listed = (await vm.arm("GET", f"{ROOT}/virtualMachines?$expand=instanceView")).json()

    assert codes(alone) == ["ProvisioningState/succeeded", "PowerState/running"]
    assert alone["computerName"] == "db-host"
    assert not {"placementGroupId", "platformFaultDomain", "platformUpdateDomain"} & alone.keys()
    assert shown["properties"]["instanceView"] == alone
    assert listed["value"][0]["properties"]["instanceView"] == alone


async def test_a_disk_has_the_name_that_it_was_given(desk):

    disk = {"createOption": "FromImage", "name": "boot"}
    await desk.arm("PUT", VM, a_vm(storageProfile={"osDisk": disk}))

    view = (await desk.arm("GET", f"{VM}/instanceView")).json()
    assert view["disks"][0]["name"] == "boot"


async def test_user_data_is_told_on_request_alone(desk):

    await desk.arm("PUT", VM, a_vm(userData="aGk="))

    assert "userData" not in (await desk.arm("GET", VM)).json()["properties"]
    asked = await desk.arm("GET", f"{VM}?$expand=userData")
    assert asked.json()["properties"]["userData"] == "aGk="


@pytest.mark.parametrize(
    ("path", "count"),
    [
        (f"{ROOT}/virtualMachines", 1),
        (f"{ROOT.replace('/Group/', '/GROUP/')}/virtualMachines", 1),
        (f"{EVERYWHERE}/virtualMachines", 1),
        (f"{EVERYWHERE}/locations/West US/virtualMachines", 1),
        (f"{EVERYWHERE}/locations/eastus/virtualMachines", 0),
        (f"{EVERYWHERE}/virtualMachines?$filter='virtualMachineScaleSet/id' eq '/x'", 0),
    ],
)
async def test_machines_are_listed_by_group_subscription_and_location(vm, path, count):
    answer = await vm.arm("GET", path)

    assert answer.status_code == 200
    assert len(answer.json()["value"]) == count


async def test_an_unknown_filter_is_refused(vm):
    answer = await vm.arm("GET", f"{ROOT}/virtualMachines?$filter=name eq 'x'")

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "$filter"


async def test_what_is_missing_is_told_in_arms_words(desk):
    elsewhere = VM.replace("/Group/", "/Nowhere/")
    nowhere = await desk.arm("GET", elsewhere)
    created = await desk.arm("PUT", elsewhere, a_vm())

    missing = await desk.arm("GET", VM)
    patched = await desk.arm("PATCH", VM, a_vm())

    assert [nowhere.status_code, created.status_code] == [404, 404]
    assert nowhere.json()["error"]["code"] == "ResourceGroupNotFound"
    assert created.json()["error"]["code"] == "ResourceGroupNotFound"
    assert missing.status_code == patched.status_code == 404
    assert "'Microsoft.Compute/virtualMachines/db'" in missing.json()["error"]["message"]
    assert (await desk.arm("DELETE", VM)).status_code == 204


async def test_a_put_changes_what_it_names_and_keeps_the_rest(vm):
    answer = await vm.arm("PUT", VM, {"tags": {"team": "b"}})

    assert answer.status_code == 200
    assert answer.json()["properties"]["provisioningState"] == "Updating"
    assert await status(vm, answer) == "Succeeded"
    shown = (await vm.arm("GET", VM)).json()
    assert shown["tags"] == {"team": "b"}
    assert shown["etag"] == '"2"'
    assert shown["properties"]["osProfile"]["computerName"] == "db-host"
    assert "terminateNotificationProfile" in shown["properties"]["scheduledEventsProfile"]


async def test_what_was_read_can_be_written_back(vm):
    shown = (await vm.arm("GET", f"{VM}?$expand=instanceView")).json()
    answer = await vm.arm("PUT", VM, shown)
    again = (await vm.arm("GET", VM)).json()

    assert answer.status_code == 200
    del shown["properties"]["instanceView"]
    assert again == shown | {"etag": '"2"'}


@pytest.mark.parametrize(
    ("patch", "target"),
    [
        ({"location": "eastus"}, "location"),
        ({"zones": ["1"]}, "zones"),
        ({"properties": {"osProfile": {"computerName": "x"}}}, "osProfile.computerName"),
        (
            {"properties": {"priority": "Spot", "scheduledEventsProfile": None}},
            "priority",
        ),
        (
            {"properties": {"availabilitySet": {"id": AVAILABILITY}}},
            "availabilitySet.id",
        ),
    ],
)
async def test_what_a_machine_keeps_for_life_cannot_be_changed(vm, patch, target):
    before = vm.dump()
    answer = await vm.arm("PATCH", VM, patch)

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "PropertyChangeNotAllowed"
    assert answer.json()["error"]["target"] == target
    assert vm.dump() == before


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"properties": {}}, "location"),
        ({"location": "westus"}, "properties.hardwareProfile.vmSize"),
        (a_vm(storageProfile=[]), "properties.storageProfile"),
        (a_vm(osProfile="x"), "properties.osProfile"),
        (a_vm() | {"zones": ["1", "2"]}, "zones"),
        (a_vm() | {"zones": ["9"]}, "zones"),
        (a_vm() | {"tags": {"a": 1}}, "tags"),
        (in_set() | {"zones": ["1"]}, "zones"),
        (in_set(VM), "properties.availabilitySet.id"),
        (in_set("nowhere"), "properties.availabilitySet.id"),
        (a_vm(virtualMachineScaleSet={"id": WEB}), "properties.virtualMachineScaleSet"),
        (with_notice("PT16M"), ".notBeforeTimeout"),
        (with_notice("PT4M"), ".notBeforeTimeout"),
        (with_notice(priority="Spot"), ".terminateNotificationProfile"),
        (a_vm(priority="Cheap"), "properties.priority"),
        (a_vm(osProfile={"computerName": "x" * 65}), "properties.osProfile.computerName"),
    ],
)
async def test_a_wrong_model_is_refused_by_its_path(desk, body, target):

    before = desk.dump()
    answer = await desk.arm("PUT", VM, body)

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["target"].endswith(target)
    assert desk.dump() == before


@pytest.mark.parametrize("name", ["_x", "x.", "a b", "x" * 65])
async def test_a_machine_cannot_have_just_any_name(desk, name):

    answer = await desk.arm("PUT", f"{ROOT}/virtualMachines/{name}", a_vm())

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "name"


@pytest.mark.parametrize(
    ("body", "version", "member"),
    [
        (with_notice(), "2020-12-01", "scheduledEventsProfile"),
        (a_vm(userData="aGk="), "2020-12-01", "userData"),
        (a_vm(scheduledEventsPolicy={}), "2023-09-01", "scheduledEventsPolicy"),
    ],
)
async def test_old_api_versions_do_not_know_later_members(desk, body, version, member):

    answer = await desk.arm("PUT", VM, body, version=version)

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "BadRequest"
    assert error["message"].startswith(f"Could not find member '{member}' on object of type")
    assert error["target"] == f"vm.properties.{member}"


async def test_old_api_versions_are_not_shown_later_members(vm):
    shown = (await vm.arm("GET", VM, version="2020-12-01")).json()

    assert "scheduledEventsProfile" not in shown["properties"]
    assert "etag" not in shown
    assert "timeCreated" not in shown["properties"]


async def test_az_asks_for_a_resource_with_an_empty_place_for_its_parent(vm):
    doubled = VM.replace("Microsoft.Compute/", "Microsoft.Compute//")

    assert (await vm.arm("GET", doubled)).json() == (await vm.arm("GET", VM)).json()


async def test_a_machine_can_have_every_size(vm):
    await vm.arm("PUT", AVAILABILITY, {"location": "westus"})
    for path in (VM, AVAILABILITY):
        listed = (await vm.arm("GET", f"{path}/vmSizes")).json()["value"]
        assert "Standard_D2s_v5" in [size["name"] for size in listed]
    assert (await vm.arm("GET", f"{ROOT}/virtualMachines/nobody/vmSizes")).status_code == 404


async def test_conditions_of_a_write_are_kept(vm):
    stale = await vm.arm("PUT", VM, {"tags": {}}, if_match='"7"')
    there = await vm.arm("PUT", VM, {"tags": {}}, if_none_match="*")
    fresh = await vm.arm("PUT", VM, {"tags": {}}, if_match='"1"')

    assert [stale.status_code, there.status_code, fresh.status_code] == [412, 412, 200]


@pytest.mark.parametrize("action", ACTIONS)
async def test_every_action_is_accepted_and_followed(vm, action):
    answer = await vm.arm("POST", f"{VM}/{action}", version="2024-11-01")

    assert answer.status_code == 202
    assert answer.content == b""
    assert answer.headers["location"].endswith("&monitor=true")
    await vm.settle(16 * MINUTE)
    assert await status(vm, answer) == "Succeeded"


@pytest.mark.parametrize(
    ("action", "kind"),
    [("restart", "Reboot"), ("redeploy", "Redeploy"), ("performMaintenance", "Redeploy")],
)
async def test_a_users_restart_or_redeploy_is_announced(vm, action, kind):
    answer = await vm.arm("POST", f"{VM}/{action}")

    (event,) = events(vm)
    assert (event.type, event.source, event.status) == (kind, "User", "Scheduled")
    assert await status(vm, answer) == "InProgress"


async def test_the_policy_approves_a_users_restart_at_once(vm):
    policy = {"userInitiatedReboot": {"automaticallyApprove": "true"}}
    await vm.arm("PATCH", VM, {"properties": {"scheduledEventsPolicy": policy}})

    assert await status(vm, await vm.arm("POST", f"{VM}/restart")) == "Succeeded"
    assert await status(vm, await vm.arm("POST", f"{VM}/redeploy")) == "InProgress"


async def test_a_machine_stops_and_starts(vm):
    for action, power in (
        ("powerOff?skipShutdown=true", "stopped"),
        ("deallocate", "deallocated"),
        ("start", "running"),
    ):
        await vm.arm("POST", f"{VM}/{action}")
        view = (await vm.arm("GET", f"{VM}/instanceView")).json()
        assert codes(view)[1] == f"PowerState/{power}"


async def test_a_deallocated_machine_is_not_restarted(vm):
    await vm.arm("POST", f"{VM}/deallocate")
    answer = await vm.arm("POST", f"{VM}/restart")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"


async def test_a_deletion_waits_for_the_notice_and_takes_the_resource_along(vm):
    answer = await vm.arm("DELETE", VM)

    assert answer.status_code == 202
    (event,) = events(vm)
    assert (event.type, event.not_before - event.announced_at) == ("Terminate", 10 * MINUTE)
    assert (await vm.arm("GET", VM)).json()["properties"]["provisioningState"] == "Deleting"
    assert (await vm.arm("PUT", VM, a_vm())).status_code == 409
    assert (await vm.arm("POST", f"{VM}/restart")).status_code == 409
    await vm.settle(10 * MINUTE)
    assert await status(vm, answer) == "Succeeded"
    assert (await vm.arm("GET", VM)).status_code == 404
    assert list(vm.platform.directory.scopes()) == []
    assert (await vm.arm("PUT", VM, a_vm())).status_code == 201


async def test_force_skips_the_notice(vm):
    answer = await vm.arm("DELETE", f"{VM}?forceDeletion=true")

    assert await status(vm, answer) == "Succeeded"
    assert (await vm.arm("GET", VM)).status_code == 404


async def test_older_api_versions_do_not_know_how_to_force(vm):
    await vm.arm("DELETE", f"{VM}?forceDeletion=true", version="2019-03-01")
    held = await vm.arm("GET", VM)
    await vm.arm("DELETE", f"{VM}?forceDeletion=true", version="2020-12-01")

    assert held.json()["properties"]["provisioningState"] == "Deleting"
    assert (await vm.arm("GET", VM)).status_code == 404


async def test_the_notice_can_be_changed_and_turned_off(vm):
    terminate = {"notBeforeTimeout": "PT7M"}
    profile = {"scheduledEventsProfile": {"terminateNotificationProfile": terminate}}
    await vm.arm("PATCH", VM, {"properties": profile})
    terminate["enable"] = False
    shown = (await vm.arm("GET", VM)).json()["properties"]["scheduledEventsProfile"]
    assert shown == {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT7M"}}

    await vm.arm("PATCH", VM, {"properties": profile})

    assert (await vm.arm("GET", VM)).json()["properties"]["scheduledEventsProfile"] == {}
    assert await status(vm, await vm.arm("DELETE", VM)) == "Succeeded"


@pytest.mark.parametrize("policy", ["Deallocate", "Delete"])
async def test_a_spot_machine_is_evicted(desk, policy):

    await desk.arm("PUT", VM, a_vm(priority="spot", evictionPolicy=policy))
    answer = await desk.arm("POST", f"{VM}/simulateEviction")

    assert answer.status_code == 204
    (event,) = events(desk)
    assert (event.type, event.not_before - event.announced_at) == ("Preempt", MINUTE / 2)
    await desk.settle(MINUTE)
    shown = await desk.arm("GET", f"{VM}/instanceView")
    if policy == "Delete":
        assert shown.status_code == 404
        assert list(desk.platform.directory.scopes()) == []
    else:
        assert codes(shown.json())[1] == "PowerState/deallocated"


async def test_only_spot_machines_are_evicted(vm):
    answer = await vm.arm("POST", f"{VM}/simulateEviction")

    assert answer.status_code == 409
    assert answer.json()["error"]["message"].endswith("only for Spot Virtual Machines")
    assert (await vm.arm("POST", f"{VM}/simulateEviction", version="2019-12-01")).status_code == 400


@pytest.mark.parametrize("name", UNBUILT)
async def test_what_is_not_built_says_so(vm, name):
    answer = await vm.arm("POST", f"{VM}/{name}", {})
    missing = await vm.arm("POST", f"{ROOT}/virtualMachines/nobody/{name}", {})

    assert answer.status_code == 501
    assert answer.json()["error"]["code"] == "NotImplemented"
    assert answer.json()["error"]["message"].startswith(
        f"The operation '{name}' is not implemented"
    )
    assert missing.status_code == 404


async def test_hibernation_is_not_built(vm):
    assert (await vm.arm("POST", f"{VM}/deallocate?hibernate=true")).status_code == 501


async def test_lone_machines_and_sets_do_not_share_events(vm):
    await vm.arm("PUT", WEB, a_model(1))
    await vm.arm("PUT", f"{ROOT}/virtualMachines/other", a_vm())
    await vm.arm("DELETE", VM)

    assert len({p.scope.id for p in vm.platform.directory.scopes()}) == 3
    assert len(events(vm)) == 1
    assert events(vm, "other") == []


async def test_many_writers_at_once_leave_a_machine_that_can_be_shown_or_none(vm):
    """Whatever comes first: each request is answered as if it were alone, none breaks."""
    version = "api-version=2024-07-01"
    requests = [
        request
        for number in range(10)
        for request in (
            ("PATCH", f"{VM}?{version}", {"tags": {"n": str(number)}}),
            ("POST", f"{VM}/restart?{version}", None),
            ("POST", f"{VM}/deallocate?{version}", None),
            ("POST", f"{VM}/start?{version}", None),
            ("DELETE", f"{VM}?{version}&forceDeletion={number % 2 == 0}", None),
        )
    ]
    answers = await asyncio.gather(*(vm.send(*request) for request in requests))
    await vm.settle(20 * MINUTE)

    assert {answer.status_code for answer in answers} <= {200, 202, 204, 404, 409}
    assert (await vm.arm("GET", VM)).status_code == 404
    assert list(vm.platform.directory.scopes()) == []
    for answer in answers:
        if answer.status_code in (200, 202):
            assert await status(vm, answer) in ("Succeeded", "Failed")


async def test_a_machine_and_its_resource_outlive_a_restart(tmp_path):
    async with a_desk(store=SqliteStore(tmp_path / "state.db")) as desk:
        await a_group(desk)
        made = await desk.arm("PUT", VM, with_notice())
        assert made.status_code == 201

    async with a_desk(store=SqliteStore(tmp_path / "state.db")) as desk:
        shown = await desk.arm("GET", VM)
        assert shown.json()["properties"]["vmId"] == made.json()["properties"]["vmId"]
        assert desk.platform.directory.named("db") == made.json()["properties"]["vmId"]


async def test_a_group_that_is_deleted_waits_for_the_notices_of_its_machines(vm):
    await vm.arm("PUT", AVAILABILITY, {"location": "westus"})
    group = VM.partition("/providers/")[0]
    answer = await vm.arm("DELETE", group)

    assert answer.status_code == 202
    (event,) = events(vm)
    assert event.type == "Terminate"
    refused = await vm.arm("PUT", f"{ROOT}/virtualMachines/late", a_vm())
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "ResourceGroupBeingDeleted"
    await vm.settle(10 * MINUTE)
    assert (await vm.arm("GET", group)).status_code == 404
    assert list(vm.platform.directory.scopes()) == []
