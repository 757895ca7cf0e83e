import asyncio
from datetime import timedelta

import pytest

from lastcall.app.events import withdraw
from lastcall.engine.limits import HISTORY_PAGE_MAX
from lastcall.store.memory import MemoryStore
from lastcall.store.sqlite import SqliteStore
from tests.web.desk import OURS, SETS, WEB, a_desk, a_model, a_real_clock

EVENTS = f"{OURS}/events"
FREEZE = {"type": "Freeze", "instances": ["web_0"]}


async def test_a_virtual_clock_is_shown_and_moved(desk):
    shown = await desk.send("GET", f"{OURS}/clock")
    by = await desk.send("POST", f"{OURS}/clock/advance", {"by": "PT10M"})
    seconds = await desk.send("POST", f"{OURS}/clock/advance", {"seconds": 1.5})

    assert shown.json() == {"now": "2026-03-05T12:00:00Z", "mode": "virtual", "pace": 1.0}
    assert by.json()["now"] == "2026-03-05T12:10:00Z"
    assert seconds.json()["now"] == "2026-03-05T12:10:01.500000Z"


async def test_a_real_clock_is_not_moved():
    async with a_desk(clock=a_real_clock()) as desk:
        assert (await desk.send("GET", f"{OURS}/clock")).json()["mode"] == "real"

        answer = await desk.send("POST", f"{OURS}/clock/advance", {"seconds": 1})

        assert answer.status_code == 409
        assert "--clock virtual" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"by": "PT1M", "seconds": 1},
        {"by": "soon"},
        {"by": "P367D"},
        {"seconds": -1},
        {"seconds": 1e300},
        {"seconds": "1"},
        {"minutes": 1},
        [],
    ],
)
async def test_the_clock_moves_only_forward_and_not_too_far(desk, body):
    answer = await desk.send("POST", f"{OURS}/clock/advance", body)

    assert answer.status_code == 400
    assert (await desk.send("GET", f"{OURS}/clock")).json()["now"] == "2026-03-05T12:00:00Z"


async def test_a_wrong_field_is_named_in_a_sentence(desk):
    answer = await desk.send("POST", f"{OURS}/clock/advance", {"seconds": "1"})

    assert answer.json()["error"]["message"] == (
        "The body is not right: expected `float | null`, got `str` at `seconds`."
    )


async def test_an_announced_event_is_answered_and_listed(web):
    announced = await web.send("POST", EVENTS, FREEZE)
    listed = await web.send("GET", EVENTS)

    event = announced.json()
    assert announced.status_code == 201
    assert event["status"] == "Scheduled"
    assert event["source"] == "Platform"
    assert event["resources"] == ["web_0"]
    assert event["notBefore"] == "2026-03-05T12:15:00Z"
    assert listed.json() == {"value": [event], "next": None}


async def test_what_guests_are_not_told_is_no_event(web):
    await web.send("POST", f"{WEB}/start?api-version=2024-07-01")

    assert (await web.send("GET", EVENTS)).json()["value"] == []


async def test_an_event_can_be_announced_in_every_detail(web):
    body = {
        "type": "Reboot",
        "instances": ["web_0", "WEB_1"],
        "notice": "PT20M",
        "description": "New firmware.",
        "durationInSeconds": 7,
    }

    event = (await web.send("POST", EVENTS, body)).json()

    assert event["resources"] == ["web_0", "web_1"]
    assert event["notBefore"] == "2026-03-05T12:20:00Z"
    assert event["description"] == "New firmware."
    assert event["durationInSeconds"] == 7


async def test_a_failure_starts_without_notice(web):
    event = (await web.send("POST", EVENTS, {**FREEZE, "started": True})).json()

    assert event["status"] == "Started"


async def test_a_short_notice_must_be_meant(web):
    refused = await web.send("POST", EVENTS, {**FREEZE, "notice": "PT1M"})
    meant = await web.send("POST", EVENTS, {**FREEZE, "notice": "PT1M", "short": True})

    assert refused.status_code == 400
    assert "PT15M" in refused.json()["error"]["message"]
    assert meant.status_code == 201


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"type": "Terminate", "instances": ["web_0"]}, 400),
        ({"type": "Preempt", "instances": ["web_0"]}, 409),
        ({"type": "Nap", "instances": ["web_0"]}, 400),
        ({"type": "Freeze", "instances": []}, 400),
        ({"type": "Freeze", "instances": ["nobody"]}, 404),
        ({"type": "Freeze", "instances": ["web_0", "other_0"]}, 400),
        ({**FREEZE, "notice": "P31D"}, 400),
        ({**FREEZE, "notice": "15"}, 400),
        ({**FREEZE, "description": "x" * 513}, 400),
        ({**FREEZE, "durationInSeconds": -2}, 400),
        ({**FREEZE, "colour": "red"}, 400),
    ],
)
async def test_an_impossible_announcement_is_refused_and_changes_nothing(web, body, status):
    await web.arm("PUT", f"{SETS}/other", a_model(1))
    before = web.dump()

    answer = await web.send("POST", EVENTS, body)

    assert answer.status_code == status
    assert web.dump() == before


async def test_an_approved_event_starts_and_is_remembered_with_its_history(web):
    event = (await web.send("POST", EVENTS, FREEZE)).json()

    approved = await web.send("POST", f"{EVENTS}/{event['id'].lower()}/approve")
    await web.settle(timedelta(minutes=1))
    detail = (await web.send("GET", f"{EVENTS}/{event['id']}")).json()

    assert approved.json()["status"] == "Started"
    assert detail["status"] == "Completed"
    assert detail["endedAt"] is not None
    assert detail["approvedBy"] == ["operator"]
    assert [line["what"] for line in detail["history"]] == [
        "announced",
        "approved",
        "started",
        "completed",
    ]
    assert (await web.send("GET", EVENTS)).json()["value"] == []
    assert [
        entry["id"] for entry in (await web.send("GET", f"{EVENTS}?all=true")).json()["value"]
    ] == [event["id"]]


async def test_an_event_that_has_ended_may_be_approved_again(web):
    event = (await web.send("POST", EVENTS, FREEZE)).json()
    await web.send("POST", f"{EVENTS}/{event['id']}/approve")
    await web.settle(timedelta(minutes=1))
    before = web.dump()

    again = await web.send("POST", f"{EVENTS}/{event['id']}/approve")

    assert again.status_code == 200
    assert again.json()["status"] == "Completed"
    assert again.json()["endedAt"] is not None
    assert web.dump() == before


class StoreWithAPast(MemoryStore):
    """A store in which somebody else's transaction comes first."""

    meanwhile = None

    def transact(self, work):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            self.run(meanwhile)
        return super().transact(work)


@pytest.mark.parametrize(
    ("method", "suffix", "status"), [("POST", "/approve", 200), ("DELETE", "", 409)]
)
async def test_an_event_that_ends_while_one_asks_is_shown_as_ended(method, suffix, status):
    store = StoreWithAPast()
    async with a_desk(store=store) as desk:
        await desk.arm("PUT", WEB, a_model())
        event = (await desk.send("POST", EVENTS, FREEZE)).json()
        moment = desk.platform.moment()
        store.meanwhile = lambda tx: withdraw(tx, event["scope"], event["id"], moment)

        answer = await desk.send(method, f"{EVENTS}/{event['id']}{suffix}")

        assert answer.status_code == status
        assert "Canceled" in answer.text


async def test_approvals_that_race_with_the_event_itself_are_all_answered(tmp_path):
    async with a_desk(store=SqliteStore(tmp_path / "lastcall.db")) as desk:
        await desk.arm("PUT", WEB, a_model())
        event = (await desk.send("POST", EVENTS, FREEZE)).json()
        approve = f"{EVENTS}/{event['id']}/approve"

        answers = []
        for _ in range(5):
            both = [desk.send("POST", approve) for _ in range(5)]
            *some, _ = await asyncio.gather(*both, desk.settle(timedelta(seconds=5)))
            answers += some

        assert {answer.status_code for answer in answers} == {200}
        assert answers[0].json()["status"] == "Started"
        assert answers[-1].json()["status"] == "Completed"


async def test_an_ended_event_stays_readable_however_many_end_after_it(web):
    first = await cancelled(web)
    for _ in range(HISTORY_PAGE_MAX):
        await cancelled(web)

    shown = await web.send("GET", f"{EVENTS}/{first}")

    assert shown.json()["status"] == "Canceled"


async def test_events_with_those_that_ended_come_in_pages_newest_first(web):
    ended = [await cancelled(web) for _ in range(3)]
    present = []
    for _ in range(2):
        present.append((await web.send("POST", EVENTS, FREEZE)).json()["id"])
        await web.settle(timedelta(seconds=1))
    pages, following = [], 0
    while following is not None:
        page = (await web.send("GET", f"{EVENTS}?all=true&limit=2&skip={following}")).json()
        pages.append([event["id"] for event in page["value"]])
        following = page["next"]

    newest_first = [*reversed(present), *reversed(ended)]
    assert pages == [newest_first[:2], newest_first[2:4], newest_first[4:]]


async def cancelled(web):
    event = (await web.send("POST", EVENTS, FREEZE)).json()["id"]
    assert (await web.send("DELETE", f"{EVENTS}/{event}")).status_code == 204
    return event


async def test_approval_waits_for_the_neighbours_and_says_so(web):
    await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0", "1"]})
    first = (await web.send("GET", EVENTS)).json()["value"][0]

    approved = await web.send("POST", f"{EVENTS}/{first['id']}/approve")

    assert approved.json()["status"] == "Approved"
    assert (await web.send("GET", f"{EVENTS}/{first['id']}")).json()["status"] == "Approved"


async def test_a_cancelled_event_is_gone(web):
    event = (await web.send("POST", EVENTS, FREEZE)).json()

    assert (await web.send("DELETE", f"{EVENTS}/{event['id']}")).status_code == 204
    again = await web.send("DELETE", f"{EVENTS}/{event['id']}")
    assert again.status_code == 409
    assert "is Canceled already" in again.json()["error"]["message"]
    assert (await web.send("GET", f"{EVENTS}/{event['id']}")).json()["status"] == "Canceled"


async def test_a_users_event_and_a_started_one_cannot_be_cancelled(web):
    await web.arm("POST", f"{WEB}/restart", {"instanceIds": ["0"]})
    user = (await web.send("GET", EVENTS)).json()["value"][0]
    started = (await web.send("POST", EVENTS, {**FREEZE, "started": True})).json()

    for event in (user, started):
        assert (await web.send("DELETE", f"{EVENTS}/{event['id']}")).status_code == 409


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("DELETE", ""), ("POST", "/approve")])
async def test_an_unknown_event_is_not_found(web, method, suffix):
    answer = await web.send(method, f"{EVENTS}/nope{suffix}")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "EventNotFound"


async def test_instances_are_listed_with_the_address_of_their_metadata(web):
    shown = (await web.send("GET", f"{OURS}/instances")).json()["value"]

    assert [entry["name"] for entry in shown] == ["web_0", "web_1"]
    assert shown[0]["metadata"] == "x/web_0"
    assert shown[0]["state"] == "Succeeded"
    assert shown[0]["power"] == "running"
    assert shown[0]["set"].endswith("/group/web")


async def test_a_list_comes_in_pages(web):
    first = (await web.send("GET", f"{OURS}/instances?limit=1")).json()
    second = (await web.send("GET", f"{OURS}/instances?limit=1&skip={first['next']}")).json()

    assert [entry["name"] for entry in first["value"] + second["value"]] == ["web_0", "web_1"]
    assert second["next"] is None


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "skip=-1", "limit=٣"])
@pytest.mark.parametrize("what", ["events", "instances", "scopes"])
async def test_a_page_has_bounds(desk, what, query):
    assert (await desk.send("GET", f"{OURS}/{what}?{query}")).status_code == 400


async def test_scopes_say_who_shares_a_document_and_who_reads_it(web):
    scope = (await web.send("GET", f"{OURS}/scopes")).json()["value"][0]

    assert scope["kind"] == "placementGroup"
    assert scope["members"] == ["web_0", "web_1"]
    assert scope["watchedAt"] == "2026-03-05T12:00:00Z"
    assert scope["incarnation"] == 1


async def test_machines_without_a_scale_set_can_be_made(desk):
    body = {"kind": "availabilitySet", "names": ["db-1", "db-2"]}

    made = await desk.send("POST", f"{OURS}/scopes", body)
    event = await desk.send("POST", EVENTS, {"type": "Redeploy", "instances": ["db-1"]})

    assert made.status_code == 201
    assert made.json()["members"] == ["db-1", "db-2"]
    assert event.json()["scope"] == made.json()["id"]


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "placementGroup", "names": ["a"]},
        {"kind": "virtualMachine", "names": ["a", "b"]},
        {"kind": "availabilitySet", "names": ["a", "A"]},
        {"kind": "availabilitySet", "names": []},
        {"kind": "availabilitySet", "names": ["a/b"]},
        {"kind": "availabilitySet", "names": ["x" * 65]},
        {"kind": "herd", "names": ["a"]},
    ],
)
async def test_an_impossible_scope_is_refused(desk, body):
    before = desk.dump()

    assert (await desk.send("POST", f"{OURS}/scopes", body)).status_code == 400
    assert desk.dump() == before


async def test_machines_without_a_scale_set_go_with_their_scope(desk):
    body = {"kind": "availabilitySet", "names": ["db-1", "db-2"]}
    scope = (await desk.send("POST", f"{OURS}/scopes", body)).json()
    await desk.settle()

    deleted = await desk.send("DELETE", f"{OURS}/scopes/{scope['id'].upper()}")
    await desk.settle()

    assert (deleted.status_code, deleted.json()["members"]) == (202, ["db-1", "db-2"])
    for what in ("scopes", "instances"):
        assert (await desk.send("GET", f"{OURS}/{what}")).json()["value"] == []
    again = await desk.send("DELETE", f"{OURS}/scopes/{scope['id']}")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "ScopeNotFound")


async def test_the_scope_of_a_scale_set_is_the_sets_to_delete(web):
    scope = (await web.send("GET", f"{OURS}/scopes")).json()["value"][0]["id"]
    before = web.dump()

    answer = await web.send("DELETE", f"{OURS}/scopes/{scope}?forceDeletion=true")

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "OperationNotAllowed")
    assert web.dump() == before


async def test_history_can_be_narrowed(web):
    event = (await web.send("POST", EVENTS, FREEZE)).json()
    vm = (await web.send("GET", f"{OURS}/instances")).json()["value"][1]["vmId"]

    async def whats(query):
        answer = await web.send("GET", f"{OURS}/history?{query}")
        return [line["what"] for line in answer.json()["value"]]

    assert await whats("") == ["create", "create", "watched", "announced"]
    assert await whats("after=2") == ["watched", "announced"]
    assert await whats("limit=1") == ["announced"]
    assert await whats(f"event={event['id'].lower()}") == ["announced"]
    assert await whats("instance=web_0") == ["create", "announced"]
    assert await whats(f"instance={vm.upper()}") == ["create"]
    assert (await web.send("GET", f"{OURS}/history?instance=nobody")).status_code == 404


async def test_the_probes_answer(desk):
    assert (await desk.send("GET", "/healthz")).json() == {"status": "live"}
    assert (await desk.send("GET", "/readyz")).json() == {"status": "ready"}
