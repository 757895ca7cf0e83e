"""What is done to a set as a whole."""

import pytest

from tests.web.desk import OURS, SETS, WEB, a_model, with_notice

STATE = f"{WEB}/setOrchestrationServiceState"
CONVERT = f"{WEB}/convertToSinglePlacementGroup"
SUSPEND = {"serviceName": "AutomaticRepairs", "action": "Suspend"}


async def services(desk):
    return (await desk.arm("GET", f"{WEB}/instanceView")).json().get("orchestrationServices")


async def repairs(desk, enabled):
    policy = {"enabled": enabled, "gracePeriod": "PT30M"}
    return await desk.arm("PATCH", WEB, {"properties": {"automaticRepairsPolicy": policy}})


async def test_automatic_repairs_are_suspended_and_resumed(web):
    assert await services(web) is None
    await repairs(web, True)
    assert await services(web) == [{"serviceName": "AutomaticRepairs", "serviceState": "Running"}]

    answer = await web.arm("POST", STATE, SUSPEND)
    assert answer.status_code == 202
    assert (await services(web))[0]["serviceState"] == "Suspended"
    await web.arm("POST", STATE, SUSPEND | {"action": "resume"})
    assert (await services(web))[0]["serviceState"] == "Running"
    await repairs(web, False)
    assert (await services(web))[0]["serviceState"] == "NotRunning"


async def test_repairs_that_are_not_on_cannot_be_suspended(web):
    answer = await web.arm("POST", STATE, SUSPEND)

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({}, "serviceName"),
        ({"serviceName": "AutomaticRepairs"}, "action"),
        (SUSPEND | {"action": "Stop"}, "action"),
        (SUSPEND | {"serviceName": "Other"}, "serviceName"),
        (SUSPEND | {"action": 5}, "action"),
    ],
)
async def test_a_wrong_state_is_refused_by_its_name(web, body, target):
    answer = await web.arm("POST", STATE, body)

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == target


def spread(capacity):
    model = a_model(capacity)
    model["properties"]["singlePlacementGroup"] = False
    return model


async def groups(desk):
    return (await desk.send("GET", f"{OURS}/scopes")).json()["value"]


async def test_a_set_in_one_group_can_be_kept_to_it(desk):
    await desk.arm("PUT", WEB, spread(2))
    (group,) = await groups(desk)

    answer = await desk.arm("POST", CONVERT, {"activePlacementGroupId": group["id"]})

    assert answer.status_code == 200
    assert answer.content == b""
    shown = await desk.arm("GET", WEB)
    assert shown.json()["properties"]["singlePlacementGroup"] is True
    assert shown.headers["etag"] == '"2"'
    assert (await desk.arm("POST", CONVERT, {})).status_code == 200
    too_many = await desk.arm("PATCH", WEB, {"sku": {"capacity": 101}})
    assert too_many.status_code == 400
    assert (await desk.arm("PATCH", WEB, {"sku": {"capacity": 3}})).status_code == 200
    assert len(await groups(desk)) == 1


async def test_a_set_in_several_groups_cannot(desk):
    await desk.arm("PUT", WEB, spread(101))

    answer = await desk.arm("POST", CONVERT, {})
    assert answer.status_code == 409

    await desk.arm("PATCH", WEB, {"sku": {"capacity": 100}})
    first, second = sorted(await groups(desk), key=lambda group: -len(group["members"]))
    if second["members"]:
        for name in second["members"]:
            await desk.arm("DELETE", f"{WEB}/virtualMachines/{name.partition('_')[2]}")
    wrong = await desk.arm("POST", CONVERT, {"activePlacementGroupId": second["id"]})
    assert wrong.status_code == 400
    assert (await desk.arm("POST", CONVERT, {})).status_code == 200
    assert [group["id"] for group in await groups(desk)] == [first["id"]]


async def test_an_empty_set_is_converted_too(desk):
    await desk.arm("PUT", WEB, spread(0))

    assert (await desk.arm("POST", CONVERT, {})).status_code == 200
    assert (await desk.arm("PATCH", WEB, {"sku": {"capacity": 2}})).status_code == 200


@pytest.mark.parametrize("change", [{"zones": ["1"]}, {"mode": "Flexible"}])
async def test_flexible_and_zonal_sets_are_not_converted(desk, change):
    model = spread(1)
    if "mode" in change:
        model["properties"]["orchestrationMode"] = "Flexible"
    else:
        model |= change
    await desk.arm("PUT", WEB, model)

    assert (await desk.arm("POST", CONVERT, {})).status_code == 409


async def test_an_unknown_group_is_refused(desk):
    await desk.arm("PUT", WEB, spread(1))

    answer = await desk.arm("POST", CONVERT, {"activePlacementGroupId": "nope"})
    assert answer.json()["error"]["target"] == "activePlacementGroupId"


async def test_a_set_on_its_way_out_is_not_converted(web):
    await web.arm("DELETE", WEB)
    before = web.dump()
    refused = await web.arm("POST", CONVERT, {})

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "Conflict")
    assert web.dump() == before


async def test_a_set_is_applied_again(web):
    answer = await web.arm("POST", f"{WEB}/reapply")

    assert answer.status_code == 202
    followed = await web.send("GET", answer.headers["azure-asyncoperation"])
    assert followed.json()["status"] == "Succeeded"
    assert (await web.arm("GET", WEB)).headers["etag"] == '"1"'


@pytest.mark.parametrize("path", ["", "/virtualMachines/0"])
async def test_maintenance_that_a_user_begins_is_announced_as_a_redeploy(web, path):
    answer = await web.arm("POST", f"{WEB}{path}/performMaintenance", None)

    assert answer.status_code == 202
    shown = (await web.send("GET", f"{OURS}/events")).json()["value"]
    assert {(event["type"], event["source"]) for event in shown} == {("Redeploy", "User")}
    assert len(shown) == (1 if path else 2)


async def test_only_flexible_instances_hibernate(desk):
    flexible = with_notice()
    flexible["properties"]["orchestrationMode"] = "Flexible"
    for name, model, status in (("web", with_notice(), 409), ("flex", flexible, 202)):
        await desk.arm("PUT", f"{SETS}/{name}", model)
        answer = await desk.arm("POST", f"{SETS}/{name}/deallocate?hibernate=true")
        assert answer.status_code == status
