"""Whole templates: those that az sends, and one of our own in the same shape."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from lastcall.wire.templates import plan_deployment, what_if
from tests.wire.templates.builders import CONTEXT, GROUP, SETS, SUBSCRIPTION, path

DATA = Path(__file__).parents[4] / "shared/spec/data"
OURS = Path(__file__).with_name("scale_set.json")


def az_template(mode):
    file = DATA / f"az_template_{mode}.json"
    if not file.exists():
        pytest.skip(f"{file.name} is not at hand")
    return msgspec.json.decode(file.read_bytes())["properties"]


def states(resource_id, *, full, api_version):
    return {"id": resource_id, "version": api_version}


@pytest.mark.parametrize("mode", ["flexible", "uniform"])
def test_the_templates_of_az_are_planned_whole(mode):
    deployment = az_template(mode)
    plan = plan_deployment(deployment["template"], deployment["parameters"], CONTEXT)
    network = "Microsoft.Network"
    lb = path(f"{network}/loadBalancers/myVMScaleSetLB")
    vnet = path(f"{network}/virtualNetworks/myVMScaleSetVNET")
    address = path(f"{network}/publicIPAddresses/myVMScaleSetLBPublicIP")
    firewall = path(f"{network}/networkSecurityGroups/myVMScaleSetNSG")
    scale_set = path(f"{SETS}/myVMScaleSet")

    assert {resource.id: set(resource.depends_on) for resource in plan.resources} == {
        vnet: set(),
        address: set(),
        lb: {vnet, address},
        firewall: set(),
        f"{lb}/inboundNatRules/NatRule": {lb},
        scale_set: {vnet, lb, firewall},
    }
    bodies = {resource.id: resource.resolve(states) for resource in plan.resources}
    profile = bodies[scale_set]["properties"]["virtualMachineProfile"]
    nic = profile["networkProfile"]["networkInterfaceConfigurations"][0]
    assert nic["properties"]["networkSecurityGroup"] == {"id": firewall}
    assert nic["properties"]["primary"] == "true"
    assert bodies[scale_set]["properties"]["singlePlacementGroup"] is None
    rule = bodies[f"{lb}/inboundNatRules/NatRule"]["properties"]
    assert rule["frontendIPConfiguration"] == {
        "id": f"{lb}/frontendIPConfigurations/loadBalancerFrontEnd"
    }
    assert b"[" not in msgspec.json.encode(bodies[f"{lb}/inboundNatRules/NatRule"])
    assert plan.outputs(states) == {
        "vmss": {"type": "Object", "value": {"id": scale_set, "version": "2024-07-01"}}
    }
    assert {change["changeType"] for change in what_if(plan, {})} == {"Create"}
    assert {
        change["changeType"]
        for change in what_if(plan, {resource.id: resource.body for resource in plan.resources})
    } == {"NoChange"}


def ours(**values):
    template = msgspec.json.decode(OURS.read_bytes())
    return plan_deployment(
        template, {name: {"value": given} for name, given in values.items()}, CONTEXT
    )


def test_our_template_is_planned_whole():
    plan = ours(name="web", adminPassword="secret", capacity=3)
    scale_set = plan.resources[-1]
    lb = path("Microsoft.Network/loadBalancers/webLB")

    assert [resource.name for resource in plan.resources] == [
        "webVNET",
        "webIP",
        "webLB",
        "webLB/Nat",
        "webDisk-0",
        "webDisk-1",
        "web",
    ]
    assert scale_set.body["sku"] == {"name": "Standard_D2s_v5", "capacity": 3}
    profile = scale_set.body["properties"]["virtualMachineProfile"]
    assert profile["osProfile"]["adminPassword"] == "secret"
    assert profile["osProfile"]["computerNamePrefix"] == "web"
    assert profile["scheduledEventsProfile"]["terminateNotificationProfile"] == {
        "enable": True,
        "notBeforeTimeout": "PT10M",
    }
    assert profile["storageProfile"]["dataDisks"] == [
        {"lun": 0, "managedDisk": {"id": path("Microsoft.Compute/disks/webDisk-0")}},
        {"lun": 1, "managedDisk": {"id": path("Microsoft.Compute/disks/webDisk-1")}},
    ]
    pools = profile["networkProfile"]["networkInterfaceConfigurations"][0]["pools"]
    assert pools == "[reference(variables('lbId')).backendAddressPools]"
    assert lb in scale_set.depends_on
    assert plan.parameters()["adminPassword"] == {"type": "SecureString"}

    def look_up(resource_id, *, full, api_version):
        if full:
            return {"identity": {"principalId": "p1"}}
        return {
            "backendAddressPools": [{"id": f"{resource_id}/pool"}],
            "provisioningState": "Succeeded",
        }

    body = scale_set.resolve(look_up)["properties"]["virtualMachineProfile"]
    assert body["networkProfile"]["networkInterfaceConfigurations"][0]["pools"] == [
        {"id": f"{lb}/pool"}
    ]
    assert plan.outputs(look_up) == {
        "vmss": {
            "type": "Object",
            "value": {
                "backendAddressPools": [{"id": f"{scale_set.id}/pool"}],
                "provisioningState": "Succeeded",
            },
        },
        "principalId": {"type": "String", "value": "p1"},
        "diskNames": {"type": "Array", "value": ["webDisk-0", "webDisk-1"]},
        "group": {"type": "String", "value": GROUP},
        "subscription": {"type": "String", "value": SUBSCRIPTION},
    }


def test_without_notices_our_template_says_so():
    plan = ours(name="web", adminPassword="secret", notice="")

    profile = plan.resources[-1].body["properties"]["virtualMachineProfile"]
    assert profile["scheduledEventsProfile"] is None


def test_nothing_imports_the_engine_of_templates_before_it_is_needed():
    code = (
        "import sys; import lastcall.cli.main, lastcall.assembly, lastcall.web.apps;"
        "print([name for name in sys.modules if 'wire.templates' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
