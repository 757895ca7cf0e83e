"""Extensions of a set: a part of its model, written one at a time."""

from tests.web.desk import SETS, WEB

SCRIPT = {
    "properties": {
        "publisher": "Microsoft.Azure.Extensions",
        "type": "CustomScript",
        "typeHandlerVersion": "2.1",
        "settings": {"fileUris": []},
        "protectedSettings": {"commandToExecute": "secret"},
    }
}
ONE = f"{WEB}/extensions/script"


async def latest(desk):
    shown = (await desk.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    return [entry["properties"]["latestModelApplied"] for entry in shown]


async def test_an_extension_is_part_of_the_model(web):
    created = await web.arm("PUT", ONE, SCRIPT)

    assert created.status_code == 201
    assert created.json()["properties"]["provisioningState"] == "Creating"
    assert "azure-asyncoperation" in created.headers
    profile = (await web.arm("GET", WEB)).json()["properties"]["virtualMachineProfile"]
    assert [entry["name"] for entry in profile["extensionProfile"]["extensions"]] == ["script"]
    assert await latest(web) == [False, False]


async def test_an_extension_is_shown_without_its_secrets(web):
    await web.arm("PUT", ONE, SCRIPT)

    shown = (await web.arm("GET", ONE.upper().replace("SUBSCRIPTIONS", "subscriptions"))).json()
    assert shown["id"] == ONE
    assert shown["type"] == "Microsoft.Compute/virtualMachineScaleSets/extensions"
    assert shown["properties"]["provisioningState"] == "Succeeded"
    assert "secret" not in str(shown)
    assert (await web.arm("GET", f"{WEB}/extensions")).json() == {"value": [shown]}
    assert "type" not in (await web.arm("GET", ONE, version="2019-03-01")).json()


async def test_a_patch_changes_a_part_and_a_put_all_of_it(web):
    await web.arm("PUT", ONE, SCRIPT)

    patched = await web.arm("PATCH", ONE, {"properties": {"forceUpdateTag": "2"}})
    assert patched.status_code == 200
    assert patched.json()["properties"]["type"] == "CustomScript"
    replaced = await web.arm("PUT", ONE, {"properties": {"publisher": "P"}})
    assert replaced.status_code == 200
    shown = (await web.arm("GET", ONE)).json()["properties"]
    assert shown == {"publisher": "P", "provisioningState": "Succeeded"}


async def test_a_deleted_extension_is_gone_from_the_model(web):
    await web.arm("PUT", ONE, SCRIPT)
    await web.arm("PUT", f"{WEB}/extensions/other", SCRIPT)

    assert (await web.arm("DELETE", ONE)).status_code == 202
    assert (await web.arm("DELETE", ONE)).status_code == 204
    assert (await web.arm("GET", ONE)).status_code == 404
    left = (await web.arm("GET", f"{WEB}/extensions")).json()["value"]
    assert [entry["name"] for entry in left] == ["other"]


async def test_extensions_that_are_sent_back_keep_their_secrets(web):
    await web.arm("PUT", ONE, SCRIPT)
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["*"]})
    read = (await web.arm("GET", WEB)).json()

    await web.arm("PUT", WEB, read)

    assert await latest(web) == [True, True]
    # Once in the model that the instances have, once in the one that was written back.
    assert web.dump().count('"commandToExecute":"secret"') == 2


async def test_what_is_not_there_is_a_404(web):
    assert (await web.arm("PATCH", ONE, SCRIPT)).status_code == 404
    assert (await web.arm("PUT", f"{SETS}/nope/extensions/a", SCRIPT)).status_code == 404
    assert (await web.arm("DELETE", f"{SETS}/nope/extensions/a")).status_code == 404
    assert (await web.arm("PUT", f"{WEB}/extensions/a%20b", SCRIPT)).status_code == 400
