"""az's flags become the body that the control plane reads."""

import pytest

from lastcall.cli.failures import WrongUsageError
from lastcall.cli.models import image, model, protection


def _terminate(body):
    profile = body["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]
    return profile["terminateNotificationProfile"]


def test_flags_without_a_value_say_nothing():
    assert model({"zones": None, "tags": None, "image": None}) == {}


def test_every_plain_flag_has_its_place():
    flags = {
        "location": "westus",
        "vm_sku": "Standard_D2s_v5",
        "instance_count": 0,
        "single_placement_group": False,
        "scale_in_policy": ["OldestVM"],
        "tags": ["a=b"],
        "priority": "Spot",
    }
    assert model(flags) == {
        "location": "westus",
        "sku": {"name": "Standard_D2s_v5", "capacity": 0},
        "tags": {"a": "b"},
        "properties": {
            "singlePlacementGroup": False,
            "scaleInPolicy": {"rules": ["OldestVM"]},
            "virtualMachineProfile": {"priority": "Spot"},
        },
    }


def test_a_notification_time_turns_the_notification_on():
    body = model({"terminate_notification_time": "10"})
    assert _terminate(body) == {"enable": True, "notBeforeTimeout": "PT10M"}


def test_a_notification_is_turned_off_alone():
    assert _terminate(model({"enable_terminate_notification": False})) == {"enable": False}
    with pytest.raises(WrongUsageError):
        model({"enable_terminate_notification": False, "terminate_notification_time": "10"})


def test_images_are_urns_ids_or_aliases():
    assert image("/subscriptions/x") == {"id": "/subscriptions/x"}
    urn = {"publisher": "Canonical", "offer": "UbuntuServer", "sku": "18.04-LTS"}
    assert image("UbuntuLTS") == {**urn, "version": "latest"}
    assert image("a:b:c:d") == {"publisher": "a", "offer": "b", "sku": "c", "version": "d"}
    with pytest.raises(WrongUsageError, match="neither"):
        image("TempleOS")


def test_protection_says_only_what_is_given():
    assert protection(scale_in=True, scale_set_actions=None) == {
        "properties": {"protectionPolicy": {"protectFromScaleIn": True}}
    }
