"""What a request changes of one instance."""

import pytest

from lastcall.engine.limits import INSTANCE_CHILDREN_MAX
from lastcall.engine.model import MachineId
from lastcall.wire.own_model import changed_disks, parse_disks, with_own_model
from lastcall.wire.own_parts import children, of_instance, with_child, with_own
from tests.wire.builders import refusal_of

DISK = {"lun": 0, "createOption": "Empty"}
SHOWN = {
    "tags": {"a": "b"},
    "properties": {"userData": "old", "storageProfile": {"dataDisks": [DISK]}},
}
ONE, TWO = MachineId("one"), MachineId("two")


def put(document, own=None):
    return with_own_model(SHOWN, document, own or {})


def change(own=None, **request):
    return changed_disks(SHOWN, parse_disks(request), own or {})


def test_what_is_sent_back_as_it_was_read_is_no_change():
    assert put(SHOWN) == put({}) == put({"properties": {"storageProfile": {}}}) == {}


def test_what_differs_is_the_instances_own_from_now_on():
    document = {
        "tags": {"c": "d"},
        "properties": {"userData": "new", "storageProfile": {"dataDisks": []}},
    }

    assert put(document) == {"tags": {"c": "d"}, "userData": "new", "dataDisks": []}


def test_null_gives_way_to_the_model_again():
    assert (
        put({"tags": None, "properties": {"userData": None}}, {"tags": {}, "userData": "x"}) == {}
    )


@pytest.mark.parametrize(
    "document",
    [
        {"tags": 5},
        {"tags": {"a": 1}},
        {"properties": 5},
        {"properties": {"userData": 5}},
        {"properties": {"storageProfile": {"dataDisks": 5}}},
        {"properties": {"storageProfile": {"dataDisks": [5]}}},
        {"properties": {"storageProfile": {"dataDisks": [{}] * (INSTANCE_CHILDREN_MAX + 1)}}},
    ],
)
def test_what_is_malformed_is_refused(document):
    assert refusal_of(lambda: put(document)).code == "InvalidParameter"


def test_a_disk_is_attached_at_the_first_free_place_or_where_it_is_told():
    wanted = [{"diskId": "/disks/a", "caching": "None"}, {"diskId": "/disks/b", "lun": 5}]
    disks = change(dataDisksToAttach=wanted)["dataDisks"]

    assert disks[0] == DISK
    assert disks[1] == {
        "lun": 1,
        "name": "a",
        "createOption": "Attach",
        "caching": "None",
        "managedDisk": {"id": "/disks/a"},
    }
    assert disks[2]["lun"] == 5


def test_a_disk_is_detached_by_its_id_in_whatever_case():
    shown = {"properties": {"storageProfile": {"dataDisks": [DISK, {"managedDisk": {"id": "/A"}}]}}}
    disks = parse_disks({"dataDisksToDetach": [{"diskId": "/a"}]})

    assert changed_disks(shown, disks, {})["dataDisks"] == [DISK]


@pytest.mark.parametrize(
    ("request_body", "code"),
    [
        ({}, "InvalidParameter"),
        ({"dataDisksToAttach": 5}, "InvalidParameter"),
        ({"dataDisksToAttach": [5]}, "InvalidParameter"),
        ({"dataDisksToAttach": [{"diskId": ""}]}, "InvalidParameter"),
        ({"dataDisksToAttach": [{"diskId": "a", "lun": 99}]}, "InvalidParameter"),
        ({"dataDisksToAttach": [{"diskId": "a", "lun": 0}]}, "Conflict"),
        ({"dataDisksToAttach": [{"diskId": "a"}, {"diskId": "A"}]}, "Conflict"),
        ({"dataDisksToAttach": [{"diskId": str(n)} for n in range(64)]}, "Conflict"),
        ({"dataDisksToDetach": [{"diskId": "gone"}]}, "InvalidParameter"),
    ],
)
def test_what_cannot_be_attached_or_detached_is_refused(request_body, code):
    assert refusal_of(lambda: change(**request_body)).code == code


def test_each_write_is_counted_and_the_dead_are_forgotten():
    document = with_own({"location": "x"}, ONE, {"tags": {}}, {"one"})
    document = with_own(document, TWO, {}, {"one", "two"})
    document = with_own(document, ONE, of_instance(document, ONE), {"one"})

    assert of_instance(document, ONE) == {"tags": {}, "writes": 2}
    assert of_instance(document, TWO) == {}
    assert document["location"] == "x"


def test_an_instance_has_only_so_many_children():
    own = {}
    for number in range(INSTANCE_CHILDREN_MAX):
        own = with_child(own, "extensions", f"E{number}", {"name": f"E{number}"})

    assert len(children(own, "extensions")) == INSTANCE_CHILDREN_MAX
    assert with_child(own, "extensions", "e1", {"name": "again"})["extensions"]["e1"]
    assert refusal_of(lambda: with_child(own, "extensions", "more", {})).code == "Conflict"
    assert "e1" not in with_child(own, "extensions", "E1", None)["extensions"]
