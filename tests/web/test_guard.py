import asyncio

import httpx2
import pytest
from starlette.responses import Response

from lastcall.web.guard import Guard
from tests.web.desk import OURS

CLOCK = f"{OURS}/clock"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:7080", "127.200.3.4:1", "localhost", "LocalHost:80", "[::1]:5"]
)
async def test_loopback_hosts_are_served(desk, host):
    assert (await desk.send("GET", CLOCK, host=host)).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7080",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.256",
        "127.0.0.1@evil.example",
        "128.0.0.1",
        "[::2]",
        "",
    ],
)
async def test_other_hosts_are_refused(desk, host):
    answer = await desk.send("GET", CLOCK, host=host)

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "Forbidden"


async def test_our_own_pages_may_speak_to_us(desk):
    assert (await desk.send("GET", CLOCK, origin="http://127.0.0.1:7080")).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:7080", "http://127.0.0.1:3000", ""],
)
async def test_foreign_pages_may_not(desk, origin):
    before = desk.dump()

    answer = await desk.send("POST", f"{CLOCK}/advance", {"by": "PT1M"}, origin=origin)

    assert answer.status_code == 403
    assert desk.dump() == before


@pytest.mark.parametrize("host", [b"127.0.0.1", b"evil.example"])
async def test_websockets_are_closed(desk, host):
    sent = []
    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/",
        "headers": [(b"host", host)],
        "query_string": b"",
        "subprotocols": [],
    }

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    await desk.app(scope, receive, send)

    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_one_request_too_many_is_told_when_to_come_back_and_others_go_on():
    inside, may_go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slow(scope, receive, send):
        inside.release()
        await may_go_on.wait()
        await Response(b"done")(scope, receive, send)

    transport = httpx2.ASGITransport(app=Guard(slow, requests_max=2))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        served = [asyncio.create_task(http.get("/")) for _ in range(2)]
        for _ in served:
            await inside.acquire()
        refused = await http.get("/")
        may_go_on.set()

        assert [(await task).text for task in served] == ["done", "done"]
        assert (await http.get("/")).status_code == 200
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["content-type"] == "application/json; charset=utf-8"
    assert refused.json()["error"]["code"] == "ServiceUnavailable"


async def test_a_request_that_fails_makes_room_for_the_next():
    async def broken(_scope, _receive, _send):
        raise ZeroDivisionError

    transport = httpx2.ASGITransport(app=Guard(broken, requests_max=1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await http.get("/")
