"""Whatever is sent, the server goes on, and whatever it refuses, it says why in JSON."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lastcall.metadata.options import Options
from tests.metadata.stage import EVENTS, INSTANCE, a_request, an_approval, running

OPTIONS = Options(request_s=0.01, linger_s=0.01, sweep_s=0.005)

PARTS = st.sampled_from(
    [
        a_request(),
        a_request(INSTANCE),
        a_request(f"/vm/web_0{EVENTS}"),
        a_request(verb="HEAD"),
        an_approval("602D9444-D2CD-49C7-8624-8643E7171297"),
        b"GET ",
        b" HTTP/1.1\r\n",
        b"Metadata: true\r\n",
        b"Content-Length: 5\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: close\r\n",
        b"Connection: upgrade\r\nUpgrade: x\r\n",
        b"\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
    ]
)
STREAMS = st.lists(st.one_of(PARTS, st.binary(max_size=50)), max_size=12)


async def everything(client, stream) -> bytes:
    """Send a stream part by part, and return all that comes back."""
    try:
        for part in stream:
            client.send(part)
            await asyncio.sleep(0)
        client.writer.write_eof()
        return await client.reader.read()
    except (OSError, RuntimeError):
        return b""  # It was cut off before it had finished.


@settings(max_examples=60)
@given(st.lists(STREAMS, min_size=1, max_size=3))
async def test_arbitrary_bytes_never_disturb_another_client(streams):
    async with running(OPTIONS) as stage:
        await stage.machines("web_0")
        for stream in streams:
            client = await stage.connect()
            for status, body in answers(await everything(client, stream)):
                assert status == 200 or json.loads(body)["error"]
            assert (await stage.ask(a_request())).status == 200


@settings(max_examples=200)
@given(
    st.text(
        st.characters(codec="ascii", exclude_characters=" #\x7f", min_codepoint=33), max_size=60
    )
)
async def test_every_url_is_answered_and_every_refusal_is_json(url):
    async with running() as stage:
        await stage.machines("web_0")
        for prefix in (
            "/",
            "/metadata/",
            f"{INSTANCE}&",
            "/metadata/instance/",
            f"{EVENTS}&",
            "/vm/",
        ):
            answer = await stage.ask(a_request(prefix + url))
            assert answer.status in (200, 400, 404)
            assert answer.status == 200 or answer.error


def answers(stream: bytes):
    """Return status and body of each answer that has a body."""
    while stream:
        head, _, stream = stream.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        length = int(headers.get("Content-Length", 0))
        if "Allow" in headers and stream[:1] != b"{":
            length = 0  # To a HEAD.
        if length:
            yield int(lines[0].split()[1]), stream[:length]
        stream = stream[length:]
