import pytest

from tests.web.desk import ROOT, SETS, SUBSCRIPTION, WEB, a_model, with_notice

LOCATIONS = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations"
NOT_FOUND = (
    "The Resource 'Microsoft.Compute/virtualMachineScaleSets/Web' under resource group 'Group'"
    " was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
)


def ids(answer):
    return [entry["instanceId"] for entry in answer.json()["value"]]


async def test_creating_a_set_answers_201_with_what_az_follows(desk):
    answer = await desk.arm("PUT", WEB, with_notice())

    assert answer.status_code == 201
    assert answer.json()["properties"]["provisioningState"] == "Creating"
    operation = answer.headers["x-ms-request-id"]
    assert answer.headers["azure-asyncoperation"] == (
        f"http://127.0.0.1:7080{LOCATIONS}/westus/operations/{operation}?api-version=2024-07-01"
    )
    assert answer.headers["azure-asyncnotification"] == "Enabled"
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["etag"] == '"1"'
    assert "location" not in answer.headers


async def test_a_created_set_is_shown_as_succeeded_with_its_model(web):
    shown = (await web.arm("GET", WEB)).json()

    assert shown["properties"]["provisioningState"] == "Succeeded"
    assert shown["location"] == "westus"
    assert shown["sku"] == {"name": "Standard_D2s_v5", "tier": "Standard", "capacity": 2}
    profile = shown["properties"]["virtualMachineProfile"]
    assert profile["scheduledEventsProfile"] == {
        "terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT10M"}
    }


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_an_update_answers_200_and_keeps_what_it_does_not_name(web, method):
    answer = await web.arm(method, WEB, {"location": "westus", "tags": {"a": "b"}})

    assert answer.status_code == 200
    assert answer.json()["properties"]["provisioningState"] == "Updating"
    assert answer.json()["sku"]["capacity"] == 2
    assert answer.headers["etag"] == '"2"'
    assert "azure-asyncoperation" in answer.headers
    assert "location" not in answer.headers


async def test_disabling_the_notification_empties_its_profile(web):
    profile = {"terminateNotificationProfile": {"enable": False}}
    body = {"properties": {"virtualMachineProfile": {"scheduledEventsProfile": profile}}}

    answer = await web.arm("PATCH", WEB, body)

    assert answer.json()["properties"]["virtualMachineProfile"]["scheduledEventsProfile"] == {}


async def test_an_old_api_version_does_not_know_the_profile(desk):
    answer = await desk.arm("PUT", WEB, with_notice(), version="2018-10-01")

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "BadRequest"
    assert error["message"].startswith(
        "Could not find member 'scheduledEventsProfile' on object of type 'VirtualMachineProfile'"
    )
    assert b"\r\n  " in answer.content


async def test_an_old_api_version_is_not_shown_what_it_could_not_send_back(web):
    answer = await web.arm("GET", WEB, version="2018-10-01")

    assert "scheduledEventsProfile" not in answer.json()["properties"]["virtualMachineProfile"]


async def test_what_the_service_adds_is_shown_to_the_versions_that_know_it(web):
    old = await web.arm("GET", WEB, version="2019-03-01")
    new = await web.arm("GET", WEB, version="2024-03-01")

    assert not {"etag", "timeCreated"} & (old.json().keys() | old.json()["properties"].keys())
    assert "timeCreated" not in old.json()["properties"]["virtualMachineProfile"]
    assert "etag" not in old.headers
    assert new.json()["etag"] == new.headers["etag"] == '"1"'
    assert new.json()["properties"]["timeCreated"]


async def test_no_answer_is_kept_or_taken_for_a_page(web):
    for path in (WEB, f"{WEB}/nothing"):
        answer = await web.arm("GET", path)
        assert answer.headers["cache-control"] == answer.headers["pragma"] == "no-cache"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [WEB.upper(), WEB.lower(), WEB.replace("resourceGroups", "resourcegroups"), f"{WEB}/"],
)
async def test_paths_are_read_in_whatever_case(web, path):
    answer = await web.arm("GET", path)

    assert answer.status_code == 200
    assert answer.json()["id"] == WEB


async def test_a_set_that_is_not_there_is_refused_in_arms_words(desk):
    for method in ("GET", "PATCH"):
        answer = await desk.arm(method, f"{SETS}/Web", {} if method == "PATCH" else None)

        assert answer.status_code == 404
        assert answer.json() == {"error": {"code": "ResourceNotFound", "message": NOT_FOUND}}
        assert b"\n" not in answer.content


async def test_names_of_members_are_read_in_whatever_case_and_shown_as_documented(desk):
    terminate = {"Enable": True, "NotBeforeTimeout": "PT7M"}
    profile = {"ScheduledEventsProfile": {"TerminateNotificationProfile": terminate}}
    model = {
        "Location": "westus",
        "SKU": {"Name": "Standard_D2s_v5", "Capacity": 1},
        "Properties": {"VirtualMachineProfile": profile},
    }

    early = await desk.arm("PUT", WEB, model, version="2018-10-01")
    made = await desk.arm("PUT", WEB, model)
    twice = await desk.arm("PATCH", WEB, {"sku": {"capacity": 2, "Capacity": 3}})

    assert early.status_code == 400
    assert "scheduledEventsProfile" in early.json()["error"]["message"]
    assert made.status_code == 201
    shown = made.json()["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]
    assert shown == {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT7M"}}
    assert (twice.status_code, twice.json()["error"]["code"]) == (400, "InvalidRequestContent")


async def test_a_set_is_listed_by_group_subscription_and_location(web):
    for path in (
        SETS,
        SETS.replace("/Group/", "/gROUP/"),
        f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachineScaleSets",
        f"{LOCATIONS}/West%20US/virtualMachineScaleSets",
    ):
        assert [s["name"] for s in (await web.arm("GET", path)).json()["value"]] == ["web"]


async def test_elsewhere_the_list_is_empty(web):
    path = f"{LOCATIONS}/eastus/virtualMachineScaleSets"

    assert (await web.arm("GET", path)).json() == {"value": []}


async def test_another_subscription_does_not_exist(web):
    answer = await web.arm("GET", SETS.replace(SUBSCRIPTION, "other"))

    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "code": "SubscriptionNotFound",
        "message": "The subscription 'other' could not be found.",
    }


async def test_a_write_with_an_outdated_etag_is_refused(web):
    answer = await web.arm("PATCH", WEB, {"tags": {}}, if_match='"7"')

    assert answer.status_code == 412
    assert answer.json()["error"]["code"] == "PreconditionFailed"


async def test_a_write_with_the_right_etag_is_made(web):
    assert (await web.arm("PATCH", WEB, {"tags": {}}, if_match='"1"')).status_code == 200


async def test_if_none_match_refuses_a_set_that_exists(web):
    assert (await web.arm("PUT", WEB, with_notice(), if_none_match="*")).status_code == 412


@pytest.mark.parametrize("etag", ['"1"', '"7"', ""])
async def test_if_none_match_knows_no_etags(web, etag):
    answer = await web.arm("PUT", WEB, with_notice(), if_none_match=etag)

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "If-None-Match"


async def test_if_none_match_creates_a_set_that_does_not_exist(web):
    answer = await web.arm("PUT", f"{SETS}/new", a_model(0), if_none_match="*")

    assert answer.status_code == 201


async def test_a_put_without_capacity_does_not_bring_deleted_instances_back(web):
    await web.arm("POST", f"{WEB}/delete?forceDeletion=true", {"instanceIds": ["0"]})

    answer = await web.arm("PUT", WEB, {"location": "westus", "tags": {}})

    assert answer.json()["sku"]["capacity"] == 1
    assert ids(await web.arm("GET", f"{WEB}/virtualMachines")) == ["1"]


async def test_what_a_set_keeps_for_life_cannot_be_changed(web):
    answer = await web.arm("PUT", WEB, {"location": "eastus"})

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "PropertyChangeNotAllowed"


async def test_a_new_profile_is_not_on_instances_until_they_are_upgraded(web):
    await web.arm("PATCH", WEB, with_notice("PT5M"))

    def latest(answer):
        return [e["properties"]["latestModelApplied"] for e in answer.json()["value"]]

    assert latest(await web.arm("GET", f"{WEB}/virtualMachines")) == [False, False]
    assert (await web.arm("POST", f"{WEB}/manualUpgrade", {"instanceIds": ["1"]})).status_code
    assert latest(await web.arm("GET", f"{WEB}/virtualMachines")) == [False, True]


async def test_the_view_of_a_set_counts_its_instances(web):
    shown = (await web.arm("GET", f"{WEB}/instanceView")).json()

    assert shown["virtualMachine"]["statusesSummary"] == [
        {"code": "ProvisioningState/succeeded", "count": 2}
    ]


async def test_the_sizes_of_a_set_are_its_own(web):
    shown = (await web.arm("GET", f"{WEB}/skus")).json()["value"]

    assert [entry["sku"] for entry in shown] == [{"name": "Standard_D2s_v5", "tier": "Standard"}]


ACTIONS = ["deallocate", "powerOff", "restart", "start", "redeploy", "reimage", "reimageAll"]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("body", [None, {}, {"instanceIds": ["*"]}, {"instanceIds": ["0"]}])
async def test_an_action_is_accepted_with_both_headers_and_no_body(web, action, body):
    answer = await web.arm("POST", f"{WEB}/{action}", body)

    assert answer.status_code == 202
    assert answer.content == b""
    followed = answer.headers["azure-asyncoperation"]
    assert answer.headers["location"] == f"{followed}&monitor=true"
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("action", ["delete", "manualupgrade"])
async def test_some_actions_must_say_which_instances_they_mean(web, action):
    before = web.dump()

    for body in (None, {}):
        answer = await web.arm("POST", f"{WEB}/{action}", body)
        assert answer.status_code == 400
        assert answer.json()["error"]["target"] == "instanceIds"
    assert web.dump() == before


async def test_an_unknown_instance_in_an_action_is_named(web):
    answer = await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0", "1181"]})

    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": "InvalidParameter",
        "message": "The provided instanceId 1181 is not an active Virtual Machine Scale Set VM"
        " instanceId.",
        "target": "instanceIds",
    }


async def test_a_deletion_waits_for_the_notice_while_capacity_drops_at_once(web):
    answer = await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0"]})

    assert (await web.arm("GET", WEB)).json()["sku"]["capacity"] == 1
    shown = await web.arm("GET", f"{WEB}/virtualMachines/0")
    assert shown.json()["properties"]["provisioningState"] == "Deleting"
    followed = await web.send("GET", answer.headers["azure-asyncoperation"])
    assert followed.json()["status"] == "InProgress"


async def test_a_forced_deletion_does_not_wait(web):
    await web.arm("POST", f"{WEB}/delete?FORCEDELETION=True", {"instanceIds": ["*"]})

    assert ids(await web.arm("GET", f"{WEB}/virtualMachines")) == []


async def test_a_deleted_set_goes_with_its_last_instance(web):
    answer = await web.arm("DELETE", f"{WEB}?forceDeletion=true")

    assert answer.status_code == 202
    assert answer.headers["location"].endswith("&monitor=true")
    assert (await web.arm("GET", WEB)).status_code == 404
    assert (await web.arm("DELETE", WEB)).status_code == 204
    assert (await web.send("GET", answer.headers["location"])).status_code == 200


async def test_a_set_on_its_way_out_cannot_be_written(web):
    await web.arm("DELETE", WEB)

    answer = await web.arm("PUT", WEB, with_notice())

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "Conflict"


async def test_a_missing_location_is_named(desk):
    answer = await desk.arm("PUT", WEB, {"sku": {"name": "Standard_D2s_v5"}})

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "LocationRequired"


async def test_an_unknown_action_is_an_unknown_resource_type(web):
    answer = await web.arm("POST", f"{WEB}/explode")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "InvalidResourceType"


async def test_head_answers_like_get_without_a_body(web):
    answer = await web.arm("HEAD", WEB)

    assert answer.status_code == 200
    assert answer.content == b""


async def test_an_empty_name_never_addresses_something_else(web):
    before = web.dump()

    for path in (f"{SETS}//virtualMachines/0", f"{ROOT}/virtualMachineScaleSets/", f"{WEB}//"):
        assert (await web.arm("DELETE", path)).status_code in (404, 405)
    assert web.dump() == before


async def test_older_api_versions_do_not_know_how_to_force(web):
    path = f"{WEB}/virtualMachines/0?forceDeletion=true"

    await web.arm("DELETE", path, version="2019-03-01")
    held = (await web.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    await web.arm("DELETE", path, version="2020-12-01")

    assert held[0]["properties"]["provisioningState"] == "Deleting"
    assert ids(await web.arm("GET", f"{WEB}/virtualMachines")) == ["1"]


async def test_a_group_without_a_model_has_no_instances(desk):
    body = {"location": "westus", "properties": {"orchestrationMode": "Flexible"}}
    answer = await desk.arm("PUT", WEB, body)

    assert answer.status_code == 201
    assert "sku" not in answer.json()
    assert ids(await desk.arm("GET", f"{WEB}/virtualMachines")) == []
