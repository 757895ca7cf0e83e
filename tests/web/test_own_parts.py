"""What single instances have of their own: model, disks, extensions, run commands."""

import pytest

from lastcall.engine.limits import SET_BYTES_MAX
from tests.web.desk import SETS, WEB, a_model, with_notice

ONE = f"{WEB}/virtualMachines/0"
TWO = f"{WEB}/virtualMachines/1"
SCRIPT = {
    "location": "westus",
    "properties": {
        "publisher": "Microsoft.Azure.Extensions",
        "type": "CustomScript",
        "typeHandlerVersion": "2.1",
        "settings": {"commandToExecute": "true"},
        "protectedSettings": {"key": "secret"},
    },
}
COMMAND = {
    "location": "westus",
    "tags": {"a": "b"},
    "properties": {
        "source": {"script": "echo hello"},
        "protectedParameters": [{"name": "x", "value": "secret"}],
        "runAsPassword": "secret",
    },
}
BODIES = {"extensions": SCRIPT, "runCommands": COMMAND}


async def get(desk, path, **more):
    answer = await desk.arm("GET", path, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_write_changes_what_the_instance_has_and_nobody_else(web):
    body = {
        "tags": {"mine": "yes"},
        "properties": {
            "userData": "bWluZQ==",
            "storageProfile": {"dataDisks": [{"lun": 3, "createOption": "Empty"}]},
        },
    }
    answer = await web.arm("PUT", ONE, body)

    assert answer.status_code == 200
    assert "azure-asyncoperation" in answer.headers
    shown = await get(web, f"{ONE}?$expand=userData")
    assert shown["tags"] == {"mine": "yes"}
    assert shown["properties"]["userData"] == "bWluZQ=="
    assert shown["properties"]["storageProfile"]["dataDisks"][0]["lun"] == 3
    assert shown["properties"]["modelDefinitionApplied"] == "VirtualMachine"
    other = await get(web, TWO)
    assert "tags" not in other
    assert other["properties"]["modelDefinitionApplied"] == "VirtualMachineScaleSet"
    assert (await get(web, WEB))["etag"] == '"1"'


async def test_what_was_read_of_an_instance_can_be_written_back_and_changes_nothing(web):
    before = await get(web, f"{ONE}?$expand=userData,instanceView")

    await web.arm("PUT", ONE, before)

    after = await get(web, f"{ONE}?$expand=userData,instanceView")
    assert before.pop("etag") != after.pop("etag")
    assert after == before


@pytest.mark.parametrize("place", [f"{ONE}/extensions", f"{WEB}/extensions"])
async def test_parts_do_not_add_up_to_more_than_a_set_may_be(web, place):
    large = {"properties": {"publisher": "P", "settings": {"x": "x" * (3 * 1024 * 1024)}}}
    for name in ("a", "b"):
        assert (await web.arm("PUT", f"{place}/{name}", large)).status_code == 201
    before = web.dump()
    refused = await web.arm("PUT", f"{place}/c", large)

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidRequestContent")
    assert f"{SET_BYTES_MAX} bytes" in refused.json()["error"]["message"]
    assert web.dump() == before


async def test_a_write_of_an_instance_with_an_outdated_etag_is_refused(web):
    etag = (await web.arm("GET", ONE)).headers["etag"]
    body = {"properties": {"protectionPolicy": {"protectFromScaleIn": True}}}

    first = await web.arm("PUT", ONE, body, if_match=etag)
    second = await web.arm("PUT", ONE, body, if_match=etag)
    third = await web.arm("PUT", ONE, body, if_match=first.headers["etag"])
    last = await web.arm("PUT", ONE, body, if_match=third.headers["etag"].strip('"'))
    assert (await web.arm("PUT", ONE, body, if_match="*")).status_code == 200

    statuses = [answer.status_code for answer in (first, second, third, last)]
    assert statuses == [200, 412, 200, 200]
    assert first.json()["etag"] == first.headers["etag"] != etag


@pytest.mark.parametrize(("value", "status"), [("*", 412), ('"1"', 400)])
async def test_an_instance_is_never_new(web, value, status):
    assert (await web.arm("PUT", ONE, {}, if_none_match=value)).status_code == status


async def test_a_new_model_raises_the_etag_of_an_instance(web):
    before = (await get(web, ONE))["etag"]
    profile = {"properties": {"virtualMachineProfile": {"licenseType": "None"}}}
    await web.arm("PATCH", WEB, profile)
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["0"]})

    assert (await get(web, ONE))["etag"] > before


async def test_disks_are_attached_and_detached(web):
    disk = f"{WEB}/disks/extra"
    attach = {"dataDisksToAttach": [{"diskId": disk, "caching": "None"}]}
    answer = await web.arm("POST", f"{ONE}/attachDetachDataDisks", attach)

    assert answer.status_code == 200
    assert answer.json()["dataDisks"][0]["managedDisk"] == {"id": disk}
    detach = {"dataDisksToDetach": [{"diskId": disk}]}
    answer = await web.arm("POST", f"{ONE}/attachDetachDataDisks", detach)
    assert answer.json()["dataDisks"] == []
    again = await web.arm("POST", f"{ONE}/attachDetachDataDisks", detach)
    assert again.json()["error"]["target"] == "dataDisksToDetach"


@pytest.mark.parametrize("kind", BODIES)
async def test_a_child_is_written_shown_changed_and_deleted(web, kind):
    path = f"{ONE}/{kind}/First"
    created = await web.arm("PUT", path, BODIES[kind])
    assert created.status_code == 201
    assert created.json()["properties"]["provisioningState"] == "Creating"
    followed = await web.send("GET", created.headers["azure-asyncoperation"])
    assert followed.json()["status"] == "Succeeded"

    shown = await get(web, path.replace("First", "FIRST"))
    assert shown["id"] == path
    assert shown["name"] == "First"
    assert shown["properties"]["provisioningState"] == "Succeeded"
    assert "secret" not in str(shown)
    assert await get(web, f"{ONE}/{kind}") == {"value": [shown]}
    assert await get(web, f"{TWO}/{kind}") == {"value": []}

    changed = await web.arm("PATCH", path, {"properties": {"timeoutInSeconds": 5}})
    assert changed.status_code == 200
    after = (await get(web, path))["properties"]
    assert after == shown["properties"] | {"timeoutInSeconds": 5}
    replaced = await web.arm("PUT", path, {"properties": {"x": 1}})
    assert replaced.status_code == 200
    assert (await get(web, path))["properties"] == {"x": 1, "provisioningState": "Succeeded"}

    assert (await web.arm("DELETE", path)).status_code == 202
    assert (await web.arm("DELETE", path)).status_code == 204
    assert (await web.arm("GET", path)).status_code == 404
    assert (await web.arm("PATCH", path, {})).status_code == 404


@pytest.mark.parametrize("kind", BODIES)
async def test_a_child_cannot_have_just_any_name_or_body(web, kind):
    assert (await web.arm("PUT", f"{ONE}/{kind}/a%20b", {})).status_code == 400
    assert (await web.arm("PUT", f"{ONE}/{kind}/a", {"properties": 5})).status_code == 400
    assert (await web.arm("PUT", f"{WEB}/virtualMachines/77/{kind}/a", {})).status_code == 404
    assert (await web.arm("GET", f"{SETS}/nope/virtualMachines/0/{kind}")).status_code == 404


async def test_extensions_of_the_set_are_on_its_instances_too(web):
    extension = {"name": "shared", "properties": {"publisher": "P"}}
    profile = {"extensionProfile": {"extensions": [extension]}}
    await web.arm("PATCH", WEB, {"properties": {"virtualMachineProfile": profile}})
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["0"]})
    await web.arm("PUT", f"{ONE}/extensions/own", SCRIPT)

    listed = (await get(web, f"{ONE}/extensions"))["value"]
    assert [entry["name"] for entry in listed] == ["shared", "own"]
    assert [entry["name"] for entry in (await get(web, ONE))["resources"]] == ["shared", "own"]
    assert "resources" not in await get(web, TWO)


async def test_a_run_command_says_that_it_was_not_run(web):
    await web.arm("PUT", f"{ONE}/runCommands/one", COMMAND)

    shown = await get(web, f"{ONE}/runCommands/one?$expand=instanceView")
    assert shown["properties"]["instanceView"]["executionState"] == "Unknown"


async def test_what_an_instance_had_goes_with_it(desk):
    await desk.arm("PUT", WEB, a_model(2))
    await desk.arm("PUT", f"{ONE}/extensions/own", SCRIPT)
    await desk.arm("DELETE", ONE)
    await desk.arm("PUT", f"{TWO}/extensions/own", SCRIPT)

    assert desk.dump().count("commandToExecute") == 1
    await desk.arm("DELETE", WEB)
    assert "commandToExecute" not in desk.dump()


async def test_nobody_can_write_what_instances_have_through_the_set(web):
    hidden = {"$Instances": {"x": 1}, "$instances": {"y": 1}}
    for name, value in hidden.items():
        answer = await web.arm("PUT", WEB, with_notice() | {name: value})
        assert answer.status_code == 200
        assert not [key for key in answer.json() if key.startswith("$")]
    await web.arm("PUT", f"{ONE}/extensions/own", SCRIPT)
    await web.arm("PATCH", WEB, {"tags": {}, "$instances": None})
    assert len((await get(web, f"{ONE}/extensions"))["value"]) == 1


async def test_what_could_not_be_read_again_is_refused(web):
    deep = "x"
    for _ in range(62):
        deep = {"a": deep}
    answer = await web.arm("PUT", f"{ONE}/extensions/own", deep)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "InvalidRequestContent"
    assert (await web.arm("GET", WEB)).status_code == 200
