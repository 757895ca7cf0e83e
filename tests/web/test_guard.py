import pytest

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
