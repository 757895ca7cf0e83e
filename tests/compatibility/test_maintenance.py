"""The platform's own events as they run their course (R56-R61)."""

import pytest

from lastcall.engine.model import Action, EventType
from tests.app.builders import MINUTE, NOON, SECOND, Fleet

FAULT_DOMAIN = "instance/compute/platformFaultDomain?api-version=2021-02-01&format=text"


async def test_a_freeze_is_started_as_long_as_it_said_and_acts_once():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.watch()
        await fleet.announce(EventType.FREEZE, "web_0", duration_s=9)
        await fleet.advance(15 * MINUTE)
        assert fleet.document().events[0].has_started
        await fleet.advance(9 * SECOND)
        assert fleet.document().events == ()
        asked = len(fleet.driver.asked)

        await fleet.advance(60 * MINUTE)

        assert len(fleet.driver.asked) == asked
        assert set(fleet.driver.times(Action.FREEZE)) == {
            NOON + 15 * MINUTE,
            NOON + 15 * MINUTE + 9 * SECOND,
        }


async def test_nothing_is_announced_that_nobody_asked_for():
    async with Fleet() as fleet:
        await fleet.write(5)
        await fleet.watch()

        await fleet.advance(60 * 23 * MINUTE)

        assert fleet.document().events == ()
        assert fleet.document().incarnation == 1


async def test_one_event_may_concern_several_fault_domains(web):
    everyone = ["web_0", "web_1", "web_2"]
    assert len({(await web.ask(FAULT_DOMAIN, name)).text for name in everyone}) == 3

    answer = await web.ours("POST", "events", {"type": "Freeze", "instances": everyone})

    assert answer.status_code == 201
    (event,) = await web.events()
    assert event["Resources"] == everyone


@pytest.mark.parametrize("kind", ["Reboot", "Redeploy"])
async def test_a_failure_appears_as_started_in_the_type_it_was_announced_with(web, kind):
    body = {"type": kind, "instances": ["web_0"], "started": True}

    event = (await web.ours("POST", "events", body)).json()

    assert (event["type"], event["status"]) == (kind, "Started")
    detail = (await web.ours("GET", f"events/{event['id']}")).json()
    assert "announced" not in [line["what"] for line in detail["history"]]


async def test_a_notice_of_days_is_possible(web):
    body = {"type": "Redeploy", "instances": ["web_0"], "notice": "P7D"}

    await web.ours("POST", "events", body)

    (event,) = await web.events()
    assert event["NotBefore"] == "Thu, 12 Mar 2026 12:00:00 GMT"
