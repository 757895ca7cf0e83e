import json
from datetime import timedelta

import pytest
from hypothesis import given

from lastcall.engine.effects import Failure
from lastcall.engine.errors import DomainError
from lastcall.engine.model import (
    Model,
    OperationId,
    Power,
    Protection,
    Provisioning,
    ScopeId,
)
from lastcall.engine.operations import Operation, OperationStatus
from lastcall.wire.arm import (
    encode_error,
    encode_list,
    encode_operation,
    encode_scale_set,
    encode_set_view,
    encode_skus,
)
from lastcall.wire.bodies import encode_json, encode_pretty, parse_body
from lastcall.wire.defaults import completed, refuse_malformed
from lastcall.wire.instances import encode_instance, encode_instance_view
from lastcall.wire.interfaces import (
    encode_interface,
    encode_public_addresses,
    interface_configurations,
)
from lastcall.wire.merging import merge
from lastcall.wire.traits import instance_affecting

from .builders import DOCUMENTS, NOW, SUBSCRIPTION, a_machine, a_model, a_scale_set

PATH = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Group/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/web"
)
SCOPE = ScopeId("6f1d0c3e-0000-4000-8000-000000000009")
PROFILE = {
    "osProfile": {
        "computerNamePrefix": "web",
        "adminUsername": "me",
        "adminPassword": "secret",
        "customData": "secret",
    },
    "storageProfile": {"osDisk": {"createOption": "FromImage"}},
    "networkProfile": {"networkInterfaceConfigurations": [{"name": "nic"}]},
    "extensionProfile": {
        "extensions": [{"name": "x", "properties": {"protectedSettings": {"key": "secret"}}}]
    },
}


def a_full_model():
    document = a_model(overprovision=True, virtualMachineProfile=PROFILE)
    return merge(None, document | {"tags": {"customData": "mine"}, "zones": ["1"]})


def test_a_set_is_shown_as_given_with_what_the_service_adds():
    document = merge(None, a_model(overprovision=True) | {"identity": {"type": "None"}})
    encoded = encode_scale_set(a_scale_set(document, number=4), document, 7)
    assert encode_json(encoded) == encode_json(
        {
            "name": "web",
            "id": PATH,
            "type": "Microsoft.Compute/virtualMachineScaleSets",
            "location": "westus",
            "identity": {"type": "None"},
            "sku": {"name": "Standard_D2s_v5", "capacity": 7, "tier": "Standard"},
            "etag": '"4"',
            "properties": {
                "overprovision": True,
                "provisioningState": "Creating",
                "uniqueId": "6f1d0c3e-0000-4000-8000-000000000001",
                "timeCreated": "2026-03-05T07:08:09.250000+00:00",
            },
        }
    )


def test_secrets_are_never_shown_but_tags_always():
    document = a_full_model()
    scale_set = a_scale_set(document)
    for encoded in (
        encode_scale_set(scale_set, document, 2),
        encode_instance(scale_set, a_machine(), document, {}),
    ):
        text = encode_json(encoded).decode()
        assert "secret" not in text
        assert encoded["tags"] == {"customData": "mine"}
    assert "secret" in json.dumps(document)


def test_what_a_client_read_can_be_written_back_and_changes_nothing():
    document = a_full_model()
    scale_set = a_scale_set(document)
    before = completed(document, scale_set.traits)
    shown = parse_body(encode_json(encode_scale_set(scale_set, before, 2)))
    written = merge(document, shown)
    after = completed(written, a_scale_set(written).traits)
    assert after == before
    assert instance_affecting(after) == instance_affecting(before)


def test_an_instance_is_shown_with_its_model():
    document = a_full_model()
    encoded = encode_instance(a_scale_set(document), a_machine(zone="1"), document, {})
    assert parse_body(encode_json(encoded)) == {
        "name": "web_3",
        "id": PATH + "/virtualMachines/3",
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
        "location": "westus",
        "instanceId": "3",
        "etag": '"1"',
        "sku": {"name": "Standard_D2s_v5", "tier": "Standard"},
        "tags": {"customData": "mine"},
        "zones": ["1"],
        "resources": [
            {
                "name": "x",
                "id": f"{PATH}/virtualMachines/3/extensions/x",
                "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/extensions",
                "location": "westus",
                "properties": {"provisioningState": "Succeeded"},
            }
        ],
        "properties": {
            "latestModelApplied": True,
            "modelDefinitionApplied": "VirtualMachineScaleSet",
            "provisioningState": "Creating",
            "vmId": "6f1d0c3e-0000-4000-8000-000000000002",
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {"osDisk": {"name": "web_3_OsDisk_1", "createOption": "FromImage"}},
            "osProfile": {"computerName": "web000003", "adminUsername": "me"},
            "timeCreated": "2026-03-05T06:08:09.250000+00:00",
            "networkProfile": {
                "networkInterfaces": [
                    {
                        "id": f"{PATH}/virtualMachines/3/networkInterfaces/nic",
                        "properties": {"primary": True},
                    }
                ]
            },
            "networkProfileConfiguration": {"networkInterfaceConfigurations": [{"name": "nic"}]},
        },
    }


def test_an_instance_has_the_plan_of_its_image():
    document = a_model() | {"plan": {"name": "one"}}
    assert encode_instance(a_scale_set(), a_machine(), document, {})["plan"] == {"name": "one"}


def test_an_instance_of_an_older_model_says_so():
    scale_set = a_scale_set(model_version=3)
    for version, expected in ((2, False), (3, True)):
        machine = a_machine(model=Model(version=version))
        properties = encode_instance(scale_set, machine, a_model(), {})["properties"]
        assert properties["latestModelApplied"] is expected


def test_protection_is_shown_once_it_is_set():
    machine = a_machine(protection=Protection(from_scale_in=True))
    encoded = encode_instance(a_scale_set(), machine, a_model(), {})
    assert encoded["properties"]["protectionPolicy"] == {
        "protectFromScaleIn": True,
        "protectFromScaleSetActions": False,
    }
    assert "zones" not in encoded
    assert "tags" not in encoded


@pytest.mark.parametrize(
    ("state", "power", "codes"),
    [
        (Provisioning.CREATING, Power.RUNNING, ["ProvisioningState/creating"]),
        (
            Provisioning.SUCCEEDED,
            Power.RUNNING,
            ["ProvisioningState/succeeded", "PowerState/running"],
        ),
        (
            Provisioning.DELETING,
            Power.STOPPED,
            ["ProvisioningState/deleting", "PowerState/stopped"],
        ),
        (
            Provisioning.UPDATING,
            Power.DEALLOCATED,
            ["ProvisioningState/updating", "PowerState/deallocated"],
        ),
    ],
)
def test_the_view_of_an_instance_tells_its_state(state, power, codes):
    view = encode_instance_view(a_machine(provisioning=state, power=power), SCOPE, NOW)
    assert [status["code"] for status in view["statuses"]] == codes
    assert (view["platformFaultDomain"], view["platformUpdateDomain"]) == (2, 4)
    assert view["computerName"] == "web000003"
    assert ("placementGroupId" in view) is (power is not Power.DEALLOCATED)
    assert ("vmAgent" in view) is (len(codes) == 2 and power is Power.RUNNING)
    encode_json(view)


def test_a_failure_is_told_in_the_view():
    machine = a_machine(provisioning=Provisioning.FAILED, failure="No disk.")
    status = encode_instance_view(machine, SCOPE, NOW)["statuses"][0]
    assert status == {
        "code": "ProvisioningState/failed",
        "level": "Error",
        "displayStatus": "Provisioning failed",
        "time": NOW.isoformat(),
        "message": "No disk.",
    }


def test_the_view_of_a_set_counts_its_instances():
    good = a_machine(provisioning=Provisioning.SUCCEEDED)
    leaving = a_machine(provisioning=Provisioning.DELETING)
    scale_set = a_scale_set(provisioning=Provisioning.SUCCEEDED)
    view = encode_set_view(scale_set, [good, leaving, good], a_model(), NOW)
    assert view["virtualMachine"]["statusesSummary"] == [
        {"code": "ProvisioningState/deleting", "count": 1},
        {"code": "ProvisioningState/succeeded", "count": 2},
    ]
    assert view["statuses"][0]["displayStatus"] == "Provisioning succeeded"


def an_operation(**changes):
    given = {
        "id": OperationId("0d9117f8-0000-4000-8000-000000000001"),
        "name": "delete",
        "location": "westus",
        "started_at": NOW,
        "remaining": 1,
    }
    return Operation(**(given | changes))


def test_an_operation_under_way_is_pretty_on_the_wire():
    assert encode_pretty(encode_operation(an_operation())) == (
        b'{\r\n  "startTime": "2026-03-05T07:08:09.250000+00:00",\r\n  "status": "InProgress",\r\n'
        b'  "name": "0d9117f8-0000-4000-8000-000000000001"\r\n}'
    )


def test_a_finished_operation_has_an_end_and_maybe_an_error():
    over = {"ended_at": NOW + timedelta(seconds=1), "remaining": 0}
    done = encode_operation(an_operation(status=OperationStatus.SUCCEEDED, **over))
    assert list(done) == ["startTime", "endTime", "status", "name"]
    failure = Failure("Broken", "It broke.")
    failed = encode_operation(an_operation(status=OperationStatus.FAILED, failure=failure, **over))
    assert failed["status"] == "Failed"
    assert failed["error"] == {"code": "Broken", "message": "It broke."}
    early = encode_operation(an_operation(failure=failure))
    assert "error" not in early


def test_lists_and_errors_have_their_envelopes():
    assert encode_json(encode_list([])) == b'{"value":[]}'
    assert encode_error("C", "M.") == {"error": {"code": "C", "message": "M."}}
    assert encode_error("C", "M.", "t")["error"]["target"] == "t"


@given(DOCUMENTS)
def test_every_accepted_document_can_be_shown(document):
    document = merge(None, document)
    try:
        scale_set = a_scale_set(document)
        refuse_malformed(document)
    except DomainError:
        return
    shown = completed(document, scale_set.traits)
    encode_json(encode_scale_set(scale_set, shown, 1))
    encode_json(encode_instance(scale_set, a_machine(), shown, {}))
    encode_json(encode_set_view(scale_set, [a_machine()], shown, NOW))
    for interface in interface_configurations(shown):
        encode_json(encode_interface(scale_set, a_machine(), interface))
        encode_json(encode_public_addresses("", a_machine(), interface.addresses))


def test_a_set_can_have_its_own_size_and_no_more_machines_than_there_can_be():
    (entry,) = encode_skus({"name": "Standard_D2s_v5", "tier": "Standard", "capacity": 2})["value"]

    assert entry["sku"] == {"name": "Standard_D2s_v5", "tier": "Standard"}
    assert entry["capacity"]["maximum"] == 1000
