"""Evictions, through the control plane (R82-R84)."""

import pytest

from tests.compatibility.world import SECOND
from tests.web.desk import WEB, a_model

ONE = f"{WEB}/virtualMachines/0"


@pytest.fixture
async def spot(world, request):
    profile = {"priority": "Spot"}
    if request.param:
        profile["evictionPolicy"] = request.param
    await world.arm("PUT", WEB, a_model(1, **profile))
    return world


async def evicted(spot):
    answer = await spot.arm("POST", f"{ONE}/simulateEviction")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "azure-asyncoperation" not in answer.headers
    (event,) = await spot.events()
    assert (event["EventType"], event["EventSource"]) == ("Preempt", "Platform")
    assert (event["Description"], event["DurationInSeconds"]) == ("", -1)
    assert event["NotBefore"] == "Thu, 05 Mar 2026 12:00:30 GMT"
    await spot.wait(30 * SECOND)


@pytest.mark.parametrize("spot", ["", "Deallocate"], indirect=True)
async def test_an_evicted_instance_stays_deallocated(spot):
    await evicted(spot)

    view = (await spot.arm("GET", f"{ONE}/instanceView")).json()
    assert view["statuses"][1]["code"] == "PowerState/deallocated"
    assert await spot.names() == ["web_0"]


@pytest.mark.parametrize("spot", ["Delete"], indirect=True)
async def test_an_evicted_instance_of_the_policy_delete_is_not_found(spot):
    await evicted(spot)

    assert await spot.names() == []
    answer = await spot.arm("GET", f"{ONE}/instanceView")
    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "code": "NotFound",
        "message": "The entity was not found in this Azure location.",
    }


async def test_a_regular_instance_is_refused_in_the_services_words(world):
    await world.arm("PUT", WEB, a_model(1))

    answer = await world.arm("POST", f"{ONE}/simulateEviction")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"
    said = answer.json()["error"]["message"]
    assert said.startswith("Operation 'simulateEviction' is allowed only for Spot Virtual Machines")
