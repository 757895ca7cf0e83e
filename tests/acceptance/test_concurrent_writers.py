"""Many writers of one set at the same time, on a real server with a real store.

Whatever they do to each other, each is answered as the service would, and when everything is over
the set, its instances and its operations agree. The mix is drawn from a seed that a failure names.
"""

import asyncio
import random
from collections import Counter
from contextlib import asynccontextmanager
from itertools import count

import httpx2
import pytest

from lastcall.assembly import running
from lastcall.settings import DEFAULT_SUBSCRIPTION, Address, Settings

pytestmark = pytest.mark.acceptance

ANY = Address("127.0.0.1", 0)
WRITERS = 50
# Odd ones delete the set too; the large ones once found an instance whose model was forgotten.
SEEDS = (1, 2, 3, 122, 132)
SETS = (
    f"/subscriptions/{DEFAULT_SUBSCRIPTION}/resourceGroups/group/providers/Microsoft.Compute"
    "/virtualMachineScaleSets"
)
WEB = f"{SETS}/web"
VERSION = "2024-07-01"
OURS = "/lastcall/v1"
CAPACITY = 6
INSTANCES = [str(number) for number in range(CAPACITY)]
ACTIONS = ("restart", "redeploy", "reimage", "deallocate", "start", "poweroff", "manualupgrade")
# What each kind of request may be answered with, by the service's own rules.
ALLOWED = {
    # 409 where protection forbids a scale-in (or the set is going), 412 for a stale etag.
    "write": {200, 409, 412},
    # 400 for an instance that has gone meanwhile (R111), 409 for one that is leaving (D8).
    "act": {202, 400, 409},
    # 404 for an instance that has gone meanwhile, 204 for the deletion of one.
    "instance": {200, 202, 204, 404, 409},
    "delete set": {202, 204},
    "read": {200},
}
GONE = {404}  # On top of it, once somebody deletes the set.


def a_model(capacity=CAPACITY, mode="Automatic", notice="PT5M"):
    terminate = {"enable": True, "notBeforeTimeout": notice}
    profile = {"scheduledEventsProfile": {"terminateNotificationProfile": terminate}}
    return {
        "location": "westus",
        "sku": {"name": "Standard_D2s_v5", "capacity": capacity},
        "properties": {"upgradePolicy": {"mode": mode}, "virtualMachineProfile": profile},
    }


class Client:
    """One server, and everybody who talks to it."""

    def __init__(self, http, guest):
        self._http = http
        self._guest = guest

    async def arm(self, method, path, body=None, **headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        mark = "&" if "?" in path else "?"
        url = f"{path}{mark}api-version={VERSION}"
        return await self._http.request(method, url, json=body, headers=given)

    async def ours(self, method, path, body=None):
        return await self._http.request(method, f"{OURS}/{path}", json=body)

    async def follow(self, answer):
        return (await self._http.get(answer.headers["azure-asyncoperation"])).json()

    async def watch(self):
        listed = (await self.ours("GET", "instances")).json()["value"]
        for instance in listed:
            url = f"/vm/{instance['vmId']}/metadata/scheduledevents?api-version=2020-07-01"
            assert (await self._guest.get(url)).status_code == 200

    async def approve(self):
        """Approve whatever is pending, as operators do while everybody else writes."""
        for event in (await self.ours("GET", "events?limit=1000")).json()["value"]:
            await self.ours("POST", f"events/{event['id']}/approve")

    async def settle(self):
        """Let everything come to its end: notices, batches, whatever follows from them."""
        moved = await self.ours("POST", "clock/advance", {"by": "P1D"})
        assert moved.status_code == 200


@asynccontextmanager
async def a_server(folder):
    settings = Settings(state=folder, control=ANY, portal=ANY, metadata=ANY, clock="virtual")
    limits = httpx2.Limits(max_connections=WRITERS)
    async with (
        running(settings) as endpoints,
        httpx2.AsyncClient(base_url=endpoints.portal, limits=limits, timeout=60) as http,
        httpx2.AsyncClient(base_url=endpoints.metadata, headers={"Metadata": "true"}) as guest,
    ):
        client = Client(http, guest)
        await client.arm("PUT", WEB.partition("/providers/")[0], {"location": "westus"})
        yield client


class Mix:
    """Requests drawn from a seed: what they do, and what they may be answered with."""

    def __init__(self, seed, *, deletes_set):
        self._rng = random.Random(seed)
        self._numbers = count()
        kinds = {self._write: 8, self._scale: 5, self._act: 6, self._instance: 5, self._read: 2}
        if deletes_set:
            kinds[self._delete_set] = 1
        self._kinds, self._weights = list(kinds), list(kinds.values())

    def draw(self):
        return self._rng.choices(self._kinds, self._weights)[0]()

    def _write(self):
        tags = {"tags": {"writer": str(next(self._numbers))}}
        etag = self._rng.choice([{}, {}, {"if_match": '"1"'}, {"if_match": "*"}])
        if self._rng.random() < 0.5:
            return "write", "PATCH", WEB, tags, etag
        model = a_model(
            mode=self._rng.choice(["Automatic", "Manual", "Rolling"]),
            notice=self._rng.choice(["PT5M", "PT7M", "PT15M"]),
        )
        del model["sku"]["capacity"]
        return "write", "PUT", WEB, model | tags, etag

    def _scale(self):
        return "write", "PATCH", WEB, {"sku": {"capacity": self._rng.randint(0, 12)}}, {}

    def _act(self):
        some = self._rng.sample(INSTANCES, self._rng.randint(1, 3))
        ids = {"instanceIds": self._rng.choice([["*"], some, some])}
        if self._rng.random() < 0.3:
            force = self._rng.choice(["", "?forceDeletion=true"])
            return "act", "POST", f"{WEB}/delete{force}", {"instanceIds": some}, {}
        return "act", "POST", f"{WEB}/{self._rng.choice(ACTIONS)}", ids, {}

    def _instance(self):
        path = f"{WEB}/virtualMachines/{self._rng.choice(INSTANCES)}"
        protection = {"protectFromScaleIn": self._rng.random() < 0.3}
        return self._rng.choice(
            [
                ("instance", "DELETE", path, None, {}),
                ("instance", "POST", f"{path}/restart", None, {}),
                ("instance", "PUT", path, {"properties": {"protectionPolicy": protection}}, {}),
            ]
        )

    def _delete_set(self):
        force = self._rng.choice(["", "?forceDeletion=true"])
        return "delete set", "DELETE", f"{WEB}{force}", None, {}

    def _read(self):
        path = self._rng.choice([WEB, f"{WEB}/virtualMachines", f"{WEB}/instanceView"])
        return "read", "GET", path, None, {}


async def rush(client, mix, *, is_watched):
    """Send everything at once; return what was asked with what was answered."""
    asked = [mix.draw() for _ in range(WRITERS)]
    sent = [client.arm(method, path, body, **given) for _, method, path, body, given in asked]
    approving = client.approve() if is_watched else asyncio.sleep(0)
    answers = (await asyncio.gather(*sent, approving))[:WRITERS]
    return list(zip(asked, answers, strict=True))


async def assert_operations_ended(client, exchanged):
    for _, answer in exchanged:
        if "azure-asyncoperation" in answer.headers:
            operation = await client.follow(answer)
            assert operation["status"] in ("Succeeded", "Failed"), operation
            assert ("error" in operation) == (operation["status"] == "Failed")
            if "error" in operation:
                assert operation["error"]["code"] == "OperationPreempted"


async def assert_set_agrees_with_its_instances(client):
    shown = (await client.arm("GET", WEB)).json()
    listed = (await client.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    states = {instance["properties"]["provisioningState"] for instance in listed}
    view = (await client.arm("GET", f"{WEB}/instanceView")).json()
    summary = view["virtualMachine"]["statusesSummary"]
    everywhere = (await client.ours("GET", "instances")).json()["value"]

    assert shown["sku"]["capacity"] == len(listed) == len(everywhere)
    assert len({instance["name"] for instance in listed}) == len(listed)
    assert states <= {"Succeeded"}
    assert sum(entry["count"] for entry in summary) == len(listed)
    # It tells of the last write, which others may have overtaken.
    assert shown["properties"]["provisioningState"] in ("Succeeded", "Failed")


async def assert_every_write_counts(client, exchanged):
    """Each that was accepted has a number of its own, and the last one is what is shown."""
    shown = (await client.arm("GET", WEB)).json()
    writes = {
        int(answer.headers["etag"].strip('"')): asked[3]
        for asked, answer in exchanged
        if asked[0] == "write" and answer.status_code == 200
    }
    accepted = sum(asked[0] == "write" and r.status_code == 200 for asked, r in exchanged)

    assert sorted(writes) == list(range(2, 2 + accepted))
    assert shown["etag"] == f'"{1 + accepted}"'
    tags = [body["tags"] for _, body in sorted(writes.items()) if "tags" in body]
    assert shown.get("tags") == (tags[-1] if tags else None)


async def assert_nothing_is_left(client):
    assert (await client.ours("GET", "instances")).json()["value"] == []
    assert (await client.ours("GET", "scopes")).json()["value"] == []


@pytest.mark.parametrize("is_watched", [False, True], ids=["unwatched", "watched"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_writers_of_one_set_leave_it_consistent(tmp_path, seed, is_watched):
    async with a_server(tmp_path) as client:
        assert (await client.arm("PUT", WEB, a_model())).status_code == 201
        await client.settle()
        if is_watched:
            await client.watch()
        mix = Mix(seed, deletes_set=seed % 2 == 1)
        exchanged = await rush(client, mix, is_watched=is_watched)
        exchanged += await rush(client, mix, is_watched=is_watched)

        was_deleted = any(a[0] == "delete set" and r.status_code == 202 for a, r in exchanged)
        for asked, answer in exchanged:
            allowed = ALLOWED[asked[0]] | (GONE if was_deleted else set())
            if was_deleted and asked[1] == "PUT" and asked[2] == WEB:
                allowed = allowed | {201, 400}  # It makes the set anew, if it says how large.
            assert answer.status_code in allowed, (asked, answer.status_code, answer.text)
        await client.settle()

        await assert_operations_ended(client, exchanged)
        assert (await client.ours("GET", "events")).json()["value"] == []
        if (await client.arm("GET", WEB)).status_code == 404:
            assert was_deleted
            await assert_nothing_is_left(client)
            return
        await assert_set_agrees_with_its_instances(client)
        if not was_deleted:
            await assert_every_write_counts(client, exchanged)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_of_many_writers_with_one_etag_exactly_one_wins(tmp_path, method):
    async with a_server(tmp_path) as client:
        await client.arm("PUT", WEB, a_model(1))
        for number in range(1, 6):
            etag = f'"{number}"'
            bodies = [{"location": "westus", "tags": {"w": str(n)}} for n in range(WRITERS)]
            answers = await asyncio.gather(
                *(client.arm(method, WEB, body, if_match=etag) for body in bodies)
            )

            statuses = Counter(answer.status_code for answer in answers)
            assert statuses == {200: 1, 412: WRITERS - 1}
            (won,) = [n for n, answer in enumerate(answers) if answer.status_code == 200]
            shown = (await client.arm("GET", WEB)).json()
            assert shown["tags"] == {"w": str(won)}
            assert shown["etag"] == f'"{number + 1}"'
            for answer in answers:
                if answer.status_code == 412:
                    assert answer.json()["error"]["code"] == "PreconditionFailed"


async def test_of_many_who_create_a_set_that_must_not_exist_exactly_one_does(tmp_path):
    async with a_server(tmp_path) as client:
        answers = await asyncio.gather(
            *(client.arm("PUT", WEB, a_model(2), if_none_match="*") for _ in range(WRITERS))
        )

        assert Counter(answer.status_code for answer in answers) == {201: 1, 412: WRITERS - 1}
        await client.settle()
        assert len((await client.ours("GET", "instances")).json()["value"]) == 2


async def test_of_many_who_create_a_set_one_does_and_the_others_update_it(tmp_path):
    async with a_server(tmp_path) as client:
        answers = await asyncio.gather(
            *(client.arm("PUT", WEB, a_model(3)) for _ in range(WRITERS))
        )

        assert Counter(answer.status_code for answer in answers) == {201: 1, 200: WRITERS - 1}
        await client.settle()
        shown = (await client.arm("GET", WEB)).json()
        assert (shown["etag"], shown["sku"]["capacity"]) == (f'"{WRITERS}"', 3)
        assert shown["properties"]["provisioningState"] == "Succeeded"
        assert len((await client.ours("GET", "instances")).json()["value"]) == 3


async def test_nobody_writes_to_a_set_that_is_on_its_way_out(tmp_path):
    async with a_server(tmp_path) as client:
        await client.arm("PUT", WEB, a_model(3))
        await client.settle()
        await client.watch()
        deleted = await client.arm("DELETE", WEB)
        answers = await asyncio.gather(
            *(client.arm("PATCH", WEB, {"tags": {"w": str(n)}}) for n in range(WRITERS)),
            *(client.arm("DELETE", WEB) for _ in range(5)),
        )

        patched, again = answers[:WRITERS], answers[WRITERS:]
        assert deleted.status_code == 202
        assert {answer.status_code for answer in patched} == {409}
        assert {answer.json()["error"]["code"] for answer in patched} == {"Conflict"}
        assert {answer.status_code for answer in again} == {202}
        await client.settle()
        for answer in (deleted, *again):
            assert (await client.follow(answer))["status"] == "Succeeded"
        await assert_nothing_is_left(client)
