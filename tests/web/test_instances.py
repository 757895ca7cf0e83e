import pytest

from tests.web.desk import SETS, WEB, a_model

SPOT = f"{SETS}/spot"
ONE = f"{WEB}/virtualMachines/0"
NOT_FOUND = {
    "error": {
        "code": "NotFound",
        "message": "The entity was not found in this Azure location.",
    }
}


async def a_spot_set(desk, policy):
    profile = {"priority": "Spot", "evictionPolicy": policy}
    assert (await desk.arm("PUT", SPOT, a_model(1, **profile))).status_code == 201


async def test_instances_are_listed_with_what_they_have_of_the_model(web):
    shown = (await web.arm("GET", f"{WEB}/virtualmachines")).json()["value"]

    assert [entry["name"] for entry in shown] == ["web_0", "web_1"]
    assert all("instanceView" not in entry["properties"] for entry in shown)
    assert shown[0]["id"] == ONE


async def test_an_instance_view_comes_on_request(web):
    listed = await web.arm("GET", f"{WEB}/virtualMachines?$expand=instanceView")
    shown = await web.arm("GET", f"{ONE}?$expand=InstanceView")
    alone = await web.arm("GET", f"{ONE}/instanceView")

    view = alone.json()
    assert [status["code"] for status in view["statuses"]] == [
        "ProvisioningState/succeeded",
        "PowerState/running",
    ]
    assert shown.json()["properties"]["instanceView"] == view
    assert listed.json()["value"][0]["properties"]["instanceView"] == view


@pytest.mark.parametrize("suffix", ["", "/instanceView"])
async def test_an_instance_that_is_not_there_is_refused_in_the_providers_words(web, suffix):
    answer = await web.arm("GET", f"{WEB}/virtualMachines/77{suffix}")

    assert answer.status_code == 404
    assert answer.json() == NOT_FOUND
    assert b"\r\n  " in answer.content


async def test_protecting_an_instance_is_followed_like_every_write(web):
    policy = {"protectFromScaleIn": True}
    answer = await web.arm("PUT", ONE, {"properties": {"protectionPolicy": policy}})

    assert answer.status_code == 200
    assert answer.json()["properties"]["protectionPolicy"]["protectFromScaleIn"] is True
    followed = await web.send("GET", answer.headers["azure-asyncoperation"])
    assert followed.json()["status"] == "Succeeded"


async def test_a_protected_instance_is_spared_by_a_scale_in(web):
    policy = {"protectFromScaleIn": True}
    await web.arm("PUT", f"{WEB}/virtualMachines/1", {"properties": {"protectionPolicy": policy}})

    await web.arm("PATCH", WEB, {"sku": {"capacity": 1}})

    shown = (await web.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    leaving = [e["name"] for e in shown if e["properties"]["provisioningState"] == "Deleting"]
    assert leaving == ["web_0"]


@pytest.mark.parametrize(
    "action", ["deallocate", "poweroff", "restart", "start", "redeploy", "reimage", "reimageall"]
)
@pytest.mark.parametrize("instance", ["0", "%2A"])
async def test_an_action_on_an_instance_is_accepted(web, action, instance):
    answer = await web.arm("POST", f"{WEB}/virtualmachines/{instance}/{action}")

    assert answer.status_code == 202
    assert answer.content == b""
    assert "location" in answer.headers


async def test_a_star_means_every_instance(web):
    await web.arm("POST", f"{WEB}/virtualMachines/%2A/deallocate")

    shown = await web.arm("GET", f"{WEB}/virtualMachines?$expand=instanceView")
    codes = [e["properties"]["instanceView"]["statuses"][1]["code"] for e in shown.json()["value"]]
    assert codes == ["PowerState/deallocated"] * 2


async def test_an_action_on_an_instance_that_is_not_there_is_a_404(web):
    answer = await web.arm("POST", f"{WEB}/virtualMachines/77/restart")

    assert answer.status_code == 404
    assert answer.json() == NOT_FOUND


async def test_deleting_an_instance_is_accepted_and_deleting_it_again_finds_nothing(web):
    assert (await web.arm("DELETE", f"{ONE}?forceDeletion=true")).status_code == 202
    assert (await web.arm("DELETE", ONE)).status_code == 204


async def test_deleting_an_instance_of_a_set_that_is_not_there_is_a_404(web):
    answer = await web.arm("DELETE", f"{SETS}/nope/virtualMachines/0")

    assert answer.json()["error"]["code"] == "ResourceNotFound"


async def test_a_restart_during_a_pending_terminate_names_the_event(web):
    await web.arm("DELETE", ONE)

    answer = await web.arm("POST", f"{ONE}/restart")

    assert answer.status_code == 409
    assert "Terminate event" in answer.json()["error"]["message"]


async def test_an_evicted_instance_is_deallocated_or_gone_as_its_set_says(desk):
    await a_spot_set(desk, "Deallocate")

    answer = await desk.arm("POST", f"{SPOT}/virtualMachines/0/simulateEviction")

    assert answer.status_code == 204
    assert answer.content == b""


async def test_only_spot_instances_can_be_evicted(web):
    answer = await web.arm("POST", f"{ONE}/simulateEviction")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"


async def test_old_api_versions_do_not_know_evictions(desk):
    await a_spot_set(desk, "Delete")

    path = f"{SPOT}/virtualMachines/0/simulateEviction"
    answer = await desk.arm("POST", path, version="2019-12-01")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "InvalidApiVersionParameter"
