"""Machines that no scale set owns, seen from both sides (R45, R85, R115)."""

import pytest

from tests.compatibility.world import MINUTE
from tests.web.desk import ROOT, SUBSCRIPTION
from tests.web.machines import (
    AVAILABILITY,
    SERVICE,
    VM,
    a_group,
    a_service,
    a_vm,
    in_set,
    with_notice,
)

VMS = f"{ROOT}/virtualMachines"


@pytest.fixture
async def owned(world):
    await a_group(world.desk)
    return world


async def compute(world, machine):
    answer = await world.ask("instance/compute?api-version=2023-07-01", machine)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_lone_machine_reads_about_itself(owned):
    await owned.arm("PUT", VM, a_vm(userData="aGk=") | {"zones": ["2"]})
    shown = (await owned.arm("GET", VM)).json()
    read = await compute(owned, "db")

    assert read["name"] == "db"
    assert read["vmId"] == shown["properties"]["vmId"]
    assert read["resourceId"] == VM
    assert read["resourceGroupName"] == "Group"
    assert read["subscriptionId"] == SUBSCRIPTION
    assert read["location"] == "westus"
    assert read["vmScaleSetName"] == read["placementGroupId"] == ""
    assert read["vmSize"] == "Standard_D2s_v5"
    assert read["zone"] == "2"
    assert read["tagsList"] == [{"name": "team", "value": "a"}]
    assert read["userData"] == "aGk="
    assert read["osProfile"]["computerName"] == "db-host"
    assert read["publisher"] == "Canonical"
    assert "secret" not in str(read)
    assert "virtualMachineScaleSet" not in read


async def test_a_changed_tag_of_a_machine_is_read_at_once(owned):
    await owned.arm("PUT", VM, a_vm())
    await owned.arm("PATCH", VM, {"tags": {"team": "b"}})

    assert (await compute(owned, "db"))["tags"] == "team:b"


async def test_a_spot_machine_knows_its_priority_and_policy(owned):
    await owned.arm("PUT", VM, a_vm(priority="Spot", evictionPolicy="Delete"))
    read = await compute(owned, "db")

    assert (read["priority"], read["evictionPolicy"]) == ("Spot", "Delete")


async def test_a_machine_of_an_availability_set_knows_its_domains(owned):
    await owned.arm("PUT", AVAILABILITY, {"location": "westus"})
    for name in ("a", "b"):
        await owned.arm("PUT", f"{VMS}/{name}", in_set())
    read = await compute(owned, "b")

    assert (read["platformFaultDomain"], read["platformUpdateDomain"]) == ("1", "1")
    assert read["resourceId"] == f"{VMS}/b"
    assert read["vmScaleSetName"] == ""


async def test_a_role_instance_reads_about_itself(owned):
    await owned.arm("PUT", SERVICE, a_service(FrontEnd=1))
    read = await compute(owned, "FrontEnd_IN_0")

    assert read["name"] == "FrontEnd_IN_0"
    assert read["resourceId"] == f"{SERVICE}/roleInstances/FrontEnd_IN_0"
    assert read["resourceGroupName"] == "Group"
    assert read["vmSize"] == "Standard_D1_v2"


async def test_a_lone_machine_is_told_of_its_end_and_of_nothing_else(owned):
    await owned.arm("PUT", VM, with_notice())
    await owned.arm("PUT", f"{VMS}/other", a_vm())
    assert await owned.events("db") == await owned.events("other") == []
    await owned.arm("POST", f"{VMS}/other/restart")
    answer = await owned.arm("DELETE", VM)

    (event,) = await owned.events("db")
    assert (event["EventType"], event["Resources"]) == ("Terminate", ["db"])
    await owned.approve(event["EventId"], machine="db")
    assert await owned.status(answer) == "Succeeded"
    assert (await owned.arm("GET", VM)).status_code == 404


async def test_every_machine_of_an_availability_set_reads_the_same_document(owned):
    await owned.arm("PUT", AVAILABILITY, {"location": "westus"})
    for name in ("a", "b", "c"):
        await owned.arm("PUT", f"{VMS}/{name}", in_set())
    await owned.events("a")
    await owned.arm("POST", f"{VMS}/b/redeploy")
    await owned.ours("POST", "events", {"type": "Freeze", "instances": ["a", "c"]})

    documents = [await owned.document(name) for name in ("a", "b", "c")]
    assert documents[0] == documents[1] == documents[2]
    named = {event["EventType"]: event["Resources"] for event in documents[0]["Events"]}
    assert named == {"Redeploy": ["b"], "Freeze": ["a", "c"]}


async def test_a_member_of_the_set_may_approve_for_another(owned):
    await owned.arm("PUT", AVAILABILITY, {"location": "westus"})
    for name in ("a", "b"):
        await owned.arm("PUT", f"{VMS}/{name}", in_set())
    await owned.events("a")
    answer = await owned.arm("POST", f"{VMS}/b/restart")
    (event,) = await owned.events("a")
    await owned.approve(event["EventId"], machine="a")

    assert await owned.status(answer) == "Succeeded"


async def test_role_instances_share_the_document_of_their_service(owned):
    await owned.arm("PUT", SERVICE, a_service(FrontEnd=2, BackEnd=1))
    assert await owned.events("BackEnd_IN_0") == []
    await owned.arm("POST", f"{SERVICE}/roleInstances/FrontEnd_IN_0/restart")

    (event,) = await owned.events("BackEnd_IN_0")
    assert (event["EventType"], event["Resources"]) == ("Reboot", ["FrontEnd_IN_0"])
    await owned.wait(15 * MINUTE)
    assert await owned.events("BackEnd_IN_0") == []


async def test_an_evicted_spot_machine_is_told(owned):
    await owned.arm("PUT", VM, a_vm(priority="Spot", evictionPolicy="Delete"))
    assert await owned.events("db") == []
    await owned.arm("POST", f"{VM}/simulateEviction")

    (event,) = await owned.events("db")
    assert (event["EventType"], event["EventSource"]) == ("Preempt", "Platform")
    await owned.wait(MINUTE)
    assert (await owned.arm("GET", VM)).status_code == 404
