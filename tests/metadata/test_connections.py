"""How clients may behave on the wire, and what becomes of those who behave badly."""

import asyncio

import pytest

from lastcall.engine.limits import METADATA_BODY_BYTES_MAX
from lastcall.metadata.connection import Connection
from lastcall.metadata.endpoint import Endpoint
from lastcall.metadata.options import Options
from tests.metadata.stage import EVENTS, INSTANCE, Stage, a_request, an_approval, running


def impatient(**deadlines: float):
    """Run with deadlines so short that a test need not wait, and only those."""
    return running(Options(sweep_s=0.01, **deadlines))


@pytest.fixture
async def stage():
    async with running() as stage:
        await stage.machines("web_0")
        await stage.ask(a_request())
        yield stage


@pytest.fixture
async def hurried():
    async with impatient(request_s=0.02) as stage:
        await stage.machines("web_0")
        yield stage


async def test_pipelined_requests_are_answered_in_order(stage):
    client = await stage.connect()
    unknown = an_approval("602D9444-D2CD-49C7-8624-8643E7171297")
    client.send(
        a_request()
        + unknown
        + a_request("/nowhere")
        + a_request(INSTANCE)
        + a_request("/metadata/versions")
    )

    assert [(await client.answer()).status for _ in range(5)] == [200, 400, 404, 200, 200]


async def test_a_flood_of_pipelined_requests_is_answered_to_the_last(stage):
    client = await stage.connect()
    client.send((a_request() + a_request(INSTANCE)) * 500)
    bodies = [(await client.answer()).body for _ in range(1000)]

    assert len(set(bodies[::2])) == 1
    assert len(set(bodies[1::2])) == 1


async def test_a_request_may_arrive_byte_by_byte(stage):
    client = await stage.connect()
    for byte in a_request():
        client.send(bytes([byte]))
        await asyncio.sleep(0)

    assert (await client.answer()).status == 200


@pytest.mark.parametrize("size", [1, 7, 100, 2048, 4096])
async def test_how_a_stream_is_cut_makes_no_difference(stage, size):
    stream = (a_request() + an_approval("602D9444-D2CD-49C7-8624-8643E7171297")) * 20
    client = await stage.connect()
    for start in range(0, len(stream), size):
        client.send(stream[start : start + size])
        await asyncio.sleep(0)

    assert [(await client.answer()).status for _ in range(40)] == [200, 400] * 20


@pytest.mark.parametrize(
    "raw",
    [
        a_request(headers=["Metadata: true", "Connection: close"]),
        b"GET %s HTTP/1.0\r\nMetadata: true\r\n\r\n" % EVENTS.encode(),
        b"GET %s HTTP/1.0\r\nMetadata: true\r\nConnection: keep-alive\r\n\r\n" % EVENTS.encode(),
        a_request(headers=["Metadata: true", "Connection: Upgrade", "Upgrade: h2c"]),
    ],
)
async def test_the_last_answer_says_that_it_is(stage, raw):
    client = await stage.connect()
    answer = await client.ask(raw)

    assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert await client.is_closed()


@pytest.mark.parametrize("url", [EVENTS, INSTANCE])
async def test_who_says_goodbye_after_asking_is_still_answered(stage, url):
    client = await stage.connect()
    client.send(a_request(url) + a_request(INSTANCE))
    client.writer.write_eof()

    assert [(await client.answer()).status for _ in range(2)] == [200, 200]
    assert await client.is_closed()


async def test_who_says_goodbye_in_the_middle_of_a_request_is_let_go(stage):
    client = await stage.connect()
    client.send(a_request()[:-5])
    client.writer.write_eof()

    assert await client.is_closed()


MALFORMED = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nbad header: 1\r\n\r\n",
]


@pytest.mark.parametrize("raw", MALFORMED)
async def test_what_is_not_http_is_refused_and_ends_the_connection(stage, raw):
    client = await stage.connect()
    answer = await client.ask(raw)

    assert (answer.status, answer.headers["connection"]) == (400, "close")
    assert answer.error
    assert await client.is_closed()


async def test_what_came_before_the_malformed_part_is_answered(stage):
    client = await stage.connect()
    client.send(a_request() + a_request(INSTANCE) + MALFORMED[0])

    assert [(await client.answer()).status for _ in range(3)] == [200, 200, 400]
    assert await client.is_closed()


async def test_malformed_floods_leave_other_clients_alone(stage):
    other = await stage.connect()
    for raw in MALFORMED * 20:
        (await stage.connect()).send(raw * 50)
        assert (await other.ask(a_request())).status == 200


@pytest.mark.parametrize(
    "raw",
    [
        a_request(
            verb="POST",
            headers=["Metadata: true", f"Content-Length: {METADATA_BODY_BYTES_MAX + 1}"],
        ),
        a_request(verb="POST", body=b"x" * 1_000_000),
        a_request(verb="POST", headers=["Metadata: true", "Transfer-Encoding: chunked"])
        + b"fff\r\n%s\r\n" % (b"x" * 0xFFF) * 17,
        a_request(verb="POST", headers=["Metadata: true", "Transfer-Encoding: chunked"])
        + b"0\r\nTrailer: "
        + b"x" * 1_000_000,
    ],
    ids=["announced", "sent", "chunked", "trailing"],
)
async def test_a_body_that_is_too_large_is_refused(stage, raw):
    client = await stage.connect()
    answer = await client.ask(raw)

    assert (answer.status, answer.headers["connection"]) in ((413, "close"), (431, "close"))
    assert answer.error
    assert await client.is_closed()


async def test_a_body_of_the_largest_size_is_read(stage):
    answer = await stage.ask(a_request(verb="POST", body=b" " * METADATA_BODY_BYTES_MAX))

    assert (answer.status, answer.error) == (400, "The body is not JSON.")


@pytest.mark.parametrize(
    "raw",
    [
        a_request("/" + "x" * 20_000),
        a_request(headers=["Metadata: true", "X: " + "x" * 20_000]),
        a_request(headers=["Metadata: true", *(f"X-{n}: y" for n in range(3_000))]),
        b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000,
        b"G" * 20_000,
    ],
    ids=["url", "header", "headers", "endless", "verb"],
)
async def test_headers_that_are_too_large_are_refused(stage, raw):
    client = await stage.connect()
    answer = await client.ask(raw)

    assert answer.status in (400, 431)
    assert answer.error
    assert await client.is_closed()


@pytest.mark.parametrize("size", [1, 10, 50, -1])
async def test_a_request_that_does_not_arrive_in_time_is_refused(hurried, size):
    client = await hurried.connect()
    client.send(a_request()[:size])
    answer = await client.answer()

    assert (answer.status, answer.headers["connection"]) == (408, "close")
    assert answer.error
    assert await client.is_closed()


async def test_a_trickle_does_not_buy_time(hurried):
    client = await hurried.connect()
    client.send(a_request()[:-2] + b"X: ")
    trickling = asyncio.create_task(trickle(client))

    assert (await client.answer()).status == 408
    trickling.cancel()
    await asyncio.gather(trickling, return_exceptions=True)


async def trickle(client) -> None:
    while True:
        client.send(b"x")
        await asyncio.sleep(0.001)


async def test_a_body_that_does_not_arrive_in_time_is_refused(hurried):
    client = await hurried.connect()
    client.send(a_request(verb="POST", headers=["Metadata: true", "Content-Length: 10"]) + b"{")

    assert (await client.answer()).status == 408


async def test_who_rests_too_long_is_let_go_without_a_word():
    async with impatient(idle_s=0.02) as stage:
        assert await (await stage.connect()).is_closed()


async def test_who_asks_and_then_rests_too_long_is_let_go_too():
    async with impatient(idle_s=0.5) as stage:
        await stage.machines("web_0")
        client = await stage.connect()
        for _ in range(3):
            assert (await client.ask(a_request())).status == 200

        assert await client.is_closed()


async def test_who_does_not_read_is_let_go_and_disturbs_nobody():
    async with impatient(stalled_s=0.02) as stage:
        await stage.machines("web_0")
        deaf = await stage.connect(limit=1024)
        deaf.send(a_request(INSTANCE) * 200_000)
        for _ in range(20):
            assert (await stage.ask(a_request())).status == 200
        with pytest.raises(ConnectionError):
            await ask_without_end(deaf)


async def ask_without_end(client) -> None:
    while True:
        await client.writer.drain()
        client.send(a_request(INSTANCE) * 1000)


async def ask_for_more_than_fits(stage, count: int):
    """Connect, and ask for far more than the system takes in between the two ends."""
    (machine,) = await stage.machines("db_0")
    await stage.ask(a_request(), machine)
    for _ in range(50):
        await stage.announce(machine)
    client = await stage.connect(machine, limit=1024)
    client.send(a_request() * count)
    for _ in range(100):
        assert (await stage.ask(a_request(), machine)).status == 200
    return client


async def answers(client, count: int):
    return [await client.answer() for _ in range(count)]


async def test_who_reads_late_but_reads_gets_everything(stage):
    client = await ask_for_more_than_fits(stage, 1_000)

    assert {len(answer.json()["Events"]) for answer in await answers(client, 1_000)} == {50}


async def test_who_neither_reads_nor_goes_does_not_keep_the_server():
    async with running(Options(linger_s=0.01)) as stage:
        client = await ask_for_more_than_fits(stage, 1_000)
        await stage.server.stop()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await answers(client, 1_000)


async def test_who_goes_on_sending_after_a_refusal_is_cut_off():
    async with impatient(linger_s=0.02) as stage:
        client = await stage.connect()
        client.send(MALFORMED[0])
        with pytest.raises(ConnectionError):
            await ask_without_end(client)


async def test_a_bug_costs_one_request_and_is_logged(stage, caplog):
    class FaultyEndpoint(Endpoint):
        def answer(self, request, ordinal):
            raise ZeroDivisionError

    endpoint = FaultyEndpoint(stage.platform, Options())
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(endpoint, Options(), set(), lambda _transport: None), "127.0.0.1", 0
    )
    own = Stage(stage.platform, stage.server, server.sockets[0].getsockname()[1])
    client = await own.connect()

    assert [(await client.ask(a_request())).status for _ in range(2)] == [500, 500]
    assert "ZeroDivisionError" in caplog.text
    await client.close()
    server.close()


async def test_too_many_connections_are_refused_until_one_goes():
    async with running(Options(connections_max=2)) as stage:
        await stage.machines("web_0")
        first, second, third = [await stage.connect() for _ in range(3)]
        refused = await third.answer()

        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert await third.is_closed()
        assert (await second.ask(a_request())).status == 200
        await first.close()
        await third.close()
        while (await stage.ask(a_request())).status == 503:
            await asyncio.sleep(0.001)


async def test_a_crowd_that_is_too_large_to_be_told_so_is_dropped():
    async with running(Options(connections_max=1, refusals_max=1)) as stage:
        await stage.machines("web_0")
        first, second = await stage.connect(), await stage.connect()
        assert (await second.answer()).status == 503
        crowd = [await stage.connect() for _ in range(5)]

        for client in crowd:
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await client.answer()
        assert (await first.ask(a_request())).status == 200


async def test_a_server_that_stops_finishes_what_it_has_answered(stage):
    client = await stage.connect()
    assert (await client.ask(a_request())).status == 200
    await stage.server.stop()

    assert await client.is_closed()
    with pytest.raises(ConnectionRefusedError):
        await stage.connect()
