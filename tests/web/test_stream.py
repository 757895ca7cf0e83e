import asyncio
import json
from datetime import timedelta

import pytest

from lastcall.web.admin.stream import GAP, HEARTBEAT, HELLO, WAITING_LINES_MAX, Streams
from lastcall.web.errors import TooManyListenersError
from tests.web.desk import OURS, SETS, WEB, a_model

FREEZE = {"type": "Freeze", "instances": ["web_0"]}


def told(message):
    number, data = message.decode().splitlines()[:2]
    return int(number.removeprefix("id: ")), json.loads(data.removeprefix("data: "))["what"]


async def test_every_committed_line_is_sent_once_with_its_number(web):
    stream = Streams(web.platform).follow(None)
    assert await anext(stream) == HELLO
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)

    await web.send("POST", f"{OURS}/events", FREEZE)

    assert told(await waiting) == (4, "announced")
    await stream.aclose()


async def test_a_client_resumes_after_the_last_line_that_it_has(web):
    stream = Streams(web.platform).follow(1)

    assert await anext(stream) == HELLO
    assert [told(await anext(stream))[0] for _ in range(2)] == [2, 3]
    await web.send("POST", f"{OURS}/events", FREEZE)
    assert told(await anext(stream)) == (4, "announced")
    await stream.aclose()


async def test_a_resuming_client_is_told_of_a_gap(desk):
    await desk.arm("PUT", f"{SETS}/large", a_model(100))
    for _ in range(11):
        await desk.arm("POST", f"{SETS}/large/start")
    stream = Streams(desk.platform).follow(0)

    assert await anext(stream) == HELLO
    assert await anext(stream) == GAP
    assert told(await anext(stream)) == (201, "start")
    await stream.aclose()


async def test_silence_is_filled_with_heartbeats(desk):
    stream = Streams(desk.platform, heartbeat_s=0.001).follow(None)

    assert [await anext(stream) for _ in range(3)] == [HELLO, HEARTBEAT, HEARTBEAT]
    await stream.aclose()


async def test_a_client_that_does_not_read_is_let_go(desk):
    await desk.arm("PUT", f"{SETS}/large", a_model(100))
    stream = Streams(desk.platform).follow(None)
    await anext(stream)

    for _ in range(WAITING_LINES_MAX // 100 + 1):
        await desk.arm("POST", f"{SETS}/large/start")

    assert [message async for message in stream] == []


async def test_closing_ends_every_stream_and_forgets_its_listener(web):
    streams = Streams(web.platform)
    stream = streams.follow(None)
    await anext(stream)
    assert len(streams) == 1

    streams.close()

    assert [message async for message in stream] == []
    assert len(streams) == 0


async def test_there_is_a_limit_to_listeners(web):
    streams = Streams(web.platform)
    listening = [streams.follow(None) for _ in range(64)]
    for stream in listening:
        await anext(stream)

    with pytest.raises(TooManyListenersError):
        streams.follow(None)
    for stream in listening:
        await stream.aclose()


@pytest.mark.parametrize(
    ("query", "headers"),
    [(b"", [(b"last-event-id", b"2")]), (b"after=2", []), (b"after=2", [(b"last-event-id", b"x")])],
)
async def test_the_stream_is_served_until_the_client_goes(web, query, headers):
    sent: asyncio.Queue[dict] = asyncio.Queue()
    gone = asyncio.Event()
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": f"{OURS}/stream",
        "raw_path": f"{OURS}/stream".encode(),
        "query_string": query,
        "headers": [(b"host", b"127.0.0.1"), *headers],
    }

    async def receive():
        await gone.wait()
        return {"type": "http.disconnect"}

    serving = asyncio.ensure_future(web.app(scope, receive, sent.put))
    start = await sent.get()
    assert start["status"] == 200
    assert (b"content-type", b"text/event-stream; charset=utf-8") in start["headers"]
    assert (await sent.get())["body"] == HELLO
    assert told((await sent.get())["body"]) == (3, "watched")
    assert len(web.app.state.streams) == 1

    gone.set()
    await serving

    assert len(web.app.state.streams) == 0


@pytest.mark.parametrize("query", ["after=x", "after=-1"])
async def test_a_wrong_place_to_resume_is_refused(web, query):
    assert (await web.send("GET", f"{OURS}/stream?{query}")).status_code == 400


async def test_a_long_deletion_can_be_watched_from_beginning_to_end(web):
    stream = Streams(web.platform).follow(3)
    await anext(stream)

    await web.arm("POST", f"{WEB}/delete", {"instanceIds": ["0"]})
    await web.settle(timedelta(minutes=10))

    seen = [told(await anext(stream))[1] for _ in range(4)]
    assert seen == ["announced", "started", "completed", "deleted"]
    await stream.aclose()
