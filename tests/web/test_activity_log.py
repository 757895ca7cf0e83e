"""Who asked for what, over HTTP: of the control plane as Azure shows it, and in our own API."""

from datetime import timedelta

import pytest

from lastcall.ports import StoreUnavailableError
from lastcall.store.memory import MemoryStore
from tests.app.signing import some_tokens
from tests.web.desk import GROUP, OURS, SUBSCRIPTION, WEB, a_desk, with_notice
from tests.web.settings import AUTO, INSIGHTS, a_profile, a_setting, report
from tests.web.test_control import ControlDesk, clock
from tests.web.test_deployments import a_deployment, a_network, a_set, deploy

__all__ = ["clock"]

VALUES = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
# As az writes it: times without quotes and without an offset.
SPAN = "eventTimestamp ge 2026-03-05T06:00:00.0 and eventTimestamp le 2026-03-05T23:00:00.0"
COMPUTE = "Microsoft.Compute/virtualMachineScaleSets"


async def events(desk, more="", **query):
    params = {"api-version": "2015-04-01", "$filter": f"{SPAN}{more}", **query}
    answer = await desk.http.get(VALUES, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["value"]


async def activities(desk, query=""):
    return (await desk.send("GET", f"{OURS}/activities{query}")).json()["value"]


def brief(events):
    return [(event["operationName"]["value"], event["status"]["value"]) for event in events]


def short(activities):
    return [(each["operation"], each["status"]) for each in activities]


async def test_a_long_running_request_is_logged_when_it_begins_and_when_it_ends(web):
    started = await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0"]})
    operation = started.headers["x-ms-request-id"]

    found = await events(web, f" and correlationId eq '{operation}'")
    assert brief(found) == [(f"{COMPUTE}/delete/action", "Accepted")]
    assert found[0]["resourceId"] == WEB
    assert found[0]["caller"] == "portal"
    assert found[0]["eventTimestamp"] == "2026-03-05T12:00:00.000000Z"

    await web.settle(timedelta(minutes=10))
    found = await events(web, f" and correlationId eq '{operation}'")
    assert brief(found) == [
        (f"{COMPUTE}/delete/action", "Succeeded"),
        (f"{COMPUTE}/delete/action", "Accepted"),
    ]
    assert found[0]["eventTimestamp"] == "2026-03-05T12:10:00.000000Z"


async def test_creating_changing_and_deleting_a_set_are_logged(web):
    await web.arm("PATCH", WEB, {"tags": {"a": "b"}})
    await web.arm("DELETE", f"{WEB}?forceDeletion=true")

    assert brief(await events(web)) == [
        (f"{COMPUTE}/delete", "Succeeded"),
        (f"{COMPUTE}/delete", "Accepted"),
        *[(f"{COMPUTE}/write", "Succeeded"), (f"{COMPUTE}/write", "Accepted")] * 2,
        ("Microsoft.Resources/subscriptions/resourceGroups/write", "Succeeded"),
    ]


async def test_a_request_that_is_over_at_once_is_logged_once(web):
    before = len(await activities(web))
    await web.arm("PUT", AUTO, a_setting(a_profile()), INSIGHTS)
    await web.arm("DELETE", AUTO, version=INSIGHTS)

    found = (await activities(web))[: len(await activities(web)) - before]

    assert short(found) == [
        ("Microsoft.Insights/autoscaleSettings/delete", "Succeeded"),
        ("Microsoft.Insights/autoscaleSettings/write", "Succeeded"),
    ]
    assert all(len(each["correlation"]) == 36 for each in found)


async def test_a_refusal_is_logged_with_its_code_and_its_sentence(web):
    refused = await web.arm("PATCH", WEB, with_notice("PT1M"))
    await web.arm("POST", f"{WEB}/restart", b"{")
    await web.arm("PATCH", f"{WEB}2", {})

    missing, wrong, first = (await activities(web))[:3]

    assert (first["status"], first["code"], first["reason"]) == ("Failed", 400, "InvalidParameter")
    assert first["message"] == refused.json()["error"]["message"]
    assert (wrong["operation"], wrong["reason"]) == (
        f"{COMPUTE}/restart/action",
        "InvalidRequestContent",
    )
    assert (missing["path"], missing["code"]) == (f"{WEB}2", 404)
    event = (await events(web, " and status eq 'Failed'"))[0]
    assert event["level"] == "Error"
    assert event["subStatus"]["value"] == "ResourceNotFound"


async def test_an_operation_that_fails_later_is_logged_as_such(web):
    rolling = with_notice()
    rolling["properties"]["upgradePolicy"] = {"mode": "Rolling"}
    await web.arm("PUT", WEB, rolling)
    profile = {"virtualMachineProfile": {"userData": "YQ=="}}
    first = await web.send("PATCH", f"{WEB}?api-version=2024-07-01", {"properties": profile})
    profile = {"virtualMachineProfile": {"userData": "Yg=="}}
    await web.send("PATCH", f"{WEB}?api-version=2024-07-01", {"properties": profile})

    found = await events(web, f" and correlationId eq '{first.headers['x-ms-request-id']}'")

    assert brief(found)[0] == (f"{COMPUTE}/write", "Failed")
    assert found[0]["subStatus"]["value"] == "OperationPreempted"


async def test_who_is_turned_away_at_the_door_and_who_only_reads_is_not_logged(web):
    before = await activities(web)

    await web.send("DELETE", WEB)
    await web.arm("DELETE", WEB, version="yesterday")
    await web.arm("DELETE", WEB.replace(SUBSCRIPTION, "other"))
    await web.arm("GET", WEB)
    await web.arm("GET", f"{WEB}2")
    await report(web, 90)

    assert await activities(web) == before


async def test_our_own_changes_are_logged_too_but_are_not_azures(web):
    announced = await web.send("POST", f"{OURS}/events", {"type": "Freeze", "instances": ["web_0"]})
    event = announced.json()["id"]
    await web.send("POST", f"{OURS}/events/{event}/approve")
    await web.send("DELETE", f"{OURS}/events/{event}")
    await web.send("POST", f"{OURS}/clock/advance", {"by": "PT1M"})
    await web.send("POST", f"{OURS}/scopes", {"kind": "availabilitySet", "names": ["db-1", "db-2"]})

    found = (await activities(web))[:5]

    assert short(found) == [
        ("lastcall/scopes/write", "Succeeded"),
        ("lastcall/clock/advance/action", "Succeeded"),
        ("lastcall/events/delete", "Failed"),
        ("lastcall/events/approve/action", "Succeeded"),
        ("lastcall/events/write", "Succeeded"),
    ]
    assert found[2]["path"] == f"{OURS}/events/{event}"
    assert all(event["resourceId"].startswith("/subscriptions") for event in await events(web))


async def test_what_autoscale_does_is_its_own(web):
    await web.arm("PUT", AUTO, a_setting(a_profile(counts="3 3 3")), INSIGHTS)
    await web.arm("PUT", AUTO, a_setting(a_profile(counts="1 1 1")), INSIGHTS)

    found = await events(web, " and caller eq 'autoscale'")

    scale = "Microsoft.Insights/autoscaleSettings/Scale"
    assert brief(found) == [
        (f"{scale}down/action", "Accepted"),
        (f"{scale}up/action", "Succeeded"),
        (f"{scale}up/action", "Accepted"),
    ]
    assert found[0]["category"]["value"] == "Autoscale"


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("", 3),
        (" and resourceGroupName eq 'GROUP'", 3),
        (" and resourceGroupName eq 'other'", 0),
        (f" and resourceUri eq '{WEB}'", 2),
        (f" and resourceId eq '{WEB}/virtualMachines/0'", 0),
        (" and resourceProvider eq 'Microsoft.Compute'", 2),
        (" and status eq 'Succeeded'", 2),
        (" and caller eq 'portal'", 3),
        (" and caller eq 'someone'", 0),
    ],
)
async def test_filters(web, condition, count):
    assert len(await events(web, condition)) == count


async def test_only_the_span_of_time_counts_and_only_some_members_are_shown(web):
    later = "eventTimestamp ge '2026-03-05T12:00:01Z'"

    assert await events(web, **{"$filter": later}) == []
    selected = await events(web, **{"$select": "caller , status"})
    assert [set(event) for event in selected] == [{"caller", "status"}] * 3


async def test_a_filter_is_required(web):
    refused = await web.arm("GET", VALUES, version="2015-04-01")

    assert refused.status_code == 400
    assert refused.json()["error"]["target"] == "$filter"


async def test_long_logs_come_in_pages(web):
    for number in range(401):
        await web.send("PATCH", f"{WEB}{number}?api-version=2024-07-01", {})

    answer = await web.http.get(
        VALUES, params={"api-version": "2015-04-01", "$filter": f"{SPAN} and status eq 'Failed'"}
    )
    found = answer.json()["value"]
    pages = 1
    while "nextLink" in answer.json():
        answer = await web.http.get(answer.json()["nextLink"])
        found += answer.json()["value"]
        pages += 1

    assert pages == 3
    assert len({event["id"] for event in found}) == len(found) == 401
    names = [event["resourceId"].rpartition("/")[2] for event in found]
    assert names == [f"web{number}" for number in reversed(range(401))]


async def test_our_own_list_comes_in_pages_and_by_group(web):
    await web.send("POST", f"{OURS}/clock/advance", {"by": "PT0S"})

    first = (await web.send("GET", f"{OURS}/activities?limit=2")).json()
    rest = (await web.send("GET", f"{OURS}/activities?before={first['next']}")).json()

    assert [each["seq"] for each in first["value"] + rest["value"]] == [4, 3, 2, 1]
    assert rest["next"] is None
    assert [each["seq"] for each in await activities(web, "?group=GROUP")] == [3, 2, 1]


class FullStore(MemoryStore):
    """A store that takes nothing more once it is full."""

    is_full = False

    def run(self, work):
        if self.is_full:
            raise StoreUnavailableError
        return super().run(work)


async def test_a_refusal_is_answered_even_when_it_cannot_be_logged():
    store = FullStore()
    async with a_desk(store=store, group="") as desk:
        store.is_full = True

        answer = await desk.send("PATCH", f"{WEB}?api-version=2024-07-01", b"{")

        store.is_full = False
        assert answer.status_code == 400
        assert await activities(desk) == []


async def test_the_log_is_written_with_the_change_or_not_at_all(web):
    """What is in the log has happened, and the other way around: one transaction."""
    commits = []
    web.platform.observe(commits.append)
    await web.send("PATCH", f"{WEB}?api-version=2024-07-01", {"tags": {"a": "b"}})

    assert len(commits) == 1
    assert short((await activities(web))[:2]) == [
        (f"{COMPUTE}/write", "Succeeded"),
        (f"{COMPUTE}/write", "Accepted"),
    ]


async def test_who_has_signed_in_is_named(clock):
    async with a_desk(clock) as desk:
        control = ControlDesk(desk, some_tokens(clock=clock))
        bearer = f"Bearer {await control.token()}"
        url = f"{WEB}?api-version=2024-07-01"
        assert (await control.send("PUT", url)).status_code == 401
        created = await control.send("PUT", url, with_notice(), authorization=bearer)
        assert created.status_code == 201

        found = await activities(desk)

    assert [each["caller"] for each in found] == ["default", "portal"]


async def test_what_changes_nothing_is_logged_all_the_same(web):
    path = f"{GROUP}/providers/Microsoft.Resources/deployments/one"
    await web.arm("POST", f"{path}/validate", a_deployment())
    await web.arm("DELETE", f"{WEB}/virtualMachines/99")

    assert short((await activities(web))[:2]) == [
        (f"{COMPUTE}/virtualMachines/delete", "Succeeded"),
        ("Microsoft.Resources/deployments/validate/action", "Succeeded"),
    ]


async def test_a_deployment_is_one_request_whatever_it_writes(web):
    before = len(await activities(web))
    await deploy(web, a_deployment(a_network(), a_set("other")))

    found = await activities(web)

    assert short(found[: len(found) - before]) == [
        ("Microsoft.Resources/deployments/write", "Succeeded"),
        ("Microsoft.Resources/deployments/write", "Accepted"),
    ]


async def test_resources_of_any_type_and_their_group_are_named_after_their_type(web):
    network = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net"
    await web.arm("PUT", network, {"location": "westus", "properties": {}})
    await web.arm("DELETE", GROUP)
    await web.settle(timedelta(hours=1))

    found = await events(web, f" and resourceUri eq '{GROUP}'")

    group = "Microsoft.Resources/subscriptions/resourceGroups"
    assert brief(found) == [
        (f"{group}/delete", "Succeeded"),
        (f"{group}/delete", "Accepted"),
        ("Microsoft.Network/virtualNetworks/write", "Succeeded"),
        (f"{COMPUTE}/write", "Succeeded"),
        (f"{COMPUTE}/write", "Accepted"),
        (f"{group}/write", "Succeeded"),
    ]
    assert found[2]["resourceId"] == network
