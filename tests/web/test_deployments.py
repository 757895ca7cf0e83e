"""Deployments: a template becomes resources, and its status tells how that went."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from lastcall.app import deployments
from lastcall.app.deployments import Asked
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.limits import DEPLOYMENTS_PER_GROUP_MAX, OPERATIONS_KEPT
from lastcall.web.arm.deployable import kinds
from lastcall.wire.paths import parse_path

from .desk import ROOT, SUBSCRIPTION

GROUP = ROOT.partition("/providers/")[0]
DEPLOYMENTS = f"{GROUP}/providers/Microsoft.Resources/deployments"
ONE = f"{DEPLOYMENTS}/one"
NETWORK = "Microsoft.Network/virtualNetworks"
SET = "Microsoft.Compute/virtualMachineScaleSets"
DATA = Path(__file__).parents[2].parent / "shared" / "spec" / "data"


def a_network(name="net", **more):
    return {
        "type": NETWORK,
        "apiVersion": "2022-01-01",
        "name": name,
        "location": "[resourceGroup().location]",
        "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
        **more,
    }


def a_set(name="web", notice="PT10M", **more):
    terminate = {"enable": "true", "notBeforeTimeout": notice}
    profile = {"scheduledEventsProfile": {"terminateNotificationProfile": terminate}}
    return {
        "type": SET,
        "apiVersion": "2024-07-01",
        "name": name,
        "location": "westus",
        "sku": {"name": "Standard_D2s_v5", "capacity": 2},
        "dependsOn": [],
        "properties": {"singlePlacementGroup": None, "virtualMachineProfile": profile},
        **more,
    }


def a_deployment(*resources, parameters=None, mode="incremental", **template):
    whole = {"$schema": "x", "contentVersion": "1.0.0.0", "resources": list(resources), **template}
    return {"properties": {"template": whole, "parameters": parameters or {}, "mode": mode}}


async def deploy(desk, body, path=ONE):
    answer = await desk.arm("PUT", path, body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["properties"]["provisioningState"] == "Accepted"
    assert answer.headers["retry-after"] == "1"
    assert "location" not in answer.headers
    url = answer.headers["azure-asyncoperation"]
    assert f"{path}/operationStatuses/" in url
    status = await desk.send("GET", url)
    assert status.status_code == 200
    return status.json()


async def test_a_template_becomes_resources_and_outputs(desk):
    output = f"[reference(resourceId('{SET}', 'web'), providers('Microsoft.Compute', \
'virtualMachineScaleSets').apiVersions[0])]"
    body = a_deployment(
        a_set(dependsOn=[f"{NETWORK}/net"]),
        a_network(),
        outputs={"VMSS": {"type": "object", "value": output}},
    )
    status = await deploy(desk, body)
    assert status["status"] == "Succeeded"

    shown = (await desk.arm("GET", ONE)).json()
    assert shown["type"] == "Microsoft.Resources/deployments"
    properties = shown["properties"]
    assert properties["provisioningState"] == "Succeeded"
    vmss = properties["outputs"]["vmss"]["value"]
    assert vmss["provisioningState"] == "Succeeded"
    profile = vmss["virtualMachineProfile"]["scheduledEventsProfile"]
    wanted = {"enable": True, "notBeforeTimeout": "PT10M"}
    assert profile["terminateNotificationProfile"] == wanted
    assert [one["id"].rpartition("/")[2] for one in properties["outputResources"]] == ["net", "web"]

    network = await desk.arm("GET", f"{GROUP}/providers/{NETWORK}/net")
    assert network.json()["location"] == "westus"
    made = await desk.arm("GET", f"{GROUP}/providers/{SET}/web")
    assert made.json()["sku"]["capacity"] == 2
    assert (await desk.arm("GET", f"{GROUP}/providers/{SET}/web/virtualMachines")).json()["value"]


async def test_a_deployment_runs_until_its_machines_are_there(desk):
    answer = await desk.send("PUT", f"{ONE}?api-version=2024-11-01", a_deployment(a_set()))
    url = answer.headers["azure-asyncoperation"]
    running = await desk.send("GET", url)
    assert running.json()["status"] == "InProgress"
    assert running.headers["retry-after"] == "1"
    again = await desk.send("PUT", f"{ONE}?api-version=2024-11-01", a_deployment())
    assert again.status_code == 409

    await desk.settle()
    over = await desk.send("GET", url)
    assert over.json()["status"] == "Succeeded"
    assert "retry-after" not in over.headers


async def test_what_fails_fails_alone_and_takes_its_dependents_along(desk):
    body = a_deployment(
        a_network("before"),
        a_set("wrong", notice="PT99M"),
        a_network("after", dependsOn=[f"{SET}/wrong"]),
        a_network("beside"),
        outputs={"x": {"type": "string", "value": "y"}},
    )
    status = await deploy(desk, body)
    assert status["status"] == "Failed"
    assert status["error"]["code"] == "DeploymentFailed"
    (detail,) = status["error"]["details"]
    assert "PT5M" in detail["message"]
    assert detail["target"].endswith("/wrong")

    shown = (await desk.arm("GET", ONE)).json()["properties"]
    assert shown["provisioningState"] == "Failed"
    assert shown["error"]["details"] == [detail]
    assert "outputs" not in shown
    networks = (await desk.arm("GET", f"{GROUP}/providers/{NETWORK}")).json()["value"]
    assert [one["name"] for one in networks] == ["before", "beside"]
    assert (await desk.arm("GET", f"{GROUP}/providers/{SET}/wrong")).status_code == 404

    parts = (await desk.arm("GET", f"{ONE}/operations")).json()["value"]
    states = {
        part["properties"]["targetResource"]["resourceName"]: part["properties"][
            "provisioningState"
        ]
        for part in parts
    }
    assert states == {"before": "Succeeded", "wrong": "Failed", "beside": "Succeeded"}
    one = await desk.arm("GET", f"{ONE}/operations/{parts[0]['operationId']}")
    assert one.json() == parts[0]
    old = f"{GROUP}/deployments/one/operations"
    assert (await desk.arm("GET", old)).json()["value"] == parts
    assert (await desk.arm("GET", f"{ONE}/operations/none")).status_code == 404


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ({"resources": [a_network(name="[nonsense(]")]}, "InvalidTemplate"),
        ({"resources": [a_network(), a_network()]}, "InvalidTemplate"),
        ({"resources": [a_network(name="[parameters('none')]")]}, "InvalidTemplate"),
    ],
)
async def test_a_template_that_cannot_be_read_fails_by_its_status(desk, template, code):
    status = await deploy(desk, {"properties": {"template": template}})
    assert (status["status"], status["error"]["code"]) == ("Failed", code)
    assert (await desk.arm("GET", f"{GROUP}/providers/{NETWORK}")).json()["value"] == []

    answer = await desk.arm("POST", f"{ONE}/validate", {"properties": {"template": template}})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"properties": None},
        {"properties": {}},
        {"properties": {"template": []}},
        {"properties": {"template": {}, "parameters": []}},
        {"properties": {"template": {}, "mode": "other"}},
        {"properties": {"templateLink": {"uri": "https://example.org/x"}}},
        {"properties": {"template": {}, "parametersLink": {"uri": "https://example.org/x"}}},
    ],
)
async def test_a_request_without_a_template_is_refused(desk, body):
    for method, path in (("PUT", ONE), ("POST", f"{ONE}/validate"), ("POST", f"{ONE}/whatIf")):
        answer = await desk.arm(method, path, body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["code"] == "InvalidRequestContent"
    assert (await desk.arm("GET", DEPLOYMENTS)).json()["value"] == []


async def test_a_secret_is_neither_kept_nor_shown(desk):
    body = a_deployment(
        a_network(tags={"open": "[parameters('open')]"}),
        parameters={"secret": {"value": "hunter2"}, "open": {"value": "door"}},
    )
    body["properties"]["template"]["parameters"] = {
        "secret": {"type": "secureString"},
        "open": {"type": "string"},
    }
    assert (await deploy(desk, body))["status"] == "Succeeded"
    shown = (await desk.arm("GET", ONE)).json()["properties"]["parameters"]
    assert shown == {
        "secret": {"type": "SecureString"},
        "open": {"type": "String", "value": "door"},
    }
    kept = await desk.platform.read(lambda r: [found.content for found in r.resources()])
    assert "hunter2" not in json.dumps(kept)


async def test_deployments_are_listed_exported_and_forgotten(desk):
    await deploy(desk, a_deployment(a_network()))
    listed = (await desk.arm("GET", DEPLOYMENTS)).json()["value"]
    assert [one["name"] for one in listed] == ["one"]
    exported = await desk.arm("POST", f"{ONE}/exportTemplate")
    assert exported.json()["template"]["resources"][0]["name"] == "net"
    assert (await desk.arm("POST", f"{ONE}/cancel")).status_code == 409

    assert (await desk.arm("DELETE", ONE)).status_code == 204
    assert (await desk.arm("DELETE", ONE)).status_code == 204
    assert (await desk.arm("GET", ONE)).status_code == 404
    assert (await desk.arm("GET", f"{GROUP}/providers/{NETWORK}/net")).status_code == 200


async def test_validate_changes_nothing(desk):
    answer = await desk.arm("POST", f"{ONE}/validate", a_deployment(a_network()))
    assert answer.status_code == 200
    validated = answer.json()["properties"]["validatedResources"]
    assert [one["id"].rpartition("/")[2] for one in validated] == ["net"]
    assert (await desk.arm("GET", ONE)).status_code == 404
    assert (await desk.arm("GET", f"{GROUP}/providers/{NETWORK}/net")).status_code == 404


async def test_what_if_tells_what_would_change(desk):
    await deploy(desk, a_deployment(a_network(), a_network("other")))
    changed = a_network(tags={"new": "tag"})
    answer = await desk.arm("POST", f"{ONE}/whatIf", a_deployment(changed, a_network("fresh")))
    assert answer.status_code == 200
    changes = {
        one["resourceId"].rpartition("/")[2]: one["changeType"]
        for one in answer.json()["properties"]["changes"]
    }
    assert changes == {"net": "Modify", "fresh": "Create", "other": "Ignore"}
    complete = a_deployment(a_network(), mode="complete")
    answer = await desk.arm("POST", f"{ONE}/whatIf", complete)
    changes = {
        one["resourceId"].rpartition("/")[2]: one["changeType"]
        for one in answer.json()["properties"]["changes"]
    }
    assert changes == {"net": "NoChange", "other": "Delete"}


async def test_a_complete_deployment_removes_what_it_does_not_name(desk):
    await deploy(desk, a_deployment(a_network(), a_network("other"), a_set()))
    status = await deploy(desk, a_deployment(a_network(), mode="Complete"), f"{DEPLOYMENTS}/two")
    assert status["status"] == "Succeeded"
    networks = (await desk.arm("GET", f"{GROUP}/providers/{NETWORK}")).json()["value"]
    assert [one["name"] for one in networks] == ["net"]
    assert (await desk.arm("GET", f"{GROUP}/providers/{SET}/web")).status_code == 404
    assert len((await desk.arm("GET", DEPLOYMENTS)).json()["value"]) == 2


async def test_a_group_that_is_not_there_is_not_deployed_to(desk):
    elsewhere = ONE.replace("/Group/", "/Nowhere/")
    answer = await desk.arm("PUT", elsewhere, a_deployment())
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "ResourceGroupNotFound"


@pytest.mark.parametrize("mode", ["uniform", "flexible"])
async def test_the_templates_of_az_are_deployed(desk, mode):
    file = DATA / f"az_template_{mode}.json"
    if not file.exists():
        pytest.skip("the folder with az's templates is not here")
    text = file.read_text().replace("{sub}", SUBSCRIPTION)
    status = await deploy(desk, json.loads(text))
    assert status["status"] == "Succeeded", status
    shown = (await desk.arm("GET", ONE)).json()["properties"]
    assert shown["outputs"]["vmss"]["value"]["provisioningState"] == "Succeeded"


async def test_a_deployment_inside_a_deployment_counts_as_a_part(desk):
    inner = {
        "type": "Microsoft.Resources/deployments",
        "apiVersion": "2022-09-01",
        "name": "inner",
        "properties": a_deployment(a_set())["properties"],
    }
    answer = await desk.send("PUT", f"{ONE}?api-version=2024-11-01", a_deployment(inner))
    url = answer.headers["azure-asyncoperation"]
    assert (await desk.send("GET", url)).json()["status"] == "InProgress"
    await desk.settle()
    assert (await desk.send("GET", url)).json()["status"] == "Succeeded"
    shown = (await desk.arm("GET", f"{DEPLOYMENTS}/inner")).json()
    assert shown["properties"]["provisioningState"] == "Succeeded"
    assert (await desk.arm("GET", f"{GROUP}/providers/{SET}/web")).status_code == 200


async def test_a_failure_inside_fails_the_whole(desk):
    inner = {
        "type": "Microsoft.Resources/deployments",
        "apiVersion": "2022-09-01",
        "name": "inner",
        "properties": a_deployment(a_set(notice="PT1M"))["properties"],
    }
    status = await deploy(desk, a_deployment(inner))
    assert status["status"] == "Failed"
    assert status["error"]["code"] == "DeploymentFailed"
    assert status["error"]["details"][0]["target"].endswith("/inner")


def inside(*resources, **template):
    return {
        "type": "Microsoft.Resources/deployments",
        "apiVersion": "2022-09-01",
        "name": "inner",
        "properties": a_deployment(*resources, **template)["properties"],
    }


async def test_the_outputs_of_a_deployment_inside_can_be_referred_to(desk):
    inner = inside(a_network(), outputs={"name": {"type": "string", "value": "net"}})
    group = "[reference(resourceGroup().id, '2021-04-01').provisioningState]"
    body = a_deployment(
        inner,
        outputs={
            "name": {"type": "string", "value": "[reference('inner').outputs.name.value]"},
            "group": {"type": "string", "value": group},
        },
    )
    assert (await deploy(desk, body))["status"] == "Succeeded"
    outputs = (await desk.arm("GET", ONE)).json()["properties"]["outputs"]
    assert {name: output["value"] for name, output in outputs.items()} == {
        "name": "net",
        "group": "Succeeded",
    }


@pytest.mark.parametrize("path", ["providers/lastcall/metrics/cpu", "providers/A.B/c/d"])
async def test_what_cannot_be_referred_to_fails_by_the_status(desk, path):
    value = f"[reference(concat(resourceGroup().id, '/{path}'), '2021-04-01')]"
    body = a_deployment(outputs={"x": {"type": "object", "value": value}})
    assert (await deploy(desk, body))["status"] == "Failed"


async def test_a_deployment_stays_readable_for_as_long_as_it_is_there(desk):
    await deploy(desk, a_deployment(a_network(), a_set()))
    await desk.settle(timedelta(days=30))
    await desk.platform.transact(lambda tx, moment: tx.prune(moment.now))

    assert (await desk.arm("GET", ONE)).json()["properties"]["provisioningState"] == "Succeeded"
    assert len((await desk.arm("GET", DEPLOYMENTS)).json()["value"]) == 1
    assert len((await desk.arm("GET", f"{ONE}/operations")).json()["value"]) == 2
    assert (await deploy(desk, a_deployment(a_network())))["status"] == "Succeeded"
    assert (await desk.arm("DELETE", ONE)).status_code == 204


@pytest.mark.parametrize("name", ["%F0%9F%98%80", "%00", "a%2Fb", "x" * 65, "%7Bset%7D", "%20"])
async def test_a_name_that_none_can_have_is_refused(desk, name):
    before = desk.dump()
    answer = await desk.arm("PUT", f"{DEPLOYMENTS}/{name}", a_deployment())
    assert answer.status_code == 400
    assert desk.dump() == before


async def test_the_same_complete_deployment_twice_keeps_what_those_inside_wrote(desk):
    body = a_deployment(inside(a_network()), mode="Complete")
    for _ in range(2):
        assert (await deploy(desk, body))["status"] == "Succeeded"
        network = await desk.arm("GET", f"{GROUP}/providers/{NETWORK}/net")
        assert network.status_code == 200


async def test_a_deployment_inside_does_not_replace_an_active_one(desk):
    url = f"{ONE}?api-version=2024-11-01"
    first = await desk.send("PUT", url, a_deployment(inside(a_set())))
    assert first.status_code == 201
    other = f"{DEPLOYMENTS}/other?api-version=2024-11-01"
    second = await desk.send("PUT", other, a_deployment(inside(a_set())))
    status = await desk.send("GET", second.headers["azure-asyncoperation"])
    assert status.json()["status"] == "Failed"
    assert status.json()["error"]["details"][0]["code"] == "Conflict"


async def test_the_default_of_a_secret_is_not_kept(desk):
    body = a_deployment(a_network())
    secret = {"type": "SecureString", "defaultValue": "hunter2"}
    body["properties"]["template"]["parameters"] = {"secret": secret}
    assert (await deploy(desk, body))["status"] == "Succeeded"
    exported = (await desk.arm("POST", f"{ONE}/exportTemplate")).json()["template"]
    assert exported["parameters"] == {"secret": {"type": "SecureString"}}
    assert "hunter2" not in desk.dump()


async def test_the_oldest_deployments_make_room(desk):
    template = a_deployment()["properties"]["template"]

    def fill(tx, moment):
        for number in range(DEPLOYMENTS_PER_GROUP_MAX):
            path = parse_path(f"{DEPLOYMENTS}/d{number}")
            asked = Asked(path=path, tenant="", template=template, parameters={})
            deployments.deploy(tx, asked, kinds(), moment)

    await desk.platform.transact(fill)
    await desk.settle(timedelta(seconds=1))
    await deploy(desk, a_deployment(), f"{DEPLOYMENTS}/newest")

    names = [one["name"] for one in (await desk.arm("GET", DEPLOYMENTS)).json()["value"]]
    assert len(names) == DEPLOYMENTS_PER_GROUP_MAX
    assert "newest" in names


async def test_what_if_tells_no_secret_and_takes_none_for_a_change(desk):
    with_secret = a_set()
    del with_secret["properties"]["singlePlacementGroup"]  # Null: it would be taken away.
    profile = with_secret["properties"]["virtualMachineProfile"]
    profile["osProfile"] = {"adminPassword": "hunter2", "computerNamePrefix": "web"}
    body = a_deployment(with_secret)
    fresh = await desk.arm("POST", f"{ONE}/whatIf", body)
    assert fresh.json()["properties"]["changes"][0]["changeType"] == "Create"
    assert "hunter2" not in fresh.text
    await deploy(desk, body)
    again = await desk.arm("POST", f"{ONE}/whatIf", body)
    assert "hunter2" not in again.text
    assert again.json()["properties"]["changes"][0]["changeType"] == "NoChange"


async def test_a_group_on_its_way_out_is_not_even_validated_for(desk):
    await deploy(desk, a_deployment(a_set()))
    await desk.watch()
    assert (await desk.arm("DELETE", GROUP)).status_code == 202
    for method, path in (("PUT", ONE), ("POST", f"{ONE}/validate"), ("POST", f"{ONE}/whatIf")):
        answer = await desk.arm(method, path, a_deployment())
        assert answer.status_code == 409, answer.text
        assert answer.json()["error"]["code"] == "ResourceGroupBeingDeleted"


async def test_only_groups_are_deployed_to(desk):
    whole = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Resources/deployments/one"
    answer = await desk.arm("PUT", whole, a_deployment())
    assert (answer.status_code, answer.json()["error"]["code"]) == (501, "NotImplemented")


async def test_the_operations_of_deployments_go_with_their_group(desk):
    await deploy(desk, a_deployment(inside(a_network())))
    (first,) = {one.operation for one in await kept(desk) if one.name == "one"}
    await deploy(desk, a_deployment())
    assert (await desk.arm("DELETE", GROUP)).status_code == 202
    assert await kept(desk) == []

    await desk.settle(OPERATIONS_KEPT + timedelta(days=1))
    await desk.platform.transact(lambda tx, moment: tx.prune(moment.now))
    with pytest.raises(ResourceNotFoundError):
        await desk.platform.read(lambda r: r.operation(first))
    assert "is_kept=True" not in desk.dump()


async def kept(desk):
    return await desk.platform.read(
        lambda r: [one for one in r.resources() if one.operation is not None]
    )
