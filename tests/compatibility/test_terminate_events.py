"""Deletions as owner and guests see them together (SPEC section 9)."""

import pytest

from tests.compatibility.world import MINUTE
from tests.web.desk import WEB

SCALE_IN = ("PATCH", WEB, {"sku": {"capacity": 2}})
ONE = ("DELETE", f"{WEB}/virtualMachines/2", None)
SEVERAL = ("POST", f"{WEB}/delete", {"instanceIds": ["2"]})
WHOLE = ("DELETE", WEB, None)


@pytest.mark.parametrize(("request_", "count"), [(SCALE_IN, 1), (ONE, 1), (SEVERAL, 1), (WHOLE, 3)])
async def test_every_deletion_is_announced_and_waits(web, request_, count):
    answer = await web.arm(*request_)

    events = await web.events()
    assert [event["EventType"] for event in events] == ["Terminate"] * count
    assert await web.status(answer) == "InProgress"
    assert await web.names() == ["web_0", "web_1", "web_2"]
    for event in events:
        await web.approve(event["EventId"])
    assert await web.status(answer) == "Succeeded"


@pytest.mark.parametrize("action", ["restart", "redeploy", "reimage", "deallocate", "poweroff"])
async def test_no_other_action_raises_terminate(web, action):
    await web.arm("POST", f"{WEB}/{action}", {"instanceIds": ["0"]})

    assert "Terminate" not in [event["EventType"] for event in await web.events()]


async def test_any_guest_of_the_group_may_approve_for_another(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/2")
    (event,) = await web.events("web_0")

    assert (await web.approve(event["EventId"], machine="web_0")).status_code == 200

    assert await web.names() == ["web_0", "web_1"]
    assert await web.events("web_1") == []


async def test_a_new_time_counts_for_later_events_of_upgraded_instances_only(web):
    profile = {"terminateNotificationProfile": {"notBeforeTimeout": "PT15M"}}
    body = {"properties": {"virtualMachineProfile": {"scheduledEventsProfile": profile}}}
    await web.arm("DELETE", f"{WEB}/virtualMachines/0")
    await web.arm("PATCH", WEB, body)
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["2"]})
    await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["1", "2"]})

    times = {event["Resources"][0]: event["NotBefore"][-12:-7] for event in await web.events()}

    assert times == {"web_0": "12:10", "web_1": "12:10", "web_2": "12:15"}


async def test_nobody_reading_for_a_day_means_no_notice(web):
    await web.wait(25 * 60 * MINUTE)

    await web.arm("DELETE", f"{WEB}/virtualMachines/2")

    assert await web.names() == ["web_0", "web_1"]
    said = (await web.ours("GET", "history")).json()["value"]
    assert any("nobody in its scope has read" in line["text"] for line in said)
