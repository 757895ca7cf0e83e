import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given

from lastcall.engine.errors import (
    InvalidParameterError,
    LocationRequiredError,
    PropertyChangeNotAllowedError,
)
from lastcall.engine.model import Action, EventType
from lastcall.engine.scale_sets import Orchestration, ScaleInRule, Traits, UpgradeMode
from lastcall.wire.merging import merge
from lastcall.wire.traits import (
    OS_IMAGE,
    PROFILE,
    TERMINATE,
    capacity,
    instance_affecting,
    refuse_change,
    refuse_incomplete,
    traits,
)

from .builders import DOCUMENTS, a_model, refusal_of, with_terminate

DATA = Path(__file__).parents[2].parent / "shared" / "spec" / "data"


def read(**properties):
    return traits(a_model(**properties), "web")


def of_profile(**profile):
    return read(virtualMachineProfile=profile)


def test_a_bare_model_has_the_defaults():
    assert read() == Traits(name_prefix="web")
    assert traits({}, "web") == Traits(name_prefix="web")


def test_everything_that_matters_is_read():
    document = a_model(
        orchestrationMode="Uniform",
        singlePlacementGroup=False,
        platformFaultDomainCount=2,
        upgradePolicy={
            "mode": "Rolling",
            "rollingUpgradePolicy": {
                "maxBatchInstancePercent": 30,
                "maxUnhealthyInstancePercent": 40,
                "pauseTimeBetweenBatches": "PT10S",
            },
        },
        scaleInPolicy={"rules": ["NewestVM"], "forceDeletion": True},
        scheduledEventsPolicy={
            "userInitiatedReboot": {"automaticallyApprove": True},
            "userInitiatedRedeploy": {"automaticallyApprove": "true"},
        },
        virtualMachineProfile={
            "osProfile": {"computerNamePrefix": "node"},
            "scheduledEventsProfile": {
                "terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT10M"}
            },
        },
    )
    assert traits(document | {"zones": ["1", "3"]}, "web") == Traits(
        orchestration=Orchestration.UNIFORM,
        zones=("1", "3"),
        single_placement_group=False,
        fault_domains=2,
        name_prefix="node",
        upgrade_mode=UpgradeMode.ROLLING,
        batch_percent=30,
        batch_pause=timedelta(seconds=10),
        unhealthy_percent_max=40,
        scale_in=ScaleInRule.NEWEST,
        scale_in_force=True,
        notice=timedelta(minutes=10),
        auto_approve=(EventType.REBOOT, EventType.REDEPLOY),
    )


def test_flexible_and_zonal_sets_spread_as_widely_as_possible():
    flexible = read(orchestrationMode="flexible")
    assert (flexible.fault_domains, flexible.single_placement_group) == (1, False)
    assert traits(a_model() | {"zones": ["1"]}, "web").fault_domains == 1


@pytest.mark.parametrize(
    ("size", "domains", "own"),
    [
        ("Standard_NC6", 1, True),
        ("standard_nd96asr_v4", 1, True),
        ("Standard_NC6", 2, False),
        ("Standard_D2s_v5", 1, False),
    ],
)
def test_gpu_sizes_with_one_fault_domain_get_only_their_own_events(size, domains, own):
    document = a_model(platformFaultDomainCount=domains) | {"sku": {"name": size}}
    assert traits(document, "web").own_events_only is own


@pytest.mark.parametrize(
    ("profile", "minutes"),
    [
        ({"enable": True, "notBeforeTimeout": "PT5M"}, 5),
        ({"enable": True, "notBeforeTimeout": "PT900S"}, 15),
        ({"enable": "true", "notBeforeTimeout": "PT10M"}, 10),
        ({"enable": True}, 5),
    ],
)
def test_an_enabled_profile_gives_its_notice(profile, minutes):
    assert traits(with_terminate(profile), "web").notice == timedelta(minutes=minutes)


@pytest.mark.parametrize("profile", [None, {}, {"notBeforeTimeout": "PT9M"}, {"enable": False}])
def test_a_profile_that_is_not_enabled_gives_no_notice(profile):
    assert traits(with_terminate(profile), "web").notice is None


@pytest.mark.parametrize(
    "value", ["PT4M59S", "PT15M1S", "PT4M", "PT16M", "10", "5", "", "P1D", "pt5m", 10, True, {}]
)
def test_a_notice_out_of_range_is_refused_by_name_range_and_path(value):
    with pytest.raises(InvalidParameterError) as refusal:
        traits(with_terminate({"enable": True, "notBeforeTimeout": value}), "web")
    shown = value if isinstance(value, str) else json.dumps(value)
    assert f"'{shown}'" in str(refusal.value)
    assert "from PT5M to PT15M" in str(refusal.value)
    assert refusal.value.target == (
        "properties.virtualMachineProfile.scheduledEventsProfile"
        ".terminateNotificationProfile.notBeforeTimeout"
    )


@pytest.mark.parametrize("priority", ["Spot", "Low", "spot"])
def test_spot_and_terminate_notifications_exclude_each_other(priority):
    with pytest.raises(InvalidParameterError, match="not supported for Spot") as refusal:
        traits(with_terminate({"enable": True}, priority=priority), "web")
    assert refusal.value.target == f"{PROFILE}.{TERMINATE}"
    assert traits(with_terminate({}, priority=priority), "web").eviction is Action.DEALLOCATE


@pytest.mark.parametrize(
    ("profile", "eviction"),
    [
        ({}, None),
        ({"priority": "Regular", "evictionPolicy": "Delete"}, None),
        ({"priority": "Spot"}, Action.DEALLOCATE),
        ({"priority": "Low", "evictionPolicy": "Deallocate"}, Action.DEALLOCATE),
        ({"priority": "Spot", "evictionPolicy": "Delete"}, Action.DELETE),
    ],
)
def test_the_eviction_policy_counts_on_spot_only(profile, eviction):
    assert of_profile(**profile).eviction is eviction


def test_an_os_image_notice_is_a_quarter_of_an_hour_or_nothing():
    def image(time):
        events = {"osImageNotificationProfile": {"enable": True, "notBeforeTimeout": time}}
        return of_profile(scheduledEventsProfile=events)

    assert image("PT15M").notice is None
    with pytest.raises(InvalidParameterError, match="duration of PT15M") as refusal:
        image("PT10M")
    assert refusal.value.target == f"{PROFILE}.{OS_IMAGE}.notBeforeTimeout"


def test_computer_names_leave_room_for_the_instance():
    windows = {"windowsConfiguration": {}}
    assert of_profile(osProfile={"computerNamePrefix": "a" * 58}).name_prefix == "a" * 58
    assert of_profile(osProfile=windows | {"computerNamePrefix": "a" * 9}).name_prefix == "a" * 9
    assert traits(a_model(), "b" * 64).name_prefix == "b" * 58
    disk = {"storageProfile": {"osDisk": {"osType": "Windows"}}}
    assert traits(a_model(virtualMachineProfile=disk), "b" * 64).name_prefix == "b" * 9
    for system in ({"computerNamePrefix": "a" * 59}, windows | {"computerNamePrefix": "a" * 10}):
        with pytest.raises(InvalidParameterError, match="characters long"):
            of_profile(osProfile=system)


@pytest.mark.parametrize(
    ("document", "target"),
    [
        ({"properties": 5}, "properties"),
        ({"sku": "Standard_D2s_v5"}, "sku"),
        ({"sku": {"name": 5}}, "sku.name"),
        ({"tags": []}, "tags"),
        ({"tags": {"a": 1}}, "tags"),
        ({"zones": "1"}, "zones"),
        ({"zones": [1]}, "zones"),
        ({"zones": ["1", "1"]}, "zones"),
        ({"zones": ["4"]}, "zones"),
        (a_model(orchestrationMode="Round"), "properties.orchestrationMode"),
        (a_model(singlePlacementGroup="yes"), "properties.singlePlacementGroup"),
        (a_model(platformFaultDomainCount=0), "properties.platformFaultDomainCount"),
        (a_model(platformFaultDomainCount=6), "properties.platformFaultDomainCount"),
        (a_model(platformFaultDomainCount=True), "properties.platformFaultDomainCount"),
        (a_model(platformFaultDomainCount=1.5), "properties.platformFaultDomainCount"),
        (a_model(upgradePolicy={"mode": 1}), "properties.upgradePolicy.mode"),
        (
            a_model(upgradePolicy={"rollingUpgradePolicy": {"maxBatchInstancePercent": 4}}),
            "properties.upgradePolicy.rollingUpgradePolicy.maxBatchInstancePercent",
        ),
        (
            a_model(upgradePolicy={"rollingUpgradePolicy": {"pauseTimeBetweenBatches": "P2D"}}),
            "properties.upgradePolicy.rollingUpgradePolicy.pauseTimeBetweenBatches",
        ),
        (a_model(scaleInPolicy={"rules": ["Luck"]}), "properties.scaleInPolicy.rules"),
        (with_terminate([]), f"{PROFILE}.{TERMINATE}"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(document, target):
    with pytest.raises(InvalidParameterError) as refusal:
        traits(document, "web")
    assert refusal.value.target == target
    assert f"'{target}'" in str(refusal.value)


def test_a_new_set_needs_a_location_and_a_size():
    refuse_incomplete(a_model())
    with pytest.raises(LocationRequiredError, match="The location property is required"):
        refuse_incomplete({"sku": {"name": "x"}})
    with pytest.raises(InvalidParameterError, match=r"'sku\.name'") as refusal:
        refuse_incomplete({"location": "westus"})
    assert refusal.value.target == "sku.name"


def test_an_empty_flexible_set_needs_no_size():
    empty = {"location": "westus", "properties": {"orchestrationMode": "Flexible"}}
    refuse_incomplete(empty)
    empty["properties"]["virtualMachineProfile"] = {"priority": "Regular"}
    with pytest.raises(InvalidParameterError):
        refuse_incomplete(empty)


@pytest.mark.parametrize(
    ("patch", "target"),
    [
        ({"location": "eastus"}, "location"),
        ({"zones": ["1"]}, "zones"),
        ({"properties": {"orchestrationMode": "Flexible"}}, "orchestrationMode"),
        (
            {"properties": {"platformFaultDomainCount": 3}},
            "platformFaultDomainCount",
        ),
        ({"properties": {"singlePlacementGroup": True}}, "singlePlacementGroup"),
        ({"properties": {"virtualMachineProfile": {"priority": "Spot"}}}, "priority"),
    ],
)
def test_what_a_set_keeps_for_life_cannot_be_changed(patch, target):
    profile = {"priority": "Regular"}
    old = a_model(singlePlacementGroup=False, virtualMachineProfile=profile)
    with pytest.raises(PropertyChangeNotAllowedError) as refusal:
        refuse_change(old, merge(old, patch))
    assert refusal.value.target == target
    assert refusal.value.code == "PropertyChangeNotAllowed"


def test_a_set_without_machines_may_get_a_profile_of_any_priority():
    old = a_model(orchestrationMode="Flexible")
    refuse_change(old, merge(old, {"properties": {"virtualMachineProfile": {"priority": "Spot"}}}))


def test_other_changes_and_other_spellings_pass():
    old = a_model() | {"zones": ["1", "2"]}
    refuse_change(old, merge(old, {"location": "West US", "zones": ["2", "1"]}))
    refuse_change(old, merge(old, {"properties": {"singlePlacementGroup": False}}))
    refuse_change(old, merge(old, {"sku": {"capacity": 9}}))


@pytest.mark.parametrize(
    ("sku", "expected"), [({"capacity": 3}, 3), ({"capacity": "3"}, 3), ({}, None), (None, None)]
)
def test_capacity_is_a_number_or_not_given(sku, expected):
    assert capacity({"sku": sku}) == expected


@pytest.mark.parametrize("value", ["many", 1.5, True, [], "9" * 5000])
def test_a_capacity_that_is_no_number_is_refused(value):
    with pytest.raises(InvalidParameterError) as refusal:
        capacity({"sku": {"capacity": value}})
    assert refusal.value.target == "sku.capacity"
    assert len(str(refusal.value)) < 200


def test_only_the_size_and_the_profile_reach_instances():
    old = merge(None, a_model(virtualMachineProfile={"priority": "Regular"}))
    for patch in ({"tags": {"a": "b"}}, {"sku": {"capacity": 7}}, {"sku": {"tier": "Standard"}}):
        assert instance_affecting(merge(old, patch)) == instance_affecting(old)
    for patch in (with_terminate({"enable": True}), {"sku": {"name": "Standard_D4s_v5"}}):
        assert instance_affecting(merge(old, patch)) != instance_affecting(old)


@given(DOCUMENTS)
def test_any_document_has_traits_or_is_refused(document):
    for subject in (document, merge(None, document)):
        for read in (
            lambda subject=subject: traits(subject, "web"),
            lambda subject=subject: refuse_change(subject, subject),
            lambda subject=subject: refuse_incomplete(subject),
            lambda subject=subject: capacity(subject),
            lambda subject=subject: instance_affecting(subject),
        ):
            refusal = refusal_of(read)
            assert refusal is None or refusal.target


def example(name):
    path = DATA / "examples_2024-07-01" / f"VirtualMachineScaleSet_Create_With{name}.json"
    if not path.exists():
        pytest.skip("The folder with the published examples is not here.")
    text = path.read_text().replace("{vmss-name}", "web")
    return merge(None, json.loads(text)["parameters"]["parameters"])


def test_the_published_terminate_example_has_five_minutes_of_notice():
    document = example("TerminateScheduledEventEnabled")
    refuse_incomplete(document)
    found = traits(document, "web")
    assert found.notice == timedelta(minutes=5)
    assert found.single_placement_group
    assert capacity(document) == 3


def test_the_other_published_examples_are_accepted():
    assert traits(example("OSImageScheduledEventEnabled"), "web").notice is None
    assert traits(example("ScaleInPolicy"), "web").scale_in is ScaleInRule.OLDEST


@pytest.mark.parametrize("mode", ["uniform", "flexible"])
def test_the_model_that_az_deploys_is_accepted(mode):
    path = DATA / f"az_template_{mode}.json"
    if not path.exists():
        pytest.skip("The folder with the captured templates is not here.")
    text = json.loads(path.read_text())
    found = list(sets_in(text))
    assert found
    for resource in found:
        document = merge(None, resource)
        refuse_incomplete(document)
        read_traits = traits(document, "web")
        assert read_traits.orchestration.lower() == mode
        assert read_traits.notice == timedelta(minutes=10)


def sets_in(value):
    if isinstance(value, dict):
        if value.get("type") == "Microsoft.Compute/virtualMachineScaleSets":
            yield value
        for item in value.values():
            yield from sets_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from sets_in(item)
