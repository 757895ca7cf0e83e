"""What precedes a request has bounds, on a real socket."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response

from lastcall.web.connections import BoundedProtocol
from lastcall.web.errors import RequestTimeoutError
from lastcall.web.routing import Call

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def app(scope, receive, send):
    body = await Request(scope, receive).body()
    await Response(b"%d" % len(body))(scope, receive, send)


class Impatient(BoundedProtocol):
    head_s = 0.05


class Crowded(BoundedProtocol):
    connections_max = 2


@asynccontextmanager
async def serving(protocol):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, http=protocol, lifespan="off", log_config=None, access_log=False
        )
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[listener])
        opened = []

        async def connect():
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            opened.append(writer)
            return reader, writer

        try:
            yield connect
        finally:
            for writer in opened:
                writer.close()
            await server.shutdown(sockets=[listener])


async def test_a_body_that_never_comes_is_not_waited_for():
    class Hasty(Call):
        body_s = 0.05

    async def receive():
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "headers": [], "query_string": b"", "path": "/"}

    with pytest.raises(RequestTimeoutError):
        await Hasty(Request(scope, receive), {}).body()


@pytest.mark.parametrize("piece", [1_000, 200_000])
async def test_a_head_without_end_is_refused(piece):
    async with serving(BoundedProtocol) as connect:
        reader, writer = await connect()
        writer.write(GET + b"X: ")
        for _ in range(200_000 // piece):
            writer.write(b"x" * piece)
        answer = await reader.read(200)

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"RequestHeaderFieldsTooLarge" in answer


async def test_a_large_body_is_no_head():
    body = b"x" * 300_000
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with serving(BoundedProtocol) as connect:
        for _ in range(2):
            reader, writer = await connect()
            for _ in range(2):  # The second on a connection that was kept.
                writer.write(head + body)
                answer = await reader.readuntil(b"300000")
                assert answer.startswith(b"HTTP/1.1 200 ")


async def test_every_head_is_counted_anew():
    request = GET + b"X: " + b"x" * 40_000 + b"\r\n\r\n"
    async with serving(BoundedProtocol) as connect:
        reader, writer = await connect()
        for _ in range(5):
            writer.write(request)
            assert (await reader.readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"GET", GET])
async def test_who_does_not_say_what_it_wants_is_let_go(sent):
    async with serving(Impatient) as connect:
        reader, writer = await connect()
        writer.write(sent)
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_second_head_that_never_ends_is_let_go_too():
    async with serving(Impatient) as connect:
        reader, writer = await connect()
        writer.write(GET + b"\r\n" + b"GET / HT")
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


async def test_one_connection_too_many_is_dropped_and_others_go_on():
    async with serving(Crowded) as connect:
        first, second = await connect(), await connect()
        for reader, writer in (first, second):
            writer.write(GET + b"\r\n")
            assert (await reader.readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200 ")
        reader, _ = await connect()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        first[1].write(GET + b"\r\n")
        assert (await first[0].readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200 ")
