import asyncio
from datetime import timedelta

import pytest

from lastcall.app import availability_sets, resources, virtual_machines
from lastcall.engine.limits import SCOPE_MACHINES_MAX
from lastcall.wire.paths import parse_path
from tests.web.desk import ROOT, SUBSCRIPTION
from tests.web.machines import AVAILABILITY, a_group, a_vm, in_set

EVERYWHERE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/availabilitySets"
VMS = f"{ROOT}/virtualMachines"
MODEL = {
    "location": "West US",
    "sku": {"name": "aligned"},
    "properties": {"platformFaultDomainCount": 2, "platformUpdateDomainCount": "3"},
}
NOTICE = {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT5M"}}


@pytest.fixture
async def pair(desk):
    """The desk with an availability set of two virtual machines, watched."""

    assert (await desk.arm("PUT", AVAILABILITY, MODEL)).status_code == 200
    for name in ("db-0", "db-1"):
        body = in_set(scheduledEventsProfile=NOTICE)
        assert (await desk.arm("PUT", f"{VMS}/{name}", body)).status_code == 201
    await desk.watch()
    return desk


async def domains(desk, name):
    view = (await desk.arm("GET", f"{VMS}/{name}/instanceView")).json()
    return view["platformFaultDomain"], view["platformUpdateDomain"]


async def test_a_set_is_shown_with_its_defaults_and_without_machines(desk):

    answer = await desk.arm("PUT", AVAILABILITY, {"location": "westus"})

    assert answer.status_code == 200
    assert "azure-asyncoperation" not in answer.headers
    assert answer.json() == {
        "name": "pair",
        "id": AVAILABILITY,
        "type": "Microsoft.Compute/availabilitySets",
        "location": "westus",
        "sku": {"name": "Classic"},
        "properties": {
            "platformFaultDomainCount": 2,
            "platformUpdateDomainCount": 5,
            "virtualMachines": [],
        },
    }
    assert (await desk.arm("GET", AVAILABILITY)).json() == answer.json()


async def test_a_set_names_its_machines(pair):
    shown = (await pair.arm("GET", AVAILABILITY)).json()

    assert shown["sku"] == {"name": "Aligned"}
    assert shown["properties"] == {
        "platformFaultDomainCount": 2,
        "platformUpdateDomainCount": 3,
        "virtualMachines": [{"id": f"{VMS}/db-0"}, {"id": f"{VMS}/db-1"}],
    }


async def test_machines_are_spread_over_the_domains_in_turn(pair):
    await pair.arm("PUT", f"{VMS}/db-2", in_set())
    await pair.arm("PUT", f"{VMS}/db-3", in_set())

    found = [await domains(pair, f"db-{number}") for number in range(4)]
    assert found == [(0, 0), (1, 1), (0, 2), (1, 0)]


async def test_the_set_is_one_scope_and_every_member_sees_all_of_its_events(pair):
    await pair.arm("POST", f"{VMS}/db-1/restart")

    (published,) = pair.platform.directory.scopes()
    assert published.scope.kind == "availabilitySet"
    (event,) = published.scope.events.values()
    directory = pair.platform.directory
    assert event.machines == (directory.named("db-1"),)
    assert directory.scope_of(directory.named("db-0")) is published


async def test_one_announcement_may_name_all_machines_of_the_set(pair):
    body = {"type": "Freeze", "instances": ["db-0", "db-1"]}
    answer = await pair.send("POST", "/lastcall/v1/events", body)

    assert answer.json()["resources"] == ["db-0", "db-1"]


async def test_a_set_with_machines_cannot_be_deleted(pair):
    before = pair.dump()
    answer = await pair.arm("DELETE", AVAILABILITY)

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "OperationNotAllowed"
    assert pair.dump() == before


async def test_an_empty_set_is_deleted_with_its_scope(pair):
    for name in ("db-0", "db-1"):
        await pair.arm("DELETE", f"{VMS}/{name}?forceDeletion=true")
    shown = (await pair.arm("GET", AVAILABILITY)).json()
    assert shown["properties"]["virtualMachines"] == []
    answer = await pair.arm("DELETE", AVAILABILITY)

    assert answer.status_code == 200
    assert (await pair.arm("GET", AVAILABILITY)).status_code == 404
    assert list(pair.platform.directory.scopes()) == []
    assert (await pair.arm("DELETE", AVAILABILITY)).status_code == 204


async def test_a_deletion_of_one_machine_leaves_the_others_their_scope(pair):
    await pair.arm("DELETE", f"{VMS}/db-0")
    (published,) = pair.platform.directory.scopes()
    assert [e.type for e in published.scope.events.values()] == ["Terminate"]
    await pair.settle(timedelta(minutes=5))

    assert (await pair.arm("GET", f"{VMS}/db-0")).status_code == 404
    assert (await pair.arm("GET", f"{VMS}/db-1")).status_code == 200
    shown = (await pair.arm("GET", AVAILABILITY)).json()
    assert shown["properties"]["virtualMachines"] == [{"id": f"{VMS}/db-1"}]


async def test_sets_are_listed_by_group_and_subscription(pair):
    for path in (f"{ROOT}/availabilitySets", EVERYWHERE):
        listed = (await pair.arm("GET", path)).json()["value"]
        assert [entry["name"] for entry in listed] == ["pair"]


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"location": "eastus"}, "location"),
        ({"properties": {"platformFaultDomainCount": 3}}, "platformFaultDomainCount"),
        ({"properties": {"platformUpdateDomainCount": 9}}, "platformUpdateDomainCount"),
    ],
)
async def test_what_a_set_keeps_for_life_cannot_be_changed(pair, change, target):
    answer = await pair.arm("PATCH", AVAILABILITY, change)

    assert answer.status_code == 409
    assert answer.json()["error"]["target"] == target


async def test_tags_can_be_changed(pair):
    answer = await pair.arm("PATCH", AVAILABILITY, {"tags": {"a": "b"}})

    assert answer.status_code == 200
    assert (await pair.arm("GET", AVAILABILITY)).json()["tags"] == {"a": "b"}


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({}, "location"),
        ({"location": "westus", "sku": {"name": "Golden"}}, "sku.name"),
        (
            {"location": "westus", "properties": {"platformFaultDomainCount": 4}},
            "properties.platformFaultDomainCount",
        ),
        (
            {"location": "westus", "properties": {"platformUpdateDomainCount": 0}},
            "properties.platformUpdateDomainCount",
        ),
    ],
)
async def test_a_wrong_set_is_refused_by_its_path(desk, body, target):

    answer = await desk.arm("PUT", AVAILABILITY, body)

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == target


async def test_a_machine_needs_a_set_that_exists_in_its_own_group_and_location(pair):
    await a_group(pair, "Other")
    missing = await pair.arm("PUT", f"{VMS}/x", in_set(f"{ROOT}/availabilitySets/none"))
    elsewhere = await pair.arm(
        "PUT", f"{VMS.replace('/Group/', '/Other/')}/x", in_set(AVAILABILITY)
    )
    eastern = await pair.arm("PUT", f"{VMS}/x", in_set() | {"location": "eastus"})

    assert missing.status_code == 404
    assert "availabilitySets/none" in missing.json()["error"]["message"]
    assert elsewhere.status_code == eastern.status_code == 400
    assert "same resource group" in elsewhere.json()["error"]["message"]
    assert "same location" in eastern.json()["error"]["message"]


async def test_a_set_holds_only_so_many_machines(pair):
    def fill(tx, moment):
        for number in range(SCOPE_MACHINES_MAX - 2):
            path = parse_path(f"{VMS}/m{number}")
            virtual_machines.write(tx, path, in_set(), "2024-07-01", moment)

    await pair.platform.transact(fill)
    answer = await pair.arm("PUT", f"{VMS}/last", in_set())

    assert answer.status_code == 409
    assert "has 200 virtual machines already" in answer.json()["error"]["message"]


async def test_a_group_that_goes_takes_its_sets_and_their_machines_along(pair):
    """As `app.groups` deletes what is in a group: every part waits for the notices."""

    def delete(tx, moment):
        group = tx.resource(parse_path(AVAILABILITY.partition("/providers/")[0]).id)
        whole = resources.begin(tx, group, "delete group", moment, removes=True)
        whole = resources.expect(tx, whole, 3, moment)
        found = tx.resource(parse_path(AVAILABILITY).id)
        availability_sets.delete(tx, found, moment, part_of=whole.id, with_machines=True)
        for name in ("db-0", "db-1"):
            vm = tx.resource(parse_path(f"{VMS}/{name}").id)
            virtual_machines.delete(tx, vm, moment, part_of=whole.id)
        return tx.operation(whole.id)

    operation = await pair.platform.transact(delete)
    await pair.settle()
    assert not operation.is_over
    await pair.settle(timedelta(minutes=5))

    ended = await pair.platform.read(lambda r: r.operation(operation.id))
    assert ended.status == "Succeeded"
    assert await pair.platform.read(lambda r: r.resources()) == []
    assert list(pair.platform.directory.scopes()) == []


async def test_many_machines_at_once_all_find_their_place(pair):
    answers = await asyncio.gather(
        *(pair.send("PUT", f"{VMS}/n{n}?api-version=2024-07-01", in_set()) for n in range(20))
    )
    await pair.settle()

    assert {answer.status_code for answer in answers} == {201}
    shown = (await pair.arm("GET", AVAILABILITY)).json()
    assert len(shown["properties"]["virtualMachines"]) == 22


async def test_a_machine_of_its_own_shares_no_scope_with_the_set(pair):
    await pair.arm("PUT", f"{VMS}/lone", a_vm())

    kinds = sorted(published.scope.kind for published in pair.platform.directory.scopes())
    assert kinds == ["availabilitySet", "virtualMachine"]


async def test_an_empty_set_outlives_its_machines_and_the_24_hours(pair):
    await pair.watch()
    for name in ("db-0", "db-1"):
        await pair.arm("DELETE", f"{VMS}/{name}?forceDeletion=true")
    await pair.settle(timedelta(hours=30))

    assert (await pair.arm("GET", AVAILABILITY)).status_code == 200
    (scope,) = pair.platform.directory.scopes()
    answer = await pair.send("DELETE", f"/lastcall/v1/scopes/{scope.scope.id}")
    assert answer.status_code == 409
    assert (await pair.arm("DELETE", AVAILABILITY)).status_code == 200
    assert list(pair.platform.directory.scopes()) == []


async def test_a_set_on_its_way_out_takes_nothing_in(pair):
    await pair.watch()
    group = AVAILABILITY.partition("/providers/")[0]
    name = f"{group}/providers/Microsoft.Resources/deployments/none"
    template = {"$schema": "x", "contentVersion": "1.0.0.0", "resources": []}
    body = {"properties": {"template": template, "mode": "Complete"}}
    assert (await pair.arm("PUT", name, body)).status_code == 201

    shown = (await pair.arm("GET", AVAILABILITY)).json()
    assert shown["properties"].get("virtualMachines")
    assert (await pair.arm("PUT", f"{VMS}/late", in_set(AVAILABILITY))).status_code == 409
    assert (await pair.arm("PUT", AVAILABILITY, {"location": "westus"})).status_code == 409
    await pair.settle(timedelta(minutes=20))
    assert (await pair.arm("GET", AVAILABILITY)).status_code == 404
    assert (await pair.arm("GET", VMS)).json()["value"] == []


async def test_a_complete_deployment_does_not_take_a_set_from_its_machines(pair):
    group = AVAILABILITY.partition("/providers/")[0]
    name = f"{group}/providers/Microsoft.Resources/deployments/some"
    machines = [
        {
            "type": "Microsoft.Compute/virtualMachines",
            "apiVersion": "2024-07-01",
            "name": name,
            **in_set(AVAILABILITY),
        }
        for name in ("db-0", "db-1")
    ]
    template = {"$schema": "x", "contentVersion": "1.0.0.0", "resources": machines}
    body = {"properties": {"template": template, "mode": "Complete"}}
    answer = await pair.arm("PUT", name, body)
    status = (await pair.send("GET", answer.headers["azure-asyncoperation"])).json()

    assert status["status"] == "Failed"
    assert status["error"]["details"][0]["code"] == "OperationNotAllowed"
    assert len((await pair.arm("GET", VMS)).json()["value"]) == 2
    assert (await pair.arm("GET", AVAILABILITY)).status_code == 200
