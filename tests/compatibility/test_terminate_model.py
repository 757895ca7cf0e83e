"""The terminate notification profile, from the model to the event (SPEC section 8)."""

from typing import Any

import pytest

from tests.web.desk import WEB, a_model, with_notice


def a_profile(terminate: Any) -> dict[str, Any]:
    events = {"terminateNotificationProfile": terminate}
    return {"properties": {"virtualMachineProfile": {"scheduledEventsProfile": events}}}


def shown(answer):
    profile = answer.json()["properties"].get("virtualMachineProfile", {})
    return profile.get("scheduledEventsProfile")


async def test_a_set_that_was_never_configured_has_no_profile_at_all(world):
    assert shown(await world.arm("PUT", WEB, a_model())) is None
    assert shown(await world.arm("GET", WEB)) is None


async def test_a_patch_can_enable_it_on_a_set_that_exists(world):
    await world.arm("PUT", WEB, a_model())

    answer = await world.arm("PATCH", WEB, a_profile({"enable": "true"}))

    wanted = {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT5M"}}
    assert shown(answer) == shown(await world.arm("GET", WEB)) == wanted


async def test_a_put_of_the_time_alone_keeps_it_enabled(web):
    body = {"location": "westus", **a_profile({"notBeforeTimeout": "PT9M"})}

    answer = await web.arm("PUT", WEB, body)

    wanted = {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT9M"}}
    assert shown(answer) == wanted


async def test_what_was_disabled_can_be_enabled_again(web):
    await web.arm("PATCH", WEB, a_profile({"enable": False}))
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["*"]})
    await web.arm("PATCH", WEB, a_profile({"enable": True, "notBeforeTimeout": "PT7M"}))
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["*"]})

    await web.arm("DELETE", f"{WEB}/virtualMachines/1")

    (event,) = await web.events()
    assert event["NotBefore"] == "Thu, 05 Mar 2026 12:07:00 GMT"


async def test_a_flexible_set_gives_notice_too(world):
    model = with_notice(capacity=1)
    model["properties"]["orchestrationMode"] = "Flexible"
    await world.arm("PUT", WEB, model)
    (name,) = await world.names()
    assert await world.events(name) == []

    await world.arm("DELETE", f"{WEB}/virtualMachines/{name}")

    (event,) = await world.events(name)
    assert (event["EventType"], event["Resources"]) == ("Terminate", [name])


async def test_a_spot_set_cannot_have_it(world):
    model = with_notice()
    model["properties"]["virtualMachineProfile"]["priority"] = "Spot"

    answer = await world.arm("PUT", WEB, model)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "InvalidParameter"


@pytest.mark.parametrize("notice", ["PT4M", "PT16M", "10"])
async def test_a_wrong_time_is_refused_with_its_value_range_and_path(world, notice):
    answer = await world.arm("PUT", WEB, with_notice(notice))

    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "InvalidParameter")
    assert f"'{notice}'" in error["message"]
    assert "from PT5M to PT15M" in error["message"]
    assert error["target"].endswith("terminateNotificationProfile.notBeforeTimeout")


async def test_events_other_than_terminate_need_no_profile(world):
    await world.arm("PUT", WEB, a_model(1))
    assert await world.events() == []

    await world.arm("POST", f"{WEB}/restart", {"instanceIds": ["0"]})

    assert [event["EventType"] for event in await world.events()] == ["Reboot"]
