"""How operations that are parts of others end, and what goes with them."""

from datetime import UTC, datetime

from lastcall.app.learning import Moment, settle
from lastcall.engine.effects import Failure
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation, OperationStatus
from lastcall.engine.policy import Policy
from lastcall.engine.resources import Resource, ResourceId
from lastcall.ids import RandomIds
from lastcall.store.memory import MemoryStore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MOMENT = Moment(NOON, Policy(), RandomIds(1))


def operation(name: str, remaining: int = 1, **more) -> Operation:
    return Operation(
        id=OperationId(name),
        name=name,
        location="westus",
        started_at=NOON,
        remaining=remaining,
        **more,
    )


def resource(path: str, group: str = "rg") -> Resource:
    kind = "microsoft.network/virtualnetworks"
    key = ResourceId(path.lower())
    return Resource(id=key, path=path, kind=kind, group=group, content={}, created_at=NOON)


def test_a_whole_ends_with_its_last_part_and_tells_the_first_failure():
    store = MemoryStore()
    store.run(lambda tx: tx.put_operation(operation("whole", 2)))
    for name in ("a", "b"):
        part = operation(name, part_of=OperationId("whole"))
        store.run(lambda tx, part=part: tx.put_operation(part))

    bad = Failure("Bad", "It went wrong.")
    store.run(lambda tx: settle(tx, OperationId("a"), 1, bad, MOMENT))
    assert not store.run(lambda tx: tx.operation(OperationId("whole"))).is_over
    store.run(lambda tx: settle(tx, OperationId("b"), 1, None, MOMENT))
    store.run(lambda tx: settle(tx, OperationId("b"), 1, None, MOMENT))

    whole = store.run(lambda tx: tx.operation(OperationId("whole")))
    assert whole.status is OperationStatus.FAILED
    assert whole.failure == bad


def test_a_group_goes_with_everything_in_it_and_nothing_else():
    store = MemoryStore()
    group = "/subscriptions/S/resourceGroups/RG"
    inside = f"{group}/providers/Microsoft.Network/virtualNetworks/net"
    other = "/subscriptions/S/resourceGroups/RG2/providers/Microsoft.Network/virtualNetworks/net"
    for found in (resource(group), resource(inside), resource(other, "rg2")):
        store.run(lambda tx, found=found: tx.put_resource(found))

    key = ResourceId(group.lower())
    removal = operation("removal", resource_id=key, removes_resource=True)
    store.run(lambda tx: tx.put_operation(removal))
    store.run(lambda tx: settle(tx, removal.id, 1, None, MOMENT))

    assert [found.path for found in store.run(lambda tx: tx.resources())] == [other]


def test_a_resource_goes_with_what_is_below_it_but_not_with_what_begins_like_it():
    store = MemoryStore()
    net = "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Network/virtualNetworks/net"
    for path in (net, f"{net}/subnets/a", f"{net}2"):
        store.run(lambda tx, path=path: tx.put_resource(resource(path)))

    key = ResourceId(net.lower())
    removal = operation("removal", resource_id=key, removes_resource=True)
    store.run(lambda tx: tx.put_operation(removal))
    store.run(lambda tx: settle(tx, removal.id, 1, None, MOMENT))

    assert [found.path for found in store.run(lambda tx: tx.resources())] == [f"{net}2"]
