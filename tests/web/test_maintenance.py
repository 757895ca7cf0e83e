"""Approval from outside the machine (R90), and the vendor's own examples of it."""

import json
from pathlib import Path

import pytest

from tests.web.desk import ROOT, SETS, SUBSCRIPTION, WEB, a_model, with_notice
from tests.web.machines import AVAILABILITY, SERVICE, VM, a_service, a_vm, in_set

DATA = Path(__file__).parents[3] / "shared/spec/data"
EXAMPLES = (
    "maintenance_2023-10-01-preview_example_ScheduledEvents_Acknowledge.json",
    "maintenance_2025-11-01_example_ScheduledEvents_Acknowledge.json",
    "maintenance_2025-11-01_example_ScheduledEvents_AcknowledgeList.json",
)
VERSION = "2025-11-01"
PREVIEW = "2023-10-01-preview"
APPROVED = {"value": "Successfully Approved"}
UNKNOWN = "00000000-0000-0000-0000-00000000000f"


def events_of(resource):
    return f"{resource}/providers/Microsoft.Maintenance/scheduledevents"


async def acknowledge(desk, resource, event_id, version=VERSION):
    path = f"{events_of(resource)}/{event_id}/acknowledge"
    return await desk.arm("POST", path, version=version)


def pending(desk):
    return [
        event
        for published in desk.platform.directory.scopes()
        for event in published.scope.events.values()
        if event.type is not None
    ]


async def status(desk, answer):
    return (await desk.send("GET", answer.headers["azure-asyncoperation"])).json()["status"]


@pytest.fixture
async def desk(desk):

    return desk


async def a_restart(desk, resource, body, action):
    """Make a resource, let somebody watch it, and have something of it restarted."""
    made = await desk.arm("PUT", resource, body)
    assert made.status_code in (200, 201), made.text
    if resource == AVAILABILITY:
        await desk.arm("PUT", f"{ROOT}/virtualMachines/a", in_set())
    await desk.watch()
    answer = await desk.arm("POST", action)
    assert answer.status_code == 202, answer.text
    (event,) = pending(desk)
    return answer, event


RESTARTS = {
    "scale set": (WEB, with_notice(capacity=1), f"{WEB}/restart"),
    "virtual machine": (VM, a_vm(), f"{VM}/restart"),
    "availability set": (
        AVAILABILITY,
        {"location": "westus"},
        f"{ROOT}/virtualMachines/a/restart",
    ),
    "cloud service": (
        SERVICE,
        a_service(FrontEnd=1),
        f"{SERVICE}/roleInstances/FrontEnd_IN_0/restart",
    ),
}


@pytest.mark.parametrize("version", [PREVIEW, VERSION])
@pytest.mark.parametrize("what", RESTARTS)
async def test_an_owner_approves_an_event_of_each_kind_of_resource(desk, what, version):
    resource, body, action = RESTARTS[what]
    asked, event = await a_restart(desk, resource, body, action)
    answer = await acknowledge(desk, resource, event.id.lower(), version)

    assert answer.status_code == 200
    assert answer.json() == APPROVED
    assert await status(desk, asked) == "Succeeded"
    told = (await desk.send("GET", f"/lastcall/v1/events/{event.id}")).json()
    assert told["approvedBy"] == ["portal"]


async def test_a_machine_of_an_availability_set_speaks_for_the_whole_set(desk):
    _, event = await a_restart(desk, *RESTARTS["availability set"])
    await desk.arm("PUT", f"{ROOT}/virtualMachines/b", in_set())

    answer = await acknowledge(desk, f"{ROOT}/virtualMachines/b", event.id)
    assert answer.json() == APPROVED


async def test_the_instance_of_a_flexible_set_is_a_virtual_machine_too(desk):
    model = a_model(1)
    model["properties"]["orchestrationMode"] = "Flexible"
    _, event = await a_restart(desk, WEB, model, f"{WEB}/restart")
    name = (await desk.arm("GET", f"{WEB}/virtualMachines")).json()["value"][0]["name"]

    answer = await acknowledge(desk, f"{ROOT}/virtualMachines/{name}", event.id)
    assert answer.json() == APPROVED


async def test_several_events_of_several_placement_groups_are_approved_at_once(desk):
    model = with_notice(capacity=2) | {"zones": ["1", "2"]}
    await desk.arm("PUT", WEB, model)
    await desk.watch()
    asked = await desk.arm("POST", f"{WEB}/restart")
    ids = [event.id.lower() for event in pending(desk)]
    assert len(ids) == 2
    answer = await desk.arm("POST", events_of(WEB), {"value": ids}, version=VERSION)

    assert answer.json() == APPROVED
    assert await status(desk, asked) == "Succeeded"


async def test_one_unknown_id_refuses_the_whole_list(desk):
    _, event = await a_restart(desk, *RESTARTS["scale set"])
    before = desk.dump()
    body = {"value": [event.id, UNKNOWN]}
    answer = await desk.arm("POST", events_of(WEB), body, version=VERSION)

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "EventNotFound"
    assert UNKNOWN.upper() in answer.json()["error"]["message"]
    assert desk.dump() == before


async def test_what_has_started_or_ended_is_approved_again_as_inside_the_machine(desk):
    body = {"type": "Freeze", "instances": ["db"], "durationInSeconds": 60, "started": True}
    await desk.arm("PUT", VM, a_vm())
    event = (await desk.send("POST", "/lastcall/v1/events", body)).json()
    started = await acknowledge(desk, VM, event["id"])
    await desk.send("POST", "/lastcall/v1/clock/advance", {"by": "PT2M"})
    assert pending(desk) == []
    ended = await acknowledge(desk, VM, event["id"])

    assert started.json() == ended.json() == APPROVED


async def test_the_event_of_another_resource_is_unknown(desk):
    _, event = await a_restart(desk, *RESTARTS["virtual machine"])
    await desk.arm("PUT", f"{ROOT}/virtualMachines/other", a_vm())
    answer = await acknowledge(desk, f"{ROOT}/virtualMachines/other", event.id)

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "EventNotFound"


@pytest.mark.parametrize(
    ("resource", "code"),
    [
        (f"{SETS}/none", "ResourceNotFound"),
        (f"{ROOT}/virtualMachines/none", "ResourceNotFound"),
        (f"{ROOT}/availabilitySets/none", "ResourceNotFound"),
        (f"{ROOT}/cloudServices/none", "ResourceNotFound"),
        (f"{ROOT}/disks/none", "InvalidResourceType"),
        (f"{ROOT.replace('/Group/', '/None/')}/virtualMachines/db", "ResourceGroupNotFound"),
    ],
)
async def test_what_does_not_exist_has_no_events(desk, resource, code):
    answer = await acknowledge(desk, resource, UNKNOWN)

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize("body", [{}, {"value": []}, {"value": "x"}, {"value": [1]}])
async def test_a_list_names_its_events(desk, body):
    answer = await desk.arm("POST", events_of(WEB), body, version=VERSION)

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "value"


async def test_old_api_versions_are_told_which_ones_there_are(desk):
    single = await acknowledge(desk, VM, UNKNOWN, "2023-09-01")
    several = await desk.arm("POST", events_of(VM), {"value": [UNKNOWN]}, version=PREVIEW)

    assert single.status_code == several.status_code == 400
    assert single.json()["error"]["code"] == "InvalidApiVersionParameter"
    assert PREVIEW in single.json()["error"]["message"]
    assert PREVIEW in several.json()["error"]["message"]
    assert f"'{VERSION}'" in several.json()["error"]["message"]


@pytest.mark.parametrize("name", EXAMPLES)
async def test_the_vendors_examples_are_answered_as_they_say(desk, name):
    """The example's own request, with the names and the event ids of what is here."""
    if not (DATA / name).exists():
        pytest.skip("the vendor's examples are not beside this repository")
    example = json.loads((DATA / name).read_text())
    given = example["parameters"]
    asked, event = await a_restart(desk, *RESTARTS["virtual machine"])
    resource = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/Group/providers/Microsoft.Compute"
    path = events_of(f"{resource}/virtualMachines/db")
    body = None
    if "scheduledEventsIdList" in given:
        body = given["scheduledEventsIdList"]
        assert all(isinstance(each, str) for each in body.pop("value"))
        body["value"] = [event.id]
    else:
        path = f"{path}/{event.id}/acknowledge"
    answer = await desk.arm("POST", path, body, version=given["api-version"])

    assert answer.status_code == 200
    assert answer.json() == example["responses"]["200"]["body"]
    assert await status(desk, asked) == "Succeeded"
