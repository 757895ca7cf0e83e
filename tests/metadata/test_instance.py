"""What a machine reads about itself (R115, R116)."""

import json

import pytest

from lastcall.engine.scale_sets import Orchestration
from lastcall.metadata.versions import INSTANCE_VERSIONS
from tests.metadata.stage import INSTANCE, a_request

MODEL = {
    "location": "westeurope",
    "sku": {"name": "Standard_D2s_v5", "capacity": 2},
    "tags": {"env": "test", "team": "blue"},
    "properties": {
        "virtualMachineProfile": {
            "priority": "Spot",
            "userData": "aGk=",
            "osProfile": {
                "adminUsername": "azureuser",
                "adminPassword": "secret",
                "linuxConfiguration": {
                    "disablePasswordAuthentication": True,
                    "ssh": {"publicKeys": [{"path": "/home/a/.ssh/k", "keyData": "ssh-rsa x"}]},
                },
            },
            "storageProfile": {
                "imageReference": {
                    "publisher": "Canonical",
                    "offer": "Ubuntu",
                    "sku": "22_04-lts",
                    "version": "latest",
                },
                "osDisk": {"createOption": "FromImage", "diskSizeGB": 30},
                "dataDisks": [{"lun": 0, "diskSizeGB": 10, "createOption": "Empty"}],
            },
        }
    },
}


async def read(stage, machine, path: str = "", **query):
    given = {"api-version": "2021-12-13", **query}
    url = f"/metadata/instance{path}?" + "&".join(
        f"{name}={value}" for name, value in given.items()
    )
    return await stage.ask(a_request(url), machine)


async def test_an_instance_of_a_uniform_set_knows_its_set(stage):
    first, second = await stage.scale_set(MODEL)
    compute = (await read(stage, second)).json()["compute"]

    assert compute["name"] == second.name == "web_1"
    assert compute["vmId"] == second.id
    assert compute["vmScaleSetName"] == "web"
    assert compute["resourceGroupName"] == "Group"
    assert compute["subscriptionId"] == "sub"
    assert compute["location"] == "westeurope"
    assert compute["placementGroupId"] == stage.published(first).scope.id
    assert compute["resourceId"] == (
        "/subscriptions/sub/resourceGroups/Group/providers/Microsoft.Compute"
        "/virtualMachineScaleSets/web/virtualMachines/1"
    )
    assert "virtualMachineScaleSet" not in compute


async def test_an_instance_of_a_flexible_set_is_a_machine_of_its_own(stage):
    (machine,) = await stage.scale_set(MODEL, 1, orchestration=Orchestration.FLEXIBLE)
    compute = (await read(stage, machine)).json()["compute"]

    group = "/subscriptions/sub/resourceGroups/Group/providers/Microsoft.Compute"
    assert compute["resourceId"] == f"{group}/virtualMachines/{machine.name}"
    assert compute["virtualMachineScaleSet"] == {"id": f"{group}/virtualMachineScaleSets/web"}


async def test_the_model_is_shown_and_its_secrets_are_not(stage):
    machine, _ = await stage.scale_set(MODEL)
    answer = await read(stage, machine)
    compute = answer.json()["compute"]

    assert compute["vmSize"] == "Standard_D2s_v5"
    assert compute["priority"] == "Spot"
    assert compute["userData"] == "aGk="
    assert compute["tags"] == "env:test;team:blue"
    assert compute["tagsList"] == [
        {"name": "env", "value": "test"},
        {"name": "team", "value": "blue"},
    ]
    assert compute["osProfile"] == {
        "adminUsername": "azureuser",
        "computerName": machine.computer_name,
        "disablePasswordAuthentication": "true",
    }
    assert compute["publicKeys"] == [{"keyData": "ssh-rsa x", "path": "/home/a/.ssh/k"}]
    assert (compute["publisher"], compute["offer"], compute["osType"]) == (
        "Canonical",
        "Ubuntu",
        "Linux",
    )
    assert compute["storageProfile"]["osDisk"]["diskSizeGB"] == "30"
    assert compute["storageProfile"]["dataDisks"][0]["lun"] == "0"
    assert b"secret" not in answer.body


async def test_a_changed_tag_reaches_an_instance_only_with_its_next_boot(stage):
    machine, _ = await stage.scale_set(MODEL)
    await stage.scale_set({**MODEL, "tags": {"env": "live"}})

    assert (
        await read(stage, machine, "/compute/tags", format="text")
    ).body == b"env:test;team:blue"


async def test_every_value_is_a_string(stage):
    machine, _ = await stage.scale_set(MODEL)

    def leaves(value):
        if isinstance(value, dict | list):
            for child in value.values() if isinstance(value, dict) else value:
                yield from leaves(child)
        else:
            yield value

    assert {type(leaf) for leaf in leaves((await read(stage, machine)).json())} == {str}


@pytest.mark.parametrize(
    "model", [{}, {"tags": None, "properties": {"virtualMachineProfile": None}}]
)
async def test_a_model_that_says_little_leaves_values_empty(stage, model):
    machine, _ = await stage.scale_set(model)
    compute = (await read(stage, machine)).json()["compute"]

    assert compute["vmSize"] == compute["tags"] == compute["priority"] == ""
    assert compute["tagsList"] == compute["publicKeys"] == []


async def test_a_machine_without_a_set_knows_itself(stage):
    (machine,) = await stage.machines("lone")
    compute = (await read(stage, machine)).json()["compute"]

    assert (compute["name"], compute["vmId"]) == ("lone", machine.id)
    assert compute["vmScaleSetName"] == compute["placementGroupId"] == compute["location"] == ""


async def test_machines_have_addresses_of_their_own(stage):
    machines = await stage.machines("web_0", "web_1")
    interfaces = [
        (await read(stage, machine, "/network/interface/0")).json() for machine in machines
    ]

    assert interfaces[0]["ipv4"]["ipAddress"][0]["privateIpAddress"] == "10.0.0.1"
    assert len({json.dumps(interface) for interface in interfaces}) == 2
    assert len({interface["macAddress"] for interface in interfaces}) == 2


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/compute/name", b"web_0"),
        ("/COMPUTE/NAME/", b"web_0"),
        ("/network/interface/0/ipv4/ipAddress/0/privateIpAddress", b"10.0.0.1"),
        ("/network", b"interface/"),
        ("/network/interface", b"0/"),
        ("/network/interface/0", b"ipv4/\nipv6/\nmacAddress"),
        ("/", b"compute/\nnetwork/"),
        ("/compute/vmScaleSetName", b""),
    ],
)
async def test_a_path_leads_to_a_part_as_text(stage, path, body):
    (machine,) = await stage.machines("web_0")
    answer = await read(stage, machine, path, format="text")

    assert (answer.status, answer.body) == (200, body)
    assert answer.headers.get("content-type", "text/plain; charset=utf-8").startswith("text/plain")


async def test_a_path_leads_to_a_part_as_json(stage):
    (machine,) = await stage.machines("web_0")
    whole = (await read(stage, machine)).json()

    assert (await read(stage, machine, "/compute")).json() == whole["compute"]
    assert (await read(stage, machine, "/network/interface")).json() == whole["network"][
        "interface"
    ]
    assert (await read(stage, machine, "/compute/tagsList", format="json")).json() == []


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/compute/nowhere",
        "/compute/name/deeper",
        "/network/interface/1",
        "/network/interface/-1",
        "//",
    ],
)
async def test_a_path_that_leads_nowhere_is_not_found(stage, path):
    (machine,) = await stage.machines("web_0")
    answer = await read(stage, machine, path, format="text")

    assert (answer.status, answer.error) == (404, "Not found")


async def test_a_single_value_needs_the_format_text(stage):
    (machine,) = await stage.machines("web_0")
    answer = await read(stage, machine, "/compute/name")

    assert answer.status == 400
    assert "format=text" in answer.error


async def test_an_unknown_format_is_refused(stage):
    (machine,) = await stage.machines("web_0")

    assert (await read(stage, machine, format="yaml")).status == 400


@pytest.mark.parametrize("version", INSTANCE_VERSIONS)
async def test_every_version_answers_with_what_it_knew(stage, version):
    machine, _ = await stage.scale_set(MODEL)
    compute = (await read(stage, machine, **{"api-version": version})).json()["compute"]

    assert compute["name"] == "web_0"
    assert ("priority" in compute) == (version >= "2020-12-01")
    assert ("tagsList" in compute) == (version >= "2019-06-04")


async def test_reading_it_is_not_reading_the_events(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request(INSTANCE))

    assert stage.published(machine).scope.watched_at is None
