import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidParameterError
from lastcall.wire.names import (
    instance_path,
    parse_resource_id,
    parse_set_path,
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


def test_a_path_is_parsed_in_any_case_and_with_a_slash_at_the_end():
    assert parse_set_path(PATH) == a_scale_set().id
    assert parse_set_path(PATH.upper() + "/") == a_scale_set().id


def test_the_parts_of_a_deeper_id_are_found():
    parsed = parse_resource_id(PATH + "/virtualMachines/3")
    assert parsed.type == "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
    assert parsed.names == ("web", "3")
    assert (parsed.subscription, parsed.resource_group) == (SUBSCRIPTION, "Group")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "web",
        PATH[1:],
        "x" + PATH,
        PATH.replace("/web", ""),
        PATH.replace("/web", "//web"),
        PATH.replace("Group/", "/"),
        PATH.replace("providers", "provider"),
        "/subscriptions/s/resourceGroups/g",
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute",
        PATH + "/virtualMachines/3",
        PATH.replace("ScaleSets", ""),
    ],
)
def test_what_is_not_the_id_of_a_set_is_refused(text):
    with pytest.raises(InvalidParameterError):
        parse_set_path(text)


@given(st.text())
def test_any_text_is_an_id_or_is_refused(text):
    with pytest.raises(InvalidParameterError):
        parse_resource_id(text)


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
    with pytest.raises(InvalidParameterError, match="is not allowed") as refusal:
        refuse_resource_group_name(name)
    assert refusal.value.target == "resourceGroupName"
