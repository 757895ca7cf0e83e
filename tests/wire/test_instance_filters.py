"""The small language of lists."""

import pytest

from lastcall.wire.instance_filters import parse_expand, parse_filter, parse_select, selected
from tests.wire.builders import refusal_of

OWNER = "/subscriptions/s/resourceGroups/g/virtualMachineScaleSets/Web"
INSTANCE = {
    "name": "web_1",
    "id": f"{OWNER}/virtualMachines/1",
    "type": "t",
    "location": "westus",
    "instanceId": "1",
    "sku": {"name": "x"},
    "properties": {
        "latestModelApplied": True,
        "provisioningState": "Succeeded",
        "instanceView": {
            "computerName": "web000001",
            "statuses": [{"code": "ProvisioningState/succeeded"}, {"code": "PowerState/running"}],
        },
    },
}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "  ",
        "properties/latestModelApplied eq true",
        "PROPERTIES/latestmodelapplied EQ True",
        "properties/latestModelApplied ne false",
        "startswith(instanceView/statuses/code, 'PowerState') eq true",
        "startswith(instanceView/statuses/code,'powerstate')",
        "startswith(instanceView/statuses/code,'Nothing') eq false",
        "instanceView/statuses/code eq 'PowerState/running'",
        "name eq 'WEB_1' and instanceId eq '1'",
        "properties/provisioningState eq 'Succeeded' and name ne 'web_2'",
        "virtualMachineScaleSet/name eq 'web'",
        f"virtualMachineScaleSet/id eq '{OWNER.upper()}'",
    ],
)
def test_these_let_it_pass(text):
    assert parse_filter(text)(INSTANCE)


@pytest.mark.parametrize(
    "text",
    [
        "properties/latestModelApplied eq false",
        "name eq 'web_2'",
        "name eq 'web_1' and instanceId eq '2'",
        "startswith(name, 'db')",
        "instanceView/statuses/code ne 'PowerState/running'",
        "name eq 'it''s'",
        "virtualMachineScaleSet/name eq 'other'",
    ],
)
def test_these_keep_it_out(text):
    assert not parse_filter(text)(INSTANCE)


@pytest.mark.parametrize(
    "text",
    [
        "aaaa",
        "name eq",
        "name eq web_1",
        "name eq 'web_1' and",
        "name eq 'web_1' or name eq 'web_2'",
        "name eq 'web_1'x",
        "vmId eq 'x'",
        "startswith(vmId, 'x')",
        "startswith(name)",
        "name lt 'x'",
        "x" * 5000,
        "name eq 'unfinished",
    ],
)
def test_these_are_refused(text):
    refusal = refusal_of(lambda: parse_filter(text))

    assert refusal is not None
    assert refusal.target == "$filter"
    assert len(str(refusal)) < 400


def test_words_are_read_in_whatever_case_and_several_at_once():
    assert parse_expand("InstanceView, userdata") == {"instanceView", "userData"}
    assert parse_expand("resiliencyView") == {"resiliencyView"}
    assert parse_expand(None) == parse_expand(",") == frozenset()
    assert parse_select("instanceView/Statuses") == {"instanceView/statuses"}


@pytest.mark.parametrize("text", ["x", "instanceView,x", "instanceView/statuses/code"])
def test_other_words_are_refused(text):
    assert refusal_of(lambda: parse_expand(text)).target == "$expand"
    assert refusal_of(lambda: parse_select(text)).target == "$select"


def test_only_what_is_selected_is_shown():
    whole = selected(INSTANCE, frozenset({"instanceView"}))
    part = selected(INSTANCE, frozenset({"instanceView/statuses"}))

    assert whole["properties"] == {"instanceView": INSTANCE["properties"]["instanceView"]}
    assert part["properties"]["instanceView"].keys() == {"statuses"}
    assert whole.keys() == {"name", "id", "type", "location", "instanceId", "properties"}
    assert selected(INSTANCE, frozenset()) is INSTANCE
