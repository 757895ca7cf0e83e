"""Resources that are due: each is looked at as its type wants it, and none stops the others."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from lastcall.app import autoscale, metrics
from lastcall.app.reconcile import attend, attendants
from lastcall.engine.limits import RESOURCES_PER_PASS_MAX
from lastcall.engine.resources import ActivityFilter, Resource, ResourceId

from .builders import MINUTE, NOON, Fleet

GROUP = "/subscriptions/s/resourceGroups/rg"
CAPACITY = {"minimum": "3", "maximum": "3", "default": "3"}
SET = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/web"
PROPERTIES = {
    "enabled": True,
    "targetResourceUri": SET,
    "profiles": [{"name": "default", "capacity": CAPACITY, "rules": []}],
}


def a_resource(kind=autoscale.KIND, name="auto", **changes):
    path = f"{GROUP}/providers/{kind}/{name}"
    resource = Resource(
        id=ResourceId(path.lower()),
        path=path,
        kind=kind,
        group="rg",
        content={"properties": PROPERTIES},
        created_at=NOON,
        due_at=NOON,
    )
    return replace(resource, **changes)


async def kept(fleet, resource):
    return await fleet.platform.read(lambda r: r.resource(resource.id))


async def put(fleet, *resources):
    await fleet.platform.transact(lambda tx, _: [tx.put_resource(each) for each in resources])


async def failures(fleet):
    found = await fleet.platform.read(lambda r: r.activities(ActivityFilter(limit=99)))
    return [each.message for each in found if each.status == "Failed"]


async def test_what_nobody_attends_to_is_not_due_again():
    async with Fleet() as fleet:
        resource = a_resource("microsoft.other/things")
        await put(fleet, resource)
        await fleet.advance(MINUTE)

        assert (await kept(fleet, resource)).due_at is None


@pytest.mark.parametrize(
    "content", [{}, {"properties": []}, {"properties": {"profiles": 7}}, {"properties": None}]
)
async def test_a_broken_setting_is_told_and_left_alone(content):
    async with Fleet() as fleet:
        broken, whole = a_resource(content=content), a_resource(name="whole")
        await put(fleet, broken, whole)
        await fleet.advance(2 * MINUTE)

        assert (await kept(fleet, broken)).due_at is None
        assert (await kept(fleet, whole)).due_at == NOON + 3 * MINUTE
        assert len(await failures(fleet)) == 2, "the other one has no set to scale"


async def test_a_bug_about_one_resource_costs_no_other():
    async with Fleet() as fleet:
        stone, fine = a_resource(metrics.SERIES_TYPE, "stone", content={}), a_resource()
        await put(fleet, stone, fine)
        await fleet.advance(timedelta(0))

        assert (await kept(fleet, stone)).due_at == NOON + MINUTE
        assert (await kept(fleet, fine)).due_at == NOON + MINUTE


async def test_a_pass_looks_at_only_so_many():
    async with Fleet() as fleet:
        many = [a_resource("tests/quiet", f"{n:03}") for n in range(RESOURCES_PER_PASS_MAX + 1)]
        fleet.store.run(lambda tx: [tx.put_resource(each) for each in many])
        moment = fleet.platform.moment()

        assert fleet.store.run(lambda tx: attend(tx, moment))
        assert len(fleet.store.run(lambda tx: tx.due_resources(NOON, 999))) == 1
        assert fleet.store.run(lambda tx: attend(tx, moment))
        assert not fleet.store.run(lambda tx: attend(tx, moment))


def test_every_attendant_is_known_by_its_type_in_lower_case():
    assert set(attendants()) == {autoscale.KIND, metrics.SERIES_TYPE}
    assert all(kind == kind.lower() for kind in attendants())
