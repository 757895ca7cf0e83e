from datetime import timedelta

import pytest
from msgspec.structs import replace

from lastcall.app import cloud_services, machines, resources
from lastcall.app.machines import machines_of
from lastcall.engine.errors import ConflictError
from lastcall.engine.model import Model
from lastcall.wire.paths import parse_path
from tests.web.desk import ROOT, SUBSCRIPTION
from tests.web.machines import SERVICE, a_service

EVERYWHERE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/cloudServices"
INSTANCES = f"{SERVICE}/roleInstances"
FIRST = f"{INSTANCES}/FrontEnd_IN_0"


@pytest.fixture
async def shop(desk):
    """The desk with a service of two front ends and one back end, watched."""

    answer = await desk.arm("PUT", SERVICE, a_service(FrontEnd=2, BackEnd=1))
    assert answer.status_code == 201
    await desk.watch()
    return desk


async def names(desk):
    listed = (await desk.arm("GET", INSTANCES)).json()["value"]
    return sorted(entry["name"] for entry in listed)


async def status(desk, answer):
    return (await desk.send("GET", answer.headers["azure-asyncoperation"])).json()["status"]


def events(desk):
    (published,) = desk.platform.directory.scopes()
    return [event for event in published.scope.events.values() if event.type is not None]


async def test_a_service_is_created_with_its_role_instances_in_one_scope(shop):
    assert await names(shop) == ["BackEnd_IN_0", "FrontEnd_IN_0", "FrontEnd_IN_1"]
    (published,) = shop.platform.directory.scopes()
    assert published.scope.kind == "cloudService"


async def test_a_creation_is_followed_like_every_write(desk):

    answer = await desk.arm("PUT", SERVICE, a_service(Web=1))

    assert answer.json()["properties"]["provisioningState"] == "Creating"
    assert await status(desk, answer) == "Succeeded"
    shown = (await desk.arm("GET", SERVICE)).json()
    assert shown["properties"]["provisioningState"] == "Succeeded"
    assert shown["type"] == "Microsoft.Compute/cloudServices"
    assert shown["id"] == SERVICE


async def test_roles_and_instances_are_shown(shop):
    roles = (await shop.arm("GET", f"{SERVICE}/roles")).json()["value"]
    role = (await shop.arm("GET", f"{SERVICE}/roles/frontend")).json()
    instance = (await shop.arm("GET", FIRST)).json()
    view = (await shop.arm("GET", f"{FIRST}/instanceView")).json()
    expanded = (await shop.arm("GET", f"{FIRST}?$expand=instanceView")).json()

    assert [(r["name"], r["sku"]["capacity"]) for r in roles] == [("FrontEnd", 2), ("BackEnd", 1)]
    assert role == roles[0]
    assert instance["id"] == FIRST
    assert instance["type"] == "Microsoft.Compute/cloudServices/roleInstances"
    assert instance["sku"] == {"name": "Standard_D1_v2", "tier": "Standard"}
    assert [s["code"] for s in view["statuses"]] == [
        "ProvisioningState/succeeded",
        "RoleState/RoleStateStarted",
    ]
    assert (view["platformFaultDomain"], view["platformUpdateDomain"]) == (0, 0)
    assert expanded["properties"]["instanceView"] == view


async def test_the_view_of_a_service_counts(shop):
    await shop.arm("POST", f"{SERVICE}/poweroff")
    view = (await shop.arm("GET", f"{SERVICE}/instanceView")).json()

    assert view["roleInstance"]["statusesSummary"] == [
        {"code": "ProvisioningState/succeeded", "count": 3},
        {"code": "RoleState/RoleStateStopped", "count": 3},
    ]
    await shop.arm("POST", f"{SERVICE}/start")
    again = (await shop.arm("GET", f"{SERVICE}/instanceView")).json()
    assert again["roleInstance"]["statusesSummary"][1]["code"] == "RoleState/RoleStateStarted"


async def test_a_restart_of_an_instance_is_announced_to_the_whole_service(shop):
    answer = await shop.arm("POST", f"{FIRST}/restart")

    assert answer.status_code == 202
    (event,) = events(shop)
    assert (event.type, event.source) == ("Reboot", "User")
    assert event.machines == (shop.platform.directory.named("FrontEnd_IN_0"),)
    assert await status(shop, answer) == "InProgress"


@pytest.mark.parametrize("action", ["reimage", "rebuild"])
async def test_a_reimage_is_not_announced(shop, action):
    answer = await shop.arm("POST", f"{FIRST}/{action}")

    assert await status(shop, answer) == "Succeeded"
    assert events(shop) == []


async def test_several_instances_are_named_in_the_body(shop):
    body = {"roleInstances": ["FrontEnd_IN_0", "frontend_in_0", "BackEnd_IN_0"]}
    answer = await shop.arm("POST", f"{SERVICE}/restart", body)
    everyone = await shop.arm("POST", f"{SERVICE}/reimage", {"roleInstances": ["*"]})

    assert answer.status_code == everyone.status_code == 202
    assert len(events(shop)) == 2
    assert await status(shop, everyone) == "Succeeded"


@pytest.mark.parametrize("body", [{}, {"roleInstances": []}, {"roleInstances": "x"}])
async def test_a_body_must_name_them(shop, body):
    answer = await shop.arm("POST", f"{SERVICE}/restart", body)

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "roleInstances"


async def test_an_unknown_instance_is_not_found(shop):
    body = {"roleInstances": ["FrontEnd_IN_0", "FrontEnd_IN_9"]}
    answers = [
        await shop.arm("POST", f"{SERVICE}/restart", body),
        await shop.arm("GET", f"{INSTANCES}/FrontEnd_IN_9"),
        await shop.arm("GET", f"{SERVICE}/roles/Middle"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert events(shop) == []
    assert (await shop.arm("DELETE", f"{INSTANCES}/FrontEnd_IN_9")).status_code == 204


async def test_a_deleted_instance_stays_away_until_the_role_is_written(shop):
    answer = await shop.arm("DELETE", FIRST)
    assert await status(shop, answer) == "Succeeded"
    await shop.arm("PATCH", SERVICE, {"tags": {"a": "b"}})

    assert await names(shop) == ["BackEnd_IN_0", "FrontEnd_IN_1"]
    shown = (await shop.arm("GET", SERVICE)).json()
    roles = shown["properties"]["roleProfile"]["roles"]
    assert [role["sku"]["capacity"] for role in roles] == [1, 1]
    await shop.arm("PUT", SERVICE, a_service(FrontEnd=2, BackEnd=1))
    assert await names(shop) == ["BackEnd_IN_0", "FrontEnd_IN_0", "FrontEnd_IN_1"]


async def test_a_role_grows_and_shrinks_from_the_end(shop):
    await shop.arm("PUT", SERVICE, a_service(FrontEnd=3, BackEnd=0))
    assert await names(shop) == ["FrontEnd_IN_0", "FrontEnd_IN_1", "FrontEnd_IN_2"]

    await shop.arm("PUT", SERVICE, a_service(FrontEnd=1))
    assert await names(shop) == ["FrontEnd_IN_0"]


async def test_services_are_listed_by_group_and_subscription(shop):
    for path in (f"{ROOT}/cloudServices", EVERYWHERE):
        listed = (await shop.arm("GET", path)).json()["value"]
        assert [entry["name"] for entry in listed] == ["shop"]


@pytest.mark.parametrize(
    ("query", "reached"), [("", "InProgress"), ("?forceDeletion=true", "Succeeded")]
)
async def test_a_forced_deletion_of_an_instance_does_not_wait(shop, query, reached):
    # No role gives notice; a machine that has it all the same shows what was asked for.
    def work(tx, moment):
        service = resources.known(tx, parse_path(SERVICE))
        first = cloud_services.member(tx, service, "FrontEnd_IN_0")
        name = "FrontEnd_IN_7"
        noticed = replace(
            first,
            id=moment.ids.machine_id(),
            name=name,
            instance_id=name,
            path=f"{INSTANCES}/{name}",
            model=Model(notice=timedelta(minutes=10)),
        )
        operation = resources.begin(tx, service, "write", moment)
        machines.admit(tx, [(service.scope_id, noticed)], operation.id, moment)
        resources.expect(tx, operation, 1, moment)

    await shop.platform.transact(work)
    await shop.settle()

    answer = await shop.arm("DELETE", f"{INSTANCES}/FrontEnd_IN_7{query}")

    assert await status(shop, answer) == reached


async def test_a_service_is_deleted_with_everything(shop):
    answer = await shop.arm("DELETE", SERVICE)

    assert answer.status_code == 202
    assert await status(shop, answer) == "Succeeded"
    assert (await shop.arm("GET", SERVICE)).status_code == 404
    assert list(shop.platform.directory.scopes()) == []
    assert (await shop.arm("DELETE", SERVICE)).status_code == 204


async def test_a_service_that_is_being_deleted_is_shown_so_and_not_written(shop):
    def work(tx, moment):
        path = parse_path(SERVICE)
        cloud_services.delete(tx, tx.resource(path.id), moment)
        leaving = tx.resource(path.id)
        with pytest.raises(ConflictError, match="is being deleted"):
            cloud_services.write(tx, path, a_service(), "2024-07-01", moment)
        return cloud_services.provisioning(leaving, machines_of(tx, leaving))

    assert await shop.platform.transact(work) == "Deleting"


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({}, "location"),
        ({"location": "westus", "tags": []}, "tags"),
        (a_service(Web=101), "properties.roleProfile.roles[0].sku.capacity"),
        (a_service(Web=60, Worker=60), "properties.roleProfile.roles"),
        (a_service(Web=1, web=1), "properties.roleProfile.roles"),
        (a_service(a_IN_b=1), "properties.roleProfile.roles[0].name"),
        (
            {"location": "westus", "properties": {"roleProfile": {"roles": {}}}},
            "properties.roleProfile.roles",
        ),
        (
            {"location": "westus", "properties": {"roleProfile": {"roles": [{}]}}},
            "properties.roleProfile.roles[0].name",
        ),
    ],
)
async def test_a_wrong_service_is_refused_by_its_path(desk, body, target):

    before = desk.dump()
    answer = await desk.arm("PUT", SERVICE, body)

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["target"] == target
    assert desk.dump() == before


async def test_a_service_does_not_move(shop):
    answer = await shop.arm("PATCH", SERVICE, {"location": "eastus"})

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "PropertyChangeNotAllowed"
