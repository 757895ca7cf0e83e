"""PowerShell's cmdlets at the wire: exactly their requests, waited for as they wait."""

from datetime import timedelta

import pytest

from lastcall.drivers.simulated import Script
from lastcall.engine.model import Action
from tests.compatibility.powershell import (
    GROUP,
    VMSS,
    CloudError,
    Cmdlet,
    a_config,
    as_read,
    terminate,
)
from tests.web.desk import a_desk

MINUTES = Script(delays=dict.fromkeys(Action, timedelta(minutes=2)))
PT6M = {"notBeforeTimeout": "PT6M", "enable": True}
VERSIONS = ("2019-03-01", "2021-07-01", "2022-11-01", "2023-03-01", "2024-07-01", "2024-11-01")


@pytest.fixture
async def desk():
    """A desk whose machines take two minutes over everything."""
    async with a_desk(script=MINUTES, group=GROUP) as desk:
        yield desk


@pytest.fixture
async def made(desk):
    await Cmdlet(desk).run("PUT", VMSS, a_config(**terminate(**PT6M)))
    return desk


async def shown(desk, version="2024-07-01"):
    return (await desk.arm("GET", VMSS, version=version)).json()


def profile_of(model):
    return model["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]


# New-AzVmss


@pytest.mark.parametrize("version", VERSIONS)
async def test_new_azvmss_is_answered_201_and_followed_to_the_end(desk, version):
    cmdlet = Cmdlet(desk, version)

    final = (await cmdlet.run("PUT", VMSS, a_config(**terminate(**PT6M)))).json()

    first = cmdlet.first
    assert first.status_code == 201
    assert first.headers["content-type"] == "application/json; charset=utf-8"
    assert first.headers["azure-asyncnotification"] == "Enabled"
    assert first.headers["x-ms-request-id"] == cmdlet.name
    assert "location" not in first.headers
    assert first.json()["properties"]["provisioningState"] == "Creating"
    assert profile_of(first.json()) == {"terminateNotificationProfile": PT6M}
    assert "Not-A-Real-1" not in first.text
    assert final["properties"]["provisioningState"] == "Succeeded"
    assert (final["location"], final["sku"]["capacity"]) == ("eastus", 2)
    assert {poll["status"] for poll in cmdlet.polls[:-1]} == {"InProgress"}
    assert {"startTime", "status", "name"} == cmdlet.polls[0].keys()
    assert {"startTime", "endTime", "status", "name"} == cmdlet.polls[-1].keys()


async def test_new_azvmss_of_a_set_that_is_there_updates_it(made):
    cmdlet = Cmdlet(made)

    await cmdlet.run("PUT", VMSS, a_config(**terminate(**PT6M)))

    assert cmdlet.first.status_code == 200
    assert cmdlet.first.json()["properties"]["provisioningState"] == "Updating"


async def test_the_two_notifications_go_together(desk):
    both = terminate(**PT6M)
    image = {"notBeforeTimeout": "PT15M", "enable": True}
    both["scheduledEventsProfile"]["osImageNotificationProfile"] = image

    final = await Cmdlet(desk, "2023-03-01").run("PUT", VMSS, a_config(**both))

    assert profile_of(final.json()) == both["scheduledEventsProfile"]


@pytest.mark.parametrize("location", ["East US", "EastUS", "eastus"])
async def test_a_location_goes_as_it_was_typed_and_comes_back_in_one_spelling(desk, location):
    final = await Cmdlet(desk).run("PUT", VMSS, a_config() | {"location": location})

    assert final.json()["location"] == "eastus"


# What -TerminateScheduledEventNotBeforeTimeoutInMinutes makes of a number.
@pytest.mark.parametrize("text", ["PT5M", "PT15M", "PT10M"])
async def test_minutes_in_range_are_taken(desk, text):
    config = a_config(**terminate(notBeforeTimeout=text, enable=True))

    final = await Cmdlet(desk).run("PUT", VMSS, config)

    assert profile_of(final.json())["terminateNotificationProfile"]["notBeforeTimeout"] == text


@pytest.mark.parametrize("text", ["PT0S", "PT4M", "PT16M", "PT1H", "PT1H30M"])
async def test_minutes_out_of_range_are_refused_because_the_client_does_not_look(desk, text):
    config = a_config(**terminate(notBeforeTimeout=text, enable=True))

    with pytest.raises(CloudError) as thrown:
        await Cmdlet(desk).run("PUT", VMSS, config)

    assert (thrown.value.status, thrown.value.error["code"]) == (400, "InvalidParameter")
    assert text in thrown.value.error["message"]


async def test_the_switch_alone_means_five_minutes_and_the_minutes_alone_nothing(desk):
    only_enabled = a_config(**terminate(enable=True))
    final = await Cmdlet(desk).run("PUT", VMSS, only_enabled)
    assert profile_of(final.json()) == {
        "terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT5M"}
    }

    other = VMSS + "2"
    only_minutes = a_config(**terminate(notBeforeTimeout="PT7M"))
    final = await Cmdlet(desk).run("PUT", other, only_minutes)
    assert "enable" not in profile_of(final.json())["terminateNotificationProfile"]


async def test_a_flexible_set_without_a_profile_is_made_too(desk):
    config = {
        "properties": {"orchestrationMode": "Flexible", "platformFaultDomainCount": 1},
        "location": "eastus",
    }

    final = await Cmdlet(desk, "2024-07-01").run("PUT", VMSS, config)

    assert final.json()["properties"]["provisioningState"] == "Succeeded"


# Update-AzVmss


@pytest.mark.parametrize(
    ("given", "profile"),
    [
        (
            {"notBeforeTimeout": "PT10M", "enable": True},
            {"terminateNotificationProfile": {"notBeforeTimeout": "PT10M", "enable": True}},
        ),
        (
            {"notBeforeTimeout": "PT10M"},
            {"terminateNotificationProfile": {"notBeforeTimeout": "PT10M", "enable": True}},
        ),
        ({"enable": False}, {}),
    ],
    ids=["both", "minutes", "off"],
)
async def test_update_azvmss_patches_one_property_and_is_answered_200(made, given, profile):
    before = await shown(made)
    body = {"properties": {"virtualMachineProfile": terminate(**given)}}
    cmdlet = Cmdlet(made)

    final = (await cmdlet.run("PATCH", VMSS, body)).json()

    assert cmdlet.first.status_code == 200
    assert cmdlet.first.json()["properties"]["provisioningState"] == "Updating"
    assert cmdlet.first.headers["azure-asyncnotification"] == "Enabled"
    assert "location" not in cmdlet.first.headers
    assert profile_of(final) == profile
    after = await shown(made)
    for model in (before, after):
        model["properties"]["virtualMachineProfile"].pop("scheduledEventsProfile", None)
        del model["etag"]
    assert after == before


@pytest.mark.parametrize(
    "body",
    [
        {"properties": {"scaleInPolicy": {"rules": ["NewestVM"]}}},
        {"properties": {"automaticRepairsPolicy": {"enabled": False}}},
        {"tags": {"a": "b"}},
    ],
    ids=str,
)
async def test_update_azvmss_keeps_what_it_does_not_name(made, body):
    before = await shown(made)

    final = (await Cmdlet(made, "2024-07-01").run("PATCH", VMSS, body)).json()

    merged = before | {"etag": '"2"'} | {k: v for k, v in body.items() if k != "properties"}
    merged["properties"] = before["properties"] | body.get("properties", {})
    assert final == merged


async def test_a_new_capacity_needs_neither_size_nor_location(made):
    final = await Cmdlet(made).run("PATCH", VMSS, {"sku": {"capacity": 3}, "tags": {"a": "b"}})

    assert final.json()["sku"]["capacity"] == 3
    listed = (await made.arm("GET", f"{VMSS}/virtualMachines")).json()["value"]
    assert len(listed) == 3


async def test_update_azvmss_with_the_object_puts_back_what_it_read(made):
    model = as_read(await shown(made, "2022-11-01"))
    profile = model["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]
    profile["terminateNotificationProfile"]["notBeforeTimeout"] = "PT12M"
    model["properties"]["virtualMachineProfile"]["osProfile"]["secrets"] = []

    cmdlet = Cmdlet(made)
    final = (await cmdlet.run("PUT", VMSS, model)).json()

    assert cmdlet.first.status_code == 200
    assert profile_of(final)["terminateNotificationProfile"]["notBeforeTimeout"] == "PT12M"
    assert final["properties"]["virtualMachineProfile"]["osProfile"]["adminUsername"] == "admin01"


async def test_the_priority_of_a_set_cannot_be_changed(desk):
    await Cmdlet(desk).run("PUT", VMSS, a_config(priority="Spot"))

    with pytest.raises(CloudError) as thrown:
        await Cmdlet(desk).run("PUT", VMSS, a_config(priority="Regular"))

    assert thrown.value.status == 409
    assert thrown.value.error == {
        "code": "PropertyChangeNotAllowed",
        "message": "Changing property 'priority' is not allowed.",
        "target": "priority",
    }


# Remove-AzVmss


@pytest.mark.parametrize("query", [{}, {"forceDeletion": "true"}], ids=["plain", "force"])
async def test_remove_azvmss_is_followed_by_both_addresses(made, query):
    cmdlet = Cmdlet(made, "2021-07-01")

    await cmdlet.run("DELETE", VMSS, **query)

    first = cmdlet.first
    assert (first.status_code, first.headers["content-length"]) == (202, "0")
    assert first.headers["azure-asyncnotification"] == "Enabled"
    assert "monitor=true" in first.headers["location"]
    assert "monitor" not in first.headers["azure-asyncoperation"]
    assert cmdlet.closing.headers["content-length"] == "0"
    assert (await made.arm("GET", VMSS)).status_code == 404


async def test_where_a_guest_reads_only_force_deletion_skips_its_notice(made):
    await made.watch()
    patient, forceful = Cmdlet(made), Cmdlet(made)
    await Cmdlet(made).run("PATCH", VMSS, {"sku": {"capacity": 3}})

    await forceful.run("POST", f"{VMSS}/delete", {"instanceIds": ["0"]}, forceDeletion="true")
    await patient.run("DELETE", VMSS)

    # Two minutes of deleting, after no notice at all or after six minutes of it.
    assert 120 <= sum(forceful.waited_s) < 360
    assert sum(patient.waited_s) >= 360 + 120


async def test_a_set_that_is_not_there_is_gone_already(desk):
    cmdlet = Cmdlet(desk)

    await cmdlet.run("DELETE", VMSS)

    assert cmdlet.first.status_code == 204
    assert not {"location", "azure-asyncoperation"} & cmdlet.first.headers.keys()


async def test_an_instance_is_removed_by_its_id(made):
    await Cmdlet(made).run("POST", f"{VMSS}/delete", {"instanceIds": ["0"]})

    listed = (await made.arm("GET", f"{VMSS}/virtualMachines")).json()["value"]
    assert [entry["instanceId"] for entry in listed] == ["1"]


# Set-AzVmss, Restart-AzVmss, Start-AzVmss, Stop-AzVmss, Update-AzVmssInstance, Set-AzVmssVM

IDS = {"instanceIds": ["0", "1"]}
ACTIONS = [
    ("/reimage", {}),
    ("/reimage", {"instanceIds": ["1"], "tempDisk": True}),
    ("/reimageall", None),
    ("/reimageall", IDS),
    ("/redeploy", None),
    ("/redeploy", {"instanceIds": ["1"]}),
    ("/performMaintenance", None),
    ("/performMaintenance", {"instanceIds": ["1"]}),
    ("/restart", None),
    ("/restart", IDS),
    ("/start", None),
    ("/start", IDS),
    ("/deallocate", None),
    ("/deallocate", IDS),
    ("/poweroff", None),
    ("/poweroff?skipShutdown=true", IDS),
    ("/manualupgrade", {"instanceIds": ["0"]}),
    ("/virtualMachines/0/reimageall", None),
    ("/virtualMachines/0/reimage", None),
    ("/virtualMachines/0/deallocate", None),
    ("/virtualmachines/0/redeploy", None),
    ("/virtualmachines/0/performMaintenance", None),
    ("/virtualmachines/0/restart", None),
    ("/virtualmachines/0/start", None),
    ("/virtualmachines/0/poweroff", None),
]


@pytest.mark.parametrize(("path", "body"), ACTIONS, ids=str)
async def test_an_action_is_accepted_with_nothing_and_its_outcome_is_empty(made, path, body):
    path, _, asked = path.partition("?")
    query = dict([asked.split("=")]) if asked else {}
    cmdlet = Cmdlet(made)

    final = await cmdlet.run("POST", f"{VMSS}{path}", body, **query)

    assert (cmdlet.first.status_code, cmdlet.first.content) == (202, b"")
    assert cmdlet.name == cmdlet.first.headers["x-ms-request-id"]
    assert (final.status_code, final.headers["content-length"]) == (200, "0")
    assert cmdlet.polls[-1]["status"] == "Succeeded"


async def test_automatic_repairs_are_suspended_and_resumed(made):
    repairs = {"automaticRepairsPolicy": {"enabled": True}}
    await Cmdlet(made).run("PATCH", VMSS, {"properties": repairs})
    for action in ("Suspend", "Resume"):
        body = {"action": action, "serviceName": "AutomaticRepairs"}
        cmdlet = Cmdlet(made)

        await cmdlet.run("POST", f"{VMSS}/setOrchestrationServiceState", body)

        assert cmdlet.first.status_code in (200, 202)


@pytest.mark.parametrize("path", ["/restart", "/redeploy"])
async def test_where_a_guest_reads_a_restart_waits_for_its_approval(made, path):
    await made.watch()
    cmdlet = Cmdlet(made)

    await cmdlet.run("POST", f"{VMSS}{path}", {"instanceIds": ["0"]})

    assert sum(cmdlet.waited_s) >= 10 * 60


async def test_set_azvmssvm_simulates_an_eviction(desk):
    await Cmdlet(desk).run("PUT", VMSS, a_config(priority="Spot", evictionPolicy="Delete"))
    cmdlet = Cmdlet(desk)

    with pytest.raises(CloudError) as thrown:
        await cmdlet.run("POST", f"{VMSS}/virtualMachines/7/simulateEviction")
    assert thrown.value.status == 404
    answer = await desk.send(
        "POST", f"{VMSS}/virtualMachines/0/simulateEviction?api-version=2022-11-01"
    )

    assert (answer.status_code, answer.content) == (204, b"")
    assert not {"location", "azure-asyncoperation"} & answer.headers.keys()


# Waiting


async def test_every_answer_says_when_to_look_again_so_that_nobody_waits_half_a_minute(made):
    cmdlet = Cmdlet(made)

    await cmdlet.run("POST", f"{VMSS}/restart")

    assert set(cmdlet.waited_s) == {1.0}


async def test_a_failure_is_thrown_with_its_sentence():
    lost = Script(refusal=lambda order: "the host is on fire" * (order.perform.action == "restart"))
    async with a_desk(script=lost, group=GROUP) as desk:
        await Cmdlet(desk).run("PUT", VMSS, a_config())

        with pytest.raises(CloudError) as thrown:
            await Cmdlet(desk).run("POST", f"{VMSS}/restart")

    assert "the host is on fire" in thrown.value.error["message"]
