"""What every store must do for resources, for who asked for what, and for parts that fail."""

import pytest
from msgspec.structs import replace

from lastcall.engine.effects import Step
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.limits import ACTIVITIES_MAX, OPERATIONS_KEPT
from lastcall.engine.model import OperationId, ScopeId
from lastcall.engine.resources import Activity, ActivityFilter, Resource, ResourceId

from .builders import DAY, MINUTE, NOON, SECOND, a_machine, a_scope, an_ended_operation, created


def a_resource(name: str = "net", **changes) -> Resource:
    path = f"/subscriptions/S/resourceGroups/RG/providers/Microsoft.Network/virtualNetworks/{name}"
    plain = Resource(
        id=ResourceId(path.lower()),
        path=path,
        kind="microsoft.network/virtualnetworks",
        group="rg",
        content={"location": "westus", "properties": {"a": [1, None, "ü"]}},
        created_at=NOON,
    )
    return replace(plain, **changes)


async def test_a_resource_comes_back_as_it_was_written(store):
    plain = a_resource()
    full = a_resource("full", number=7, due_at=NOON, scope_id=ScopeId("s"))
    await store.transact(lambda tx: (tx.put_resource(plain), tx.put_resource(full)))

    assert await store.read(lambda r: r.resource(plain.id)) == plain
    assert await store.read(lambda r: r.resource(full.id)) == full
    assert full.name == "full"

    await store.transact(lambda tx: tx.put_resource(replace(plain, number=2, content={})))
    assert (await store.read(lambda r: r.resource(plain.id))).content == {}


async def test_a_resource_can_be_forgotten_and_an_unknown_one_is_refused(store):
    await store.transact(lambda tx: tx.put_resource(a_resource()))
    await store.transact(lambda tx: tx.forget_resource(a_resource().id))

    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.resource(a_resource().id))
    assert await store.read(lambda r: list(r.resources())) == []


async def test_resources_are_listed_by_type_and_group_in_the_order_of_their_ids(store):
    found = [a_resource("b"), a_resource("a"), a_resource("c", group="other")]
    found.append(a_resource("d", kind="microsoft.network/loadbalancers"))
    await store.transact(lambda tx: [tx.put_resource(one) for one in found])

    async def names(**wanted):
        return [one.name for one in await store.read(lambda r: r.resources(**wanted))]

    assert await names() == ["a", "b", "c", "d"]
    assert await names(group="rg") == ["a", "b", "d"]
    assert await names(kind="microsoft.network/virtualnetworks") == ["a", "b", "c"]
    assert await names(kind="microsoft.network/virtualnetworks", group="rg") == ["a", "b"]


async def test_a_transaction_lists_resources_as_it_sees_them(store):
    await store.transact(lambda tx: [tx.put_resource(a_resource(name)) for name in ("a", "b")])

    def change(tx):
        tx.forget_resource(a_resource("a").id)
        tx.put_resource(a_resource("c"))
        tx.put_resource(a_resource("b", group="elsewhere"))
        return [found.name for found in tx.resources(group="rg")]

    assert await store.transact(change) == ["c"]


async def test_a_resource_is_found_with_everything_below_it_and_nothing_beside_it(store):
    whole = a_resource("net")
    inner = [
        replace(whole, id=f"{whole.id}/{part}", path=f"{whole.path}/{part}")
        for part in ("subnets/a", "subnets/b")
    ]
    beside = [a_resource("net-2"), a_resource("ne"), a_resource("net.x"), a_resource("net0")]
    await store.transact(lambda tx: [tx.put_resource(one) for one in (whole, *inner, *beside)])

    def change(tx):
        tx.forget_resource(inner[0].id)
        late = replace(whole, id=f"{whole.id}/z", path=f"{whole.path}/z")
        tx.put_resource(late)
        tx.put_resource(a_resource("network"))
        return [found.id for found in tx.resources_below(whole.id)]

    found = await store.read(lambda r: r.resources_below(whole.id))
    assert [one.id for one in found] == [whole.id, inner[0].id, inner[1].id]
    assert await store.transact(change) == [whole.id, inner[1].id, f"{whole.id}/z"]
    assert await store.read(lambda r: list(r.resources_below(a_resource("none").id))) == []


async def test_resources_are_due_most_overdue_first(store):
    await store.transact(
        lambda tx: [
            tx.put_resource(a_resource("late", due_at=NOON + SECOND)),
            tx.put_resource(a_resource("later", due_at=NOON + MINUTE)),
            tx.put_resource(a_resource("first", due_at=NOON)),
            tx.put_resource(a_resource("never")),
        ]
    )

    def due(tx):
        tx.forget_resource(a_resource("late").id)
        return [tx.resource(key).name for key in tx.due_resources(NOON + SECOND, 9)]

    assert await store.read(lambda r: r.next_due()) == NOON
    assert await store.transact(due) == ["first"]
    assert len(await store.transact(lambda tx: tx.due_resources(NOON + DAY, 1))) == 1


def an_activity(**changes) -> Activity:
    plain = Activity(
        at=NOON, operation="x/write", path="/x", group="rg", caller="me", status="Succeeded"
    )
    return replace(plain, **changes)


async def test_activities_are_told_newest_first_within_a_span_and_a_group(store):
    made = [an_activity(), an_activity(at=NOON + MINUTE, code=201), an_activity(group="other")]
    await store.transact(lambda tx: [tx.log(one) for one in made])

    async def found(**wanted):
        wanted = ActivityFilter(**{"limit": 9, **wanted})
        return [one.seq for one in await store.read(lambda r: r.activities(wanted))]

    assert await found() == [3, 2, 1]
    assert await found(limit=1) == [3]
    assert await found(group="rg") == [2, 1]
    assert await found(since=NOON + SECOND) == [2]
    assert await found(until=NOON) == [3, 1]
    assert await found(before=3) == [2, 1]
    assert await found(before=3, limit=1, group="rg") == [2]
    newest = await store.read(lambda r: r.activities(ActivityFilter(limit=1, group="rg")))
    assert newest == [an_activity(at=NOON + MINUTE, code=201, seq=2)]


async def test_a_transaction_knows_whether_it_has_logged_anything(store):
    def work(tx):
        before = tx.has_logged()
        tx.attempt(lambda part: part.log(an_activity()))
        return before, tx.has_logged()

    assert await store.transact(work) == (False, True)
    assert await store.transact(lambda tx: tx.has_logged()) is False


async def test_what_the_platform_remembers_of_a_resource_is_kept(store):
    resource = a_resource(state={"scaled_at": "2026-03-01T12:00:00Z"})
    await store.transact(lambda tx: tx.put_resource(resource))

    assert await store.read(lambda r: r.resource(resource.id)) == resource


async def test_activities_are_bounded_and_their_numbers_go_on(store):
    await store.transact(lambda tx: [tx.log(an_activity()) for _ in range(ACTIVITIES_MAX + 5)])
    await store.transact(lambda tx: tx.prune(NOON))
    await store.transact(lambda tx: tx.log(an_activity()))

    kept = await store.read(lambda r: r.activities(ActivityFilter(limit=ACTIVITIES_MAX + 9)))
    assert len(kept) == ACTIVITIES_MAX + 1
    assert kept[0].seq == ACTIVITIES_MAX + 6


async def test_a_part_that_fails_is_undone_alone(store):
    scope = a_scope(machines=[a_machine()])

    def fail(tx):
        tx.put_resource(a_resource("lost"))
        before = tx.scope(scope.id)
        tx.record(Step(before=before, scope=replace(before, incarnation=9)), NOON)
        raise ZeroDivisionError

    def rise(tx):
        before = tx.scope(scope.id)
        tx.record(Step(before=before, scope=replace(before, incarnation=5)), NOON)
        return tx.recall("k")

    def work(tx):
        tx.record(created(scope), NOON)
        tx.remember("k", "v")
        with pytest.raises(ZeroDivisionError):
            tx.attempt(fail)
        return tx.attempt(rise), tx.scope(scope.id).incarnation

    assert await store.transact(work) == ("v", 5)
    assert await store.read(lambda r: list(r.resources())) == []
    assert (await store.read(lambda r: r.scope(scope.id))).incarnation == 5


async def test_an_operation_that_something_refers_to_is_not_forgotten(store):
    kept = replace(an_ended_operation(), id=OperationId("kept"), is_kept=True)
    await store.transact(
        lambda tx: (tx.put_operation(kept), tx.put_operation(an_ended_operation()))
    )
    late = NOON + OPERATIONS_KEPT + DAY
    await store.transact(lambda tx: tx.prune(late))
    assert await store.read(lambda r: r.operation(kept.id)) == kept
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.operation(an_ended_operation().id))

    await store.transact(lambda tx: tx.put_operation(replace(kept, is_kept=False)))
    await store.transact(lambda tx: tx.prune(late))
    with pytest.raises(ResourceNotFoundError):
        await store.read(lambda r: r.operation(kept.id))
