"""Deleting groups with machines in them that are no scale sets, and writing without HTTP."""

from datetime import UTC, datetime

import pytest

from lastcall.app import generic, groups
from lastcall.app.learning import Moment, settle
from lastcall.app.resources import begin, find, write
from lastcall.engine.errors import (
    InvalidResourceTypeError,
    ParentResourceNotFoundError,
    QuotaExceededError,
    ResourceGroupNotFoundError,
)
from lastcall.engine.limits import RESOURCE_GROUPS_MAX, RESOURCES_PER_GROUP_MAX
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.store.memory import MemoryStore
from lastcall.wire.paths import group_path, parse_path

MOMENT = Moment(datetime(2026, 1, 1, 12, tzinfo=UTC), Policy(), RandomIds(1))
GROUP = group_path("S", "RG")
NETWORK = parse_path(f"{GROUP.text}/providers/Microsoft.Network/virtualNetworks/net")
MACHINE = parse_path(f"{GROUP.text}/providers/Test.Kind/things/t")
CONTENT = {"location": "westus"}


@pytest.fixture
def store():
    store = MemoryStore()
    store.run(lambda tx: groups.put(tx, GROUP, CONTENT, MOMENT))
    return store


@pytest.fixture
def deletion():
    """Something that takes a while to delete."""
    begun = []

    def delete(tx, resource, moment, *, force, part_of):
        operation = begin(tx, resource, "delete", moment, removes=True, part_of=part_of)
        begun.append((operation.id, force))

    groups.DELETIONS["test.kind/things"] = delete
    yield begun
    del groups.DELETIONS["test.kind/things"]


def test_a_group_waits_for_what_says_how_it_is_deleted(store, deletion):
    store.run(lambda tx: write(tx, MACHINE, CONTENT, MOMENT))
    store.run(lambda tx: generic.put(tx, NETWORK, CONTENT, MOMENT))
    forced = frozenset({"test.kind/things"})
    whole = store.run(lambda tx: groups.delete(tx, GROUP, forced, MOMENT))
    ((part, force),) = deletion

    assert (whole.is_over, force) == (False, True)
    assert store.run(lambda tx: find(tx, NETWORK)) is not None

    store.run(lambda tx: settle(tx, part, 1, None, MOMENT))

    assert store.run(lambda tx: tx.operation(whole.id)).is_over
    assert store.run(lambda tx: tx.resources()) == []


def test_a_resource_is_written_without_a_request(store):
    subnet = parse_path(f"{NETWORK.text}/subnets/a")
    with pytest.raises(ParentResourceNotFoundError):
        store.run(lambda tx: generic.put(tx, subnet, {}, MOMENT))
    store.run(lambda tx: generic.put(tx, NETWORK, CONTENT, MOMENT))
    made = store.run(lambda tx: generic.put(tx, subnet, {"properties": {"x": 1}}, MOMENT))

    assert generic.show(made)["id"] == subnet.text
    assert store.run(lambda tx: generic.find(tx, subnet)).content == made.content
    tags = parse_path(f"{GROUP.text}/providers/Microsoft.Resources/tags/default")
    with pytest.raises(InvalidResourceTypeError, match="'tags'"):
        store.run(lambda tx: generic.put(tx, tags, {}, MOMENT))
    elsewhere = parse_path(NETWORK.text.replace("/RG/", "/Other/"))
    with pytest.raises(ResourceGroupNotFoundError):
        store.run(lambda tx: generic.put(tx, elsewhere, CONTENT, MOMENT))


def test_there_are_only_so_many_groups_and_resources(store):
    def fill(tx):
        for number in range(RESOURCE_GROUPS_MAX - 1):
            write(tx, group_path("S", f"g{number}"), CONTENT, MOMENT)
        for number in range(RESOURCES_PER_GROUP_MAX):
            path = parse_path(f"{GROUP.text}/providers/Microsoft.Web/sites/s{number}")
            write(tx, path, {"properties": {}}, MOMENT)

    store.run(fill)
    with pytest.raises(QuotaExceededError, match="980 resource groups"):
        store.run(lambda tx: groups.put(tx, group_path("S", "more"), CONTENT, MOMENT))
    with pytest.raises(QuotaExceededError, match="2000 resources"):
        store.run(lambda tx: generic.put(tx, NETWORK, CONTENT, MOMENT))


@pytest.mark.parametrize(
    "path",
    [
        f"{GROUP.text}/providers/Microsoft.Resources/deployments/d",
        f"{NETWORK.text}/providers/lastcall/metrics/m",
    ],
)
def test_what_tells_of_resources_is_not_counted_as_one(store, path):
    def fill(tx):
        for number in range(RESOURCES_PER_GROUP_MAX):
            write(tx, parse_path(f"{path}{number}"), {"properties": {}}, MOMENT)

    store.run(fill)
    store.run(lambda tx: generic.put(tx, NETWORK, CONTENT, MOMENT))

    assert store.run(lambda tx: generic.find(tx, NETWORK)) is not None
