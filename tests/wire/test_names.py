import pytest

from lastcall.engine.errors import InvalidParameterError, InvalidResourceGroupError
from lastcall.wire.names import (
    instance_path,
    place,
    refuse_name,
    refuse_resource_group_name,
    scale_set_path,
    set_id,
)

from .builders import SUBSCRIPTION, a_machine, a_scale_set

PATH = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Group/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/web"
)


def test_case_does_not_distinguish_two_sets():
    assert set_id("A", "Group", "Web") == set_id("a", "gROUP", "wEB")
    assert set_id("a", "group", "web") != set_id("a", "group", "web2")


def test_paths_are_printed_as_the_creator_spelled_them():
    assert scale_set_path(a_scale_set()) == PATH
    assert instance_path(a_scale_set(), a_machine()) == PATH + "/virtualMachines/3"


@pytest.mark.parametrize("location", ["westus", "West US", "WESTUS", " west us"])
def test_a_location_has_one_spelling(location):
    assert place(location) == "westus"


@pytest.mark.parametrize("name", ["a", "web", "Web-1_b.c", "0", "a" * 64, "x_"])
def test_good_set_names_pass(name):
    refuse_name(name)


@pytest.mark.parametrize(
    "name", ["", "_a", ".a", "a.", "a-", "a b", "a/b", "ä", "a" * 65, "a\n", "a:b", "*"]
)
def test_bad_set_names_are_refused(name):
    with pytest.raises(InvalidParameterError, match="is not allowed") as refusal:
        refuse_name(name)
    assert refusal.value.target == "name"


@pytest.mark.parametrize("name", ["a", "my(group)", "_x", "über-1", "a" * 90])
def test_good_group_names_pass(name):
    refuse_resource_group_name(name)


@pytest.mark.parametrize("name", ["", "a.", "a b", "a/b", "a" * 91, "a\n"])
def test_bad_group_names_are_refused(name):
    with pytest.raises(InvalidResourceGroupError, match="is not allowed") as refusal:
        refuse_resource_group_name(name)
    assert refusal.value.target == "resourceGroupName"
