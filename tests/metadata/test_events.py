"""Reading the document and approving what it announces (R15-R22, R33, R42-R44)."""

import asyncio
from datetime import timedelta

import pytest

from lastcall.app.platform import Realism
from lastcall.engine.limits import METADATA_REQUESTS_PER_SECOND
from lastcall.engine.model import Status
from lastcall.ports import StoreUnavailableError
from lastcall.store.memory import MemoryStore
from lastcall.wire.scheduledevents import VERSIONS
from tests.metadata.stage import (
    EVENTS,
    INSTANCE,
    a_request,
    an_approval,
    running,
)

HOUR = timedelta(hours=1)


class FailingStore(MemoryStore):
    """A store that can be out of order."""

    is_down = False

    async def transact(self, work):
        if self.is_down:
            raise StoreUnavailableError
        return await super().transact(work)


def is_waiting(stage, machine, event_id) -> bool:
    event = stage.published(machine).scope.events.get(event_id)
    return event is not None and event.status is Status.SCHEDULED


def url(version: str) -> str:
    return f"/metadata/scheduledevents?api-version={version}"


async def test_the_first_document_is_empty_and_turns_events_on(stage):
    (machine,) = await stage.machines("web_0")
    assert stage.published(machine).scope.watched_at is None

    answer = await stage.ask(a_request())

    assert answer.body == b'{"DocumentIncarnation":1,"Events":[]}'
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert stage.published(machine).scope.watched_at is not None


async def test_a_later_read_only_leaves_a_mark(stage):
    (machine,) = await stage.machines("web_0")
    client = await stage.connect()
    for _ in range(3):
        stage.published(machine).touched = False
        await client.ask(a_request())

    assert stage.published(machine).touched


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_version_shows_an_event_and_its_change_at_once(stage, version):
    (machine,) = await stage.machines("web_0")
    client = await stage.connect()
    before = (await client.ask(a_request(url(version)))).json()
    event_id = await stage.announce(machine)
    after = (await client.ask(a_request(url(version)))).json()

    assert before["Events"] == []
    assert after["DocumentIncarnation"] > before["DocumentIncarnation"]
    assert [event["EventId"] for event in after["Events"]] == [event_id]


async def test_all_members_of_a_scope_read_the_same_and_strangers_do_not(stage):
    first, second = await stage.machines("web_0", "web_1")
    (stranger,) = await stage.machines("db_0")
    await stage.ask(a_request(), first)
    await stage.announce(first)

    documents = [(await stage.ask(a_request(), at)).json() for at in (first, second, stranger)]

    assert documents[0] == documents[1]
    assert documents[0]["Events"]
    assert not documents[2]["Events"]


async def test_an_approval_is_answered_with_nothing_and_starts_the_event(stage):
    first, second = await stage.machines("web_0", "web_1")
    await stage.ask(a_request(), first)
    event_id = await stage.announce(first)

    answer = await stage.ask(an_approval(event_id), second)

    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")
    assert (await stage.ask(a_request(), second)).json()["DocumentIncarnation"] > 2
    assert not is_waiting(stage, first, event_id)


async def test_an_event_may_be_approved_again_even_after_it_has_ended(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    event_id = await stage.announce(machine)
    client = await stage.connect()

    assert (await client.ask(an_approval(event_id))).status == 200
    assert (await client.ask(an_approval(event_id))).status == 200


@pytest.mark.parametrize(
    "headers",
    [[], ["Content-Type: application/x-www-form-urlencoded"], ["Content-Type: nonsense"]],
)
async def test_the_content_type_of_an_approval_does_not_matter(stage, headers):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    body = b'{"StartRequests":[{"EventId":"%s"}]}' % (await stage.announce(machine)).encode()

    raw = a_request(url("2019-08-01"), "POST", ["Metadata: true", *headers], body)

    assert (await stage.ask(raw)).status == 200


async def test_an_approval_may_come_in_chunks(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    body = b'{"StartRequests":[{"EventId":"%s"}]}' % (await stage.announce(machine)).encode()
    head = a_request(verb="POST", headers=["Metadata: true", "Transfer-Encoding: chunked"])
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)

    assert (await stage.ask(head + chunks + b"0\r\n\r\n")).status == 200


async def test_who_waits_to_be_asked_for_the_body_is_asked(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    raw = an_approval(await stage.announce(machine))
    head, _, body = raw.partition(b"\r\n\r\n")
    client = await stage.connect()

    assert (await client.ask(head + b"\r\nExpect: 100-continue\r\n\r\n")).status == 100
    assert (await client.ask(body)).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"StartRequests":[]}',
        b'{"StartRequests":[{"EventId":7}]}',
        b"\xff",
    ],
)
async def test_a_malformed_approval_is_refused_with_a_sentence(stage, body):
    await stage.machines("web_0")
    answer = await stage.ask(a_request(verb="POST", body=body))

    assert answer.status == 400
    assert answer.error.endswith(".")


async def test_an_unknown_event_is_refused(stage):
    await stage.machines("web_0")
    answer = await stage.ask(an_approval("602D9444-D2CD-49C7-8624-8643E7171297"))

    assert answer.status == 400
    assert "602D9444" in answer.error


async def test_the_event_of_another_scope_is_unknown(stage):
    (machine,) = await stage.machines("web_0")
    (stranger,) = await stage.machines("db_0")
    await stage.ask(a_request(), machine)
    event_id = await stage.announce(machine)

    assert (await stage.ask(an_approval(event_id), stranger)).status == 400


async def test_an_approval_counts_even_if_its_sender_has_gone(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    event_id = await stage.announce(machine)
    client = await stage.connect()
    client.send(an_approval(event_id))
    await client.close()

    for _ in range(1000):
        if not is_waiting(stage, machine, event_id):
            return
        await asyncio.sleep(0.001)
    pytest.fail("the approval was lost")


async def test_a_store_out_of_order_is_worth_another_try():
    store = FailingStore()
    async with running(store=store) as stage:
        await stage.machines("web_0")
        store.is_down = True
        reading = await stage.ask(a_request())
        approving = await stage.ask(an_approval("602D9444-D2CD-49C7-8624-8643E7171297"))
        store.is_down = False

        for answer in (reading, approving):
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert answer.error
        assert (await stage.ask(a_request())).status == 200


async def test_realism_limits_the_rate_of_each_machine():
    async with running(realism=Realism(rate_limit=True)) as stage:
        first, second = await stage.machines("web_0", "web_1")
        client = await stage.connect(first)
        # More than two seconds' worth, so that wherever a second begins some are too many.
        statuses = [(await client.ask(a_request())).status for _ in range(100)]

        assert statuses[:METADATA_REQUESTS_PER_SECOND] == [200] * METADATA_REQUESTS_PER_SECOND
        assert 429 in statuses
        assert (await stage.ask(a_request(), second)).status == 200


async def test_without_realism_nobody_counts(stage):
    await stage.machines("web_0")
    client = await stage.connect()

    assert {(await client.ask(a_request())).status for _ in range(50)} == {200}


async def test_the_events_are_off_again_after_a_day_without_a_reader(stage):
    (machine,) = await stage.machines("web_0")
    client = await stage.connect()
    for _ in range(3):
        await client.ask(a_request())
    published = stage.published(machine)
    await stage.platform.advance(25 * HOUR)
    await stage.platform.advance(25 * HOUR)
    assert published.scope.watched_at is None

    assert (await client.ask(a_request())).status == 200
    assert published.scope.watched_at is not None


async def test_what_is_not_about_events_leaves_no_mark(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request(INSTANCE))
    await stage.ask(a_request(EVENTS, headers=[]))

    assert stage.published(machine).scope.watched_at is None
    assert not stage.published(machine).touched
