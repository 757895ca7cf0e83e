"""What an instance reads about itself, as the set around it changes (R48, R49, R115, R116)."""

import pytest

from tests.web.desk import WEB


async def read(web, path, machine="web_0"):
    return (await web.ask(f"instance/{path}?api-version=2021-02-01&format=text", machine)).text


@pytest.mark.parametrize("action", ["restart", "redeploy", "reimage"])
async def test_new_tags_are_read_after_the_next_boot_and_no_earlier(web, action):
    await web.arm("PATCH", WEB, {"tags": {"env": "live"}})
    assert await read(web, "compute/tags") == ""

    await web.arm("POST", f"{WEB}/{action}", {"instanceIds": ["0"]})
    for event in await web.events():
        await web.approve(event["EventId"])

    assert await read(web, "compute/tags") == "env:live"
    assert await read(web, "compute/tags", "web_1") == ""


async def test_resources_hold_the_name_of_the_metadata_and_not_the_hostname(web):
    await web.arm("DELETE", f"{WEB}/virtualMachines/1")

    (event,) = await web.events()

    assert event["Resources"] == [await read(web, "compute/name", "web_1")]
    assert await read(web, "compute/osProfile/computerName", "web_1") == "web000001"
