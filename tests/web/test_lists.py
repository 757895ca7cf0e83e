"""Lists: pages, filters, selections, expansions."""

from itertools import chain

import pytest

from lastcall.engine.limits import LIST_PAGE
from tests.web.desk import SETS, SUBSCRIPTION, WEB, a_model

VMS = f"{WEB}/virtualMachines"


async def names(desk, query):
    answer = await desk.arm("GET", f"{VMS}?{query}")
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["value"]]


async def pages(desk, path):
    """Return the pages of a list, following each link as a client does."""
    found, link = [], f"{path}?api-version=2024-07-01"
    while link is not None:
        answer = await desk.send("GET", link)
        assert answer.status_code == 200, answer.text
        found.append([entry["name"] for entry in answer.json()["value"]])
        link = answer.json().get("nextLink")
    return found


async def test_a_long_list_of_instances_comes_in_pages(desk):
    model = a_model(LIST_PAGE + 5)
    model["properties"]["singlePlacementGroup"] = False
    await desk.arm("PUT", WEB, model)

    found = await pages(desk, VMS)

    assert [len(page) for page in found] == [LIST_PAGE, 5]
    assert list(chain(*found)) == [f"web_{number}" for number in range(LIST_PAGE + 5)]


async def test_what_goes_between_two_pages_hides_nothing(desk):
    model = a_model(LIST_PAGE + 5)
    model["properties"]["singlePlacementGroup"] = False
    await desk.arm("PUT", WEB, model)
    first = (await desk.arm("GET", VMS)).json()

    await desk.arm("POST", f"{WEB}/delete", {"instanceIds": ["0", "1"]})

    second = (await desk.send("GET", first["nextLink"])).json()
    assert [entry["instanceId"] for entry in second["value"]] == ["200", "201", "202", "203", "204"]
    assert "nextLink" not in second


async def test_a_link_keeps_what_else_was_asked_for(desk):
    model = a_model(LIST_PAGE + 1)
    model["properties"]["singlePlacementGroup"] = False
    await desk.arm("PUT", WEB, model)

    first = (await desk.arm("GET", f"{VMS}?$expand=instanceView")).json()
    second = (await desk.send("GET", first["nextLink"])).json()

    assert first["nextLink"].startswith(f"http://127.0.0.1:7080{VMS}?")
    assert "instanceView" in second["value"][0]["properties"]


async def test_a_long_list_of_sets_comes_in_pages(desk):
    for number in range(LIST_PAGE + 1):
        await desk.send("PUT", f"{SETS}/s{number:03}?api-version=2024-07-01", a_model(0))
    everywhere = (
        f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachineScaleSets"
    )

    for path in (SETS, everywhere):
        found = await pages(desk, path)
        assert [len(page) for page in found] == [LIST_PAGE, 1]
        assert list(chain(*found)) == [f"s{number:03}" for number in range(LIST_PAGE + 1)]


@pytest.mark.parametrize("token", ["x", "", "YWZ0ZXI", "YmVmb3JlOjA=", "%F0%9F%90%8C", "A" * 5000])
async def test_a_token_that_no_list_gave_is_refused(web, token):
    for path in (SETS, VMS, f"{WEB}/networkInterfaces"):
        answer = await web.arm("GET", f"{path}?$skiptoken={token}")
        assert answer.status_code == 400
        assert answer.json()["error"]["target"] == "$skiptoken"


async def test_instances_are_filtered_by_their_state_and_model(web):
    await web.arm("POST", f"{WEB}/deallocate", {"instanceIds": ["1"]})
    await web.arm("PATCH", WEB, {"properties": {"virtualMachineProfile": {"licenseType": "X"}}})
    await web.arm("POST", f"{WEB}/manualupgrade", {"instanceIds": ["0"]})

    assert await names(web, "$filter=properties/latestModelApplied eq true") == ["web_0"]
    assert await names(web, "$filter=properties/latestModelApplied eq false") == ["web_1"]
    running = "$filter=startswith(instanceView/statuses/code,'PowerState/running') eq true"
    assert await names(web, running) == ["web_0"]
    assert await names(web, "$filter=virtualMachineScaleSet/name eq 'WEB'") == ["web_0", "web_1"]


async def test_the_documented_query_for_power_states_is_answered(web):
    query = (
        "$filter=startswith(instanceView/statuses/code,'PowerState') eq true"
        "&$select=instanceView/statuses&$expand=instanceView"
    )
    answer = await web.arm("GET", f"{VMS}?{query}")

    for entry in answer.json()["value"]:
        codes = [status["code"] for status in entry["properties"]["instanceView"]["statuses"]]
        assert "PowerState/running" in codes
        assert entry["properties"].keys() == {"instanceView"}


@pytest.mark.parametrize("query", ["$filter=aaaa", "$select=aaaa", "$expand=aaaa"])
async def test_what_is_not_understood_is_refused(web, query):
    answer = await web.arm("GET", f"{VMS}?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == query.partition("=")[0]


async def test_user_data_is_shown_to_whoever_asks_for_it(desk):
    await desk.arm("PUT", WEB, a_model(1, userData="aGVsbG8="))

    for path in (WEB, f"{VMS}/0"):
        plain = (await desk.arm("GET", path)).json()["properties"]
        asked = (await desk.arm("GET", f"{path}?$expand=userData")).json()["properties"]
        assert "userData" not in plain.get("virtualMachineProfile", plain)
        assert asked.get("virtualMachineProfile", asked)["userData"] == "aGVsbG8="
    both = await desk.arm("GET", f"{VMS}/0?$expand=instanceView,userData,resiliencyView")
    assert {"instanceView", "userData"} <= both.json()["properties"].keys()
