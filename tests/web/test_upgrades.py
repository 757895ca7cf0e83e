"""Rolling upgrades: started, watched, cancelled, remembered."""

from datetime import timedelta

import pytest

from tests.web.desk import SETS, WEB, a_model

MINUTE = timedelta(minutes=1)
POLICY = {
    "mode": "Rolling",
    "rollingUpgradePolicy": {
        "maxBatchInstancePercent": 34,
        "pauseTimeBetweenBatches": "PT1M",
    },
}


@pytest.fixture
async def rolling(desk):
    """A set of three instances, upgraded one by one with a pause of a minute."""
    model = a_model(3, licenseType="None")
    model["properties"]["upgradePolicy"] = POLICY
    await desk.arm("PUT", WEB, model)
    return desk


async def latest(desk):
    answer = await desk.arm("GET", f"{WEB}/rollingUpgrades/latest")
    assert answer.status_code == 200, answer.text
    return answer.json()["properties"]


async def status(desk, answer):
    return (await desk.send("GET", answer.headers["azure-asyncoperation"])).json()


async def test_before_the_first_upgrade_there_is_none_to_show(rolling):
    answer = await rolling.arm("GET", f"{WEB}/rollingUpgrades/latest")

    assert answer.status_code == 404
    assert (await rolling.arm("GET", f"{WEB}/osUpgradeHistory")).json() == {"value": []}


async def test_an_os_upgrade_reimages_the_instances_batch_by_batch(rolling):
    answer = await rolling.arm("POST", f"{WEB}/osRollingUpgrade")

    assert answer.status_code == 202
    running = await latest(rolling)
    assert running["runningStatus"]["code"] == "RollingForward"
    assert running["runningStatus"]["lastAction"] == "Start"
    assert running["progress"] == {
        "successfulInstanceCount": 1,
        "failedInstanceCount": 0,
        "inProgressInstanceCount": 0,
        "pendingInstanceCount": 2,
    }
    assert running["policy"]["maxBatchInstancePercent"] == 34
    assert (await status(rolling, answer))["status"] == "InProgress"
    await rolling.settle(5 * MINUTE)
    done = await latest(rolling)
    assert done["runningStatus"]["code"] == "Completed"
    assert done["progress"]["successfulInstanceCount"] == 3
    assert (await status(rolling, answer))["status"] == "Succeeded"
    assert rolling.dump().count("reimage done") == 3


async def test_os_upgrades_are_remembered_newest_first(rolling):
    for _ in range(2):
        await rolling.arm("POST", f"{WEB}/osRollingUpgrade")
        await rolling.settle(5 * MINUTE)
    await rolling.arm("POST", f"{WEB}/osRollingUpgrade")

    shown = (await rolling.arm("GET", f"{WEB}/osUpgradeHistory")).json()["value"]
    codes = [entry["properties"]["runningStatus"]["code"] for entry in shown]
    assert codes == ["RollingForward", "Completed", "Completed"]
    starts = [entry["properties"]["runningStatus"]["startTime"] for entry in shown]
    assert starts == sorted(starts, reverse=True)


async def test_an_upgrade_of_extensions_finds_none_to_upgrade(rolling):
    answer = await rolling.arm("POST", f"{WEB}/extensionRollingUpgrade")

    assert (await status(rolling, answer))["status"] == "Succeeded"
    assert (await latest(rolling))["runningStatus"]["code"] == "Completed"
    assert (await rolling.arm("GET", f"{WEB}/osUpgradeHistory")).json() == {"value": []}


async def test_an_upgrade_of_the_model_is_shown_too(rolling):
    await rolling.arm("PATCH", WEB, {"properties": {"virtualMachineProfile": {"licenseType": "X"}}})

    assert (await latest(rolling))["progress"]["pendingInstanceCount"] == 2
    await rolling.settle(5 * MINUTE)
    assert (await latest(rolling))["runningStatus"]["code"] == "Completed"


async def test_only_one_upgrade_is_under_way(rolling):
    await rolling.arm("POST", f"{WEB}/osRollingUpgrade")

    for name in ("osRollingUpgrade", "extensionRollingUpgrade"):
        answer = await rolling.arm("POST", f"{WEB}/{name}")
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "OperationNotAllowed"


async def test_a_cancelled_upgrade_begins_no_further_batch(rolling):
    begun = await rolling.arm("POST", f"{WEB}/osRollingUpgrade")

    answer = await rolling.arm("POST", f"{WEB}/rollingUpgrades/cancel")

    assert answer.status_code == 202
    assert (await status(rolling, answer))["status"] == "Succeeded"
    assert (await status(rolling, begun))["error"]["code"] == "OperationCanceled"
    await rolling.settle(5 * MINUTE)
    shown = await latest(rolling)
    assert shown["runningStatus"]["code"] == "Cancelled"
    assert shown["runningStatus"]["lastAction"] == "Cancel"
    assert shown["progress"]["pendingInstanceCount"] == 2
    again = await rolling.arm("POST", f"{WEB}/rollingUpgrades/cancel")
    assert again.status_code == 409


async def test_a_newer_model_overtakes_an_upgrade(rolling):
    await rolling.arm("POST", f"{WEB}/osRollingUpgrade")
    await rolling.arm("PATCH", WEB, {"properties": {"virtualMachineProfile": {"licenseType": "X"}}})
    await rolling.settle(5 * MINUTE)

    history = (await rolling.arm("GET", f"{WEB}/osUpgradeHistory")).json()["value"]
    assert [e["properties"]["runningStatus"]["code"] for e in history] == ["Cancelled"]
    assert (await latest(rolling))["runningStatus"]["code"] == "Completed"


async def test_a_set_that_is_being_deleted_is_not_upgraded(web):
    await web.arm("DELETE", WEB)

    for path in ("osRollingUpgrade", "rollingUpgrades/cancel"):
        assert (await web.arm("POST", f"{WEB}/{path}")).json()["error"]["code"] == "Conflict"


async def test_an_approval_of_upgrades_checks_whom_it_names(web):
    approve = f"{WEB}/approveRollingUpgrade"
    one = f"{WEB}/virtualMachines/{{}}/approveRollingUpgrade"

    assert (await web.arm("POST", approve)).status_code == 202
    assert (await web.arm("POST", approve, {"instanceIds": ["0"]})).status_code == 202
    assert (await web.arm("POST", approve, {"instanceIds": ["77"]})).status_code == 400
    assert (await web.arm("POST", one.format("0"))).status_code == 202
    assert (await web.arm("POST", one.format("%2A"))).status_code == 202
    assert (await web.arm("POST", one.format("77"))).status_code == 404
    assert (await web.arm("POST", f"{SETS}/nope/approveRollingUpgrade")).status_code == 404
