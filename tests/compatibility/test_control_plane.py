"""The control plane where it is stricter, plainer or quieter than the service (SPEC 10 to 12)."""

import pytest

from tests.web.desk import SETS, SUBSCRIPTION, WEB, a_model, with_notice


async def test_nothing_is_throttled_and_no_budget_is_told(web):
    for _ in range(50):
        answer = await web.arm("GET", WEB)
        assert answer.status_code == 200
        assert not [name for name in answer.headers if "ratelimit" in name.lower()]


async def test_an_instance_has_its_identity_and_model_and_an_etag(web):
    shown = (await web.arm("GET", f"{WEB}/virtualMachines/1")).json()

    assert (shown["name"], shown["instanceId"]) == ("web_1", "1")
    properties = shown["properties"]
    assert properties["latestModelApplied"] is True
    assert properties["modelDefinitionApplied"] == "VirtualMachineScaleSet"
    assert properties["osProfile"]["computerName"] == "web000001"
    assert {"vmId", "timeCreated", "provisioningState"} <= properties.keys()
    assert shown["etag"] == '"1"'


async def test_each_write_of_a_set_raises_its_etag_by_one(web):
    etags = [(await web.arm("PATCH", WEB, {"tags": {"n": n}})).headers["etag"] for n in "ab"]

    assert etags == ['"2"', '"3"']
    assert (await web.arm("GET", WEB)).json()["etag"] == '"3"'


async def test_a_deleted_instances_id_is_not_used_again(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/2?forceDeletion=true")

    await web.arm("PATCH", WEB, {"sku": {"capacity": 3}})

    assert await web.names() == ["web_0", "web_1", "web_3"]


async def test_overprovisioning_is_kept_in_the_model_and_not_done(world):
    model = with_notice(capacity=2)
    model["properties"]["overprovision"] = True

    await world.arm("PUT", WEB, model)

    assert (await world.arm("GET", WEB)).json()["properties"]["overprovision"] is True
    assert await world.names() == ["web_0", "web_1"]


async def test_deletions_at_the_same_time_join_instead_of_conflicting(web):
    first = await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["1"]})
    second = await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["1", "2"]})

    assert [first.status_code, second.status_code] == [202, 202]
    for event in await web.events():
        await web.approve(event["EventId"])
    assert await web.status(first) == await web.status(second) == "Succeeded"


async def test_a_restart_that_a_deletion_overtakes_is_preempted(web):
    restart = await web.arm("POST", f"{WEB}/restart", {"instanceIds": ["1"]})
    await web.arm("DELETE", f"{WEB}/virtualMachines/1?forceDeletion=true")

    failed = (await web.desk.send("GET", restart.headers["azure-asyncoperation"])).json()

    assert failed["status"] == "Failed"
    assert failed["error"]["code"] == "OperationPreempted"


async def test_protection_from_the_set_does_not_outlive_the_set(web):
    policy = {"protectFromScaleSetActions": True}
    body = {"properties": {"protectionPolicy": policy}}
    await web.arm("PUT", f"{WEB}/virtualMachines/0", body)

    await web.arm("POST", f"{WEB}/deallocate")
    view = (await web.arm("GET", f"{WEB}/virtualMachines/0/instanceView")).json()
    assert view["statuses"][1]["code"] == "PowerState/running"

    await web.arm("DELETE", f"{WEB}?forceDeletion=true")
    assert (await web.arm("GET", WEB)).status_code == 404


async def test_an_action_that_names_a_protected_instance_is_the_owners_wish(web):
    body = {"properties": {"protectionPolicy": {"protectFromScaleSetActions": True}}}
    await web.arm("PUT", f"{WEB}/virtualMachines/0", body)

    await web.arm("POST", f"{WEB}/deallocate", {"instanceIds": ["0"]})

    view = (await web.arm("GET", f"{WEB}/virtualMachines/0/instanceView")).json()
    assert view["statuses"][1]["code"] == "PowerState/deallocated"


async def test_the_owner_may_delete_what_is_protected(web):
    for policy in ("protectFromScaleIn", "protectFromScaleSetActions"):
        body = {"properties": {"protectionPolicy": {policy: True}}}
        await web.arm("PUT", f"{WEB}/virtualMachines/1", body)

    answer = await web.arm("DELETE", f"{WEB}/virtualMachines/1?forceDeletion=true")

    assert answer.status_code == 202
    assert await web.names() == ["web_0", "web_2"]


async def test_a_scale_in_that_protection_makes_impossible_is_refused(web):
    body = {"properties": {"protectionPolicy": {"protectFromScaleIn": True}}}
    await web.arm("PUT", f"{WEB}/virtualMachines/1", body)

    answer = await web.arm("PATCH", WEB, {"sku": {"capacity": 0}})

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"
    assert await web.events() == []
    assert (await web.arm("GET", WEB)).json()["sku"]["capacity"] == 3


@pytest.mark.parametrize("action", ["restart", "redeploy", "poweroff"])
async def test_a_deallocated_instance_is_refused_by_name_and_passed_over_by_a_star(web, action):
    await web.arm("POST", f"{WEB}/deallocate", {"instanceIds": ["0"]})

    named = await web.arm("POST", f"{WEB}/{action}", {"instanceIds": ["0"]})
    everyone = await web.arm("POST", f"{WEB}/{action}", {"instanceIds": ["*"]})

    assert (named.status_code, named.json()["error"]["code"]) == (409, "OperationNotAllowed")
    assert everyone.status_code == 202


@pytest.mark.parametrize("kind", ["Reboot", "Redeploy"])
async def test_a_policy_of_automatic_approval_starts_user_events_at_once(web, kind):
    policy = {
        f"userInitiated{kind}": {"automaticallyApprove": True},
        "scheduledEventsAdditionalPublishingTargets": {
            "eventGridAndResourceGraph": {"enable": True}
        },
    }
    patched = await web.arm("PATCH", WEB, {"properties": {"scheduledEventsPolicy": policy}})
    assert patched.json()["properties"]["scheduledEventsPolicy"] == policy
    action = "restart" if kind == "Reboot" else "redeploy"

    answer = await web.arm("POST", f"{WEB}/{action}", {"instanceIds": ["0"]})

    assert await web.status(answer) == "Succeeded"
    told = (await web.ours("GET", "events?all=true")).json()["value"]
    assert [(event["type"], event["source"]) for event in told] == [(kind, "User")]


async def test_a_set_lives_in_one_group_of_at_most_a_hundred_unless_told_otherwise(world):
    refused = await world.arm("PUT", WEB, a_model(101))
    assert (refused.status_code, refused.json()["error"]["target"]) == (400, "sku.capacity")

    wide = a_model(101)
    wide["properties"]["singlePlacementGroup"] = False
    assert (await world.arm("PUT", WEB, wide)).status_code == 201

    wide["properties"]["singlePlacementGroup"] = True
    assert (await world.arm("PUT", WEB, wide)).status_code == 409


async def test_a_zonal_set_has_a_group_of_a_hundred_in_each_zone(world):
    model = a_model(101)
    model["zones"] = ["1", "2"]

    assert (await world.arm("PUT", WEB, model)).status_code == 201

    scopes = (await world.ours("GET", "scopes")).json()["value"]
    assert sorted(len(scope["members"]) for scope in scopes) == [50, 51]


async def test_gpu_machines_with_one_fault_domain_are_groups_of_their_own(world):
    model = a_model(2)
    model["sku"]["name"] = "Standard_NC6s_v3"
    model["properties"]["platformFaultDomainCount"] = 1
    await world.arm("PUT", WEB, model)
    assert await world.events("web_0") == await world.events("web_1") == []

    await world.arm("POST", f"{WEB}/restart", {"instanceIds": ["0"]})

    assert len(await world.events("web_0")) == 1
    assert await world.events("web_1") == []


async def test_a_deallocated_instance_is_in_no_placement_group(web):
    url = "instance/compute/placementGroupId?api-version=2021-02-01&format=text"
    assert (await web.ask(url)).text

    await web.arm("POST", f"{WEB}/deallocate", {"instanceIds": ["0"]})

    assert (await web.ask(url)).text == ""
    view = (await web.arm("GET", f"{WEB}/virtualMachines/0/instanceView")).json()
    assert "placementGroupId" not in view


async def test_tags_are_replaced_whole(web):
    await web.arm("PATCH", WEB, {"tags": {"a": "1", "b": "2"}})

    answer = await web.arm("PATCH", WEB, {"tags": {"a": "1"}})

    assert answer.json()["tags"] == {"a": "1"}


async def test_there_is_one_subscription(world):
    foreign = await world.arm("GET", SETS.replace(SUBSCRIPTION, "other"))
    assert foreign.json()["error"]["code"] == "SubscriptionNotFound"


async def test_a_missing_set_that_is_deleted_is_no_error(world):
    assert (await world.arm("DELETE", WEB)).status_code == 204
