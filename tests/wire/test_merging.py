import copy
import json

import pytest
from hypothesis import given

from lastcall.wire.merging import merge

from .builders import DOCUMENTS, a_model, with_terminate


def notifications(document):
    return document["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]


def terminate(document):
    return notifications(document)["terminateNotificationProfile"]


def test_what_a_write_leaves_out_stays():
    old = merge(None, with_terminate({"enable": True, "notBeforeTimeout": "PT10M"}))
    new = merge(old, {"location": "westus", "sku": {"capacity": 3}})
    assert new["sku"] == {"name": "Standard_D2s_v5", "capacity": 3, "tier": "Standard"}
    assert terminate(new) == {"enable": True, "notBeforeTimeout": "PT10M"}


def test_null_removes_at_every_depth():
    old = a_model(overprovision=True, upgradePolicy={"mode": "Manual", "x": 1}, zoneBalance=True)
    patch = {"properties": {"overprovision": None, "upgradePolicy": {"x": None}}}
    assert merge(old, patch)["properties"] == {
        "upgradePolicy": {"mode": "Manual"},
        "zoneBalance": True,
    }


def test_arrays_are_replaced_and_rid_of_nulls_in_their_objects():
    patch = {"zones": ["2"], "properties": {"list": [{"a": None, "b": [{"c": None}]}, None]}}
    new = merge({"zones": ["1", "3"]}, patch)
    assert new == {"zones": ["2"], "properties": {"list": [{"b": [{}]}, None]}}


def test_an_object_replaces_what_is_none_and_the_other_way_round():
    assert merge({"plan": 5}, {"plan": {"name": "x"}}) == {"plan": {"name": "x"}}
    assert merge({"plan": {"name": "x"}}, {"plan": 5}) == {"plan": 5}


def test_given_tags_replace_the_old_ones_and_absent_ones_stay():
    old = {"tags": {"a": "1", "b": "2"}}
    assert merge(old, {"tags": {"a": "1"}})["tags"] == {"a": "1"}
    assert merge(old, {})["tags"] == {"a": "1", "b": "2"}
    assert "tags" not in merge(old, {"tags": None})
    assert merge(old, {"tags": {"a": None, "primary": "true"}})["tags"] == {"primary": "true"}


def test_read_only_members_are_dropped_and_unknown_ones_kept():
    patch = {
        "id": "/x",
        "name": "web",
        "type": "T",
        "etag": '"3"',
        "plan": {"name": "kept"},
        "properties": {
            "provisioningState": "Succeeded",
            "uniqueId": "u",
            "timeCreated": "t",
            "virtualMachineProfile": {"timeCreated": "t", "novelty": {"name": "kept"}},
        },
    }
    assert merge(None, patch) == {
        "plan": {"name": "kept"},
        "properties": {"virtualMachineProfile": {"novelty": {"name": "kept"}}},
    }


@pytest.mark.parametrize("enable", [False, "false", "False"])
def test_disabling_leaves_an_empty_profile(enable):
    old = merge(None, with_terminate({"enable": True, "notBeforeTimeout": "PT10M"}))
    new = merge(old, with_terminate({"enable": enable}))
    assert notifications(new) == {}


def test_disabling_one_notification_keeps_the_other():
    events = {
        "terminateNotificationProfile": {"enable": False},
        "osImageNotificationProfile": {"enable": True},
    }
    new = merge(None, a_model(virtualMachineProfile={"scheduledEventsProfile": events}))
    assert notifications(new) == {
        "osImageNotificationProfile": {"enable": True, "notBeforeTimeout": "PT15M"}
    }


def test_a_time_alone_keeps_what_was_enabled():
    old = merge(None, with_terminate({"enable": True, "notBeforeTimeout": "PT10M"}))
    new = merge(old, with_terminate({"notBeforeTimeout": "PT9M"}))
    assert terminate(new) == {"enable": True, "notBeforeTimeout": "PT9M"}


def test_a_time_alone_enables_nothing():
    new = merge(None, with_terminate({"notBeforeTimeout": "PT9M"}))
    assert terminate(new) == {"notBeforeTimeout": "PT9M"}


def test_enabled_without_a_time_gets_five_minutes():
    new = merge(None, with_terminate({"enable": "true"}))
    assert terminate(new) == {"enable": True, "notBeforeTimeout": "PT5M"}


def test_words_booleans_and_numbers_get_one_spelling():
    patch = {
        "sku": {"name": "standard_d2s_v5", "capacity": "3"},
        "properties": {
            "orchestrationMode": "flexible",
            "overprovision": "True",
            "singlePlacementGroup": None,
            "upgradePolicy": {"mode": "manual"},
            "scaleInPolicy": {"rules": ["oldestvm", "Unheard"], "forceDeletion": "false"},
            "virtualMachineProfile": {
                "priority": "spot",
                "evictionPolicy": "delete",
                "networkProfile": {"interfaces": [{"properties": {"primary": "true"}}]},
                "extensionProfile": {"extensions": [{"settings": {"enable": "true"}}]},
            },
        },
    }
    new = merge(None, patch)
    assert new["sku"] == {"name": "standard_d2s_v5", "capacity": 3, "tier": "Standard"}
    assert new["properties"] == {
        "orchestrationMode": "Flexible",
        "overprovision": True,
        "upgradePolicy": {"mode": "Manual"},
        "scaleInPolicy": {"rules": ["OldestVM", "Unheard"], "forceDeletion": False},
        "virtualMachineProfile": {
            "priority": "Spot",
            "evictionPolicy": "Delete",
            "networkProfile": {"interfaces": [{"properties": {"primary": True}}]},
            "extensionProfile": {"extensions": [{"settings": {"enable": "true"}}]},
        },
    }


def test_sizes_of_other_tiers_and_without_capacity_stay_as_given():
    assert merge(None, {"sku": {"name": "Basic_A1"}}) == {"sku": {"name": "Basic_A1"}}
    assert merge(None, {"sku": {"name": 5}}) == {"sku": {"name": 5}}


@given(DOCUMENTS, DOCUMENTS)
def test_merging_never_fails_never_mutates_and_gives_json(old, patch):
    before = copy.deepcopy((old, patch))
    new = merge(old, patch)
    assert (old, patch) == before
    json.dumps(new)


@given(DOCUMENTS, DOCUMENTS)
def test_the_same_write_again_changes_nothing(old, patch):
    once = merge(old, patch)
    assert merge(once, patch) == once
