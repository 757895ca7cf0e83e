"""Paths of resources: read, written, compared."""

import pytest

from lastcall.wire.paths import Path, group_path, parse_path

GROUP = "/subscriptions/S/resourceGroups/RG"
NET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/Net"


@pytest.mark.parametrize(
    "text",
    [
        GROUP,
        NET,
        f"{NET}/subnets/Sub",
        "/subscriptions/S/providers/Microsoft.Features/providers/x",
        f"{NET}/providers/Microsoft.Maintenance/scheduledevents/E",
        "/subscriptions/S/providers/Microsoft.Compute/things/t",
    ],
)
def test_a_path_comes_back_as_it_was_spelled(text):
    path = parse_path(text)
    if text.endswith("providers/x"):
        assert path is None
    else:
        assert path is not None
        assert path.text == text
        assert path.id == text.lower()


def test_a_path_says_what_it_leads_to():
    path = parse_path(f"{NET}/subnets/Sub")
    assert path == Path(
        subscription="S",
        group="RG",
        type="Microsoft.Network/virtualNetworks/subnets",
        names=("Net", "Sub"),
    )
    assert path.name == "Sub"
    assert path.kind == "microsoft.network/virtualnetworks/subnets"


def test_an_extension_belongs_to_its_base():
    path = parse_path(f"{NET}/providers/Microsoft.Maintenance/scheduledevents/E")
    assert path is not None
    assert path.base == NET
    assert path.type == "Microsoft.Maintenance/scheduledevents"
    assert path.group == "RG"


def test_a_group_is_called_by_its_name():
    assert parse_path(GROUP.upper().replace("RG", "rG")).name == "rG"
    assert group_path("S", "RG").text == GROUP
    assert parse_path(GROUP).kind == "microsoft.resources/resourcegroups"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "/subscriptions",
        "/subscriptions/S",
        "/subscriptions/S/resourceGroups",
        "/tenants/x",
        f"{GROUP}/providers",
        f"{GROUP}/providers/Microsoft.Network",
        f"{GROUP}/providers/Microsoft.Network/virtualNetworks",
        f"{GROUP}/things/x",
        f"{GROUP}//providers/Microsoft.Network/virtualNetworks/x",
    ],
)
def test_what_is_no_path_is_none(text):
    assert parse_path(text) is None
