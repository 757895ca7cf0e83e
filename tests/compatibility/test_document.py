"""What guests read, on the wire (SPEC sections 3 to 5)."""

import re

from tests.compatibility.world import MINUTE
from tests.web.desk import WEB

ORDER = [
    "EventId",
    "EventStatus",
    "EventType",
    "ResourceType",
    "Resources",
    "NotBefore",
    "Description",
    "EventSource",
    "DurationInSeconds",
]
UPPER_GUID = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")


async def test_event_ids_are_guids_in_upper_case_each_its_own(web):
    await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["1", "2"]})

    found = [event["EventId"] for event in await web.events()]

    assert len(set(found)) == 2
    assert all(UPPER_GUID.fullmatch(each) for each in found)


async def test_a_terminate_has_all_keys_in_the_order_of_the_wire(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/1")

    (event,) = await web.events("web_2")

    assert list(event) == ORDER
    assert event["EventType"] == "Terminate"
    assert event["ResourceType"] == "VirtualMachine"
    assert event["Resources"] == ["web_1"]
    assert event["NotBefore"] == "Thu, 05 Mar 2026 12:10:00 GMT"


async def test_an_approved_event_that_waits_is_still_scheduled_to_its_readers(web):
    await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["1", "2"]})
    first, second = await web.events()

    await web.approve(first["EventId"], machine="web_1")

    assert await web.events() == [first, second]


async def test_a_started_event_has_no_not_before_and_then_disappears(web):
    body = {"type": "Freeze", "instances": ["web_0"], "durationInSeconds": 60}
    await web.ours("POST", "events", body)
    await web.wait(15 * MINUTE)
    (event,) = await web.events()
    assert (event["EventStatus"], event["NotBefore"]) == ("Started", "")

    await web.wait(MINUTE)

    assert await web.events() == []


async def test_reading_and_approving_may_use_different_versions(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/1")
    (event,) = await web.events(version="2020-07-01")

    answer = await web.approve(event["EventId"], machine="web_1", version="2017-08-01")

    assert answer.status_code == 200
    assert await web.names() == ["web_0", "web_2"]


async def test_the_incarnation_rises_even_for_those_who_cannot_see_the_event(web):
    before = await web.document(version="2017-08-01")

    await web.arm("DELETE", f"{WEB}/virtualMachines/1")

    after = await web.document(version="2017-08-01")
    assert before["Events"] == after["Events"] == []
    assert after["DocumentIncarnation"] == before["DocumentIncarnation"] + 1


async def test_an_approval_before_the_first_read_counts_and_turns_nothing_on(web):
    body = {"kind": "virtualMachine", "names": ["lone"]}
    await web.ours("POST", "scopes", body)
    event = (await web.ours("POST", "events", {"type": "Freeze", "instances": ["lone"]})).json()

    answer = await web.approve(event["id"], machine="lone")

    assert answer.status_code == 200
    scopes = (await web.ours("GET", "scopes")).json()["value"]
    (scope,) = [each for each in scopes if each["members"] == ["lone"]]
    assert scope["watchedAt"] is None
    detail = (await web.ours("GET", f"events/{event['id']}")).json()
    assert detail["approvedBy"] == ["lone"]


async def test_one_unknown_id_refuses_the_whole_approval(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/1")
    (event,) = await web.events()

    answer = await web.approve(event["EventId"], "602D9444-D2CD-49C7-8624-8643E7171297")

    assert answer.status_code == 400
    assert (await web.events()) == [event]
