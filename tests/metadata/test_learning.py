"""Requests that are known by their bytes: faster, and otherwise no different."""

import pytest

from lastcall.metadata.endpoint import LEARNED_BYTES_MAX, LEARNED_MAX, Endpoint
from lastcall.metadata.options import Options
from lastcall.metadata.routes import Request
from tests.metadata.stage import EVENTS, a_request, an_approval


async def asked(client, raw: bytes, times: int = 3):
    """Ask until the bytes are certainly known, and return the last answer."""
    for _ in range(times):
        answer = await client.ask(raw)
    return answer


async def test_the_same_bytes_at_two_addresses_have_two_identities(stage):
    (first,) = await stage.machines("web_0")
    (second,) = await stage.machines("db_0")
    raw = a_request()
    clients = [await stage.connect(at) for at in (first, second)]
    for client in clients:
        await asked(client, raw)
    await stage.announce(second)

    assert [len((await asked(client, raw)).json()["Events"]) for client in clients] == [0, 1]


async def test_a_path_that_the_host_knows_stays_unknown_at_a_machines_address(stage):
    first, _ = await stage.machines("web_0", "web_1")
    raw = a_request(f"/vm/web_1{EVENTS}")

    assert (await asked(await stage.connect(), raw)).status == 200
    assert (await asked(await stage.connect(first), raw)).status == 404


async def test_a_change_is_seen_by_everyone_who_asks_again(stage):
    (machine,) = await stage.machines("web_0")
    client, raw = await stage.connect(), a_request()
    incarnations = [(await asked(client, raw)).json()["DocumentIncarnation"]]
    event_id = await stage.announce(machine)
    incarnations.append((await client.ask(raw)).json()["DocumentIncarnation"])
    await client.ask(an_approval(event_id))
    incarnations.append((await client.ask(raw)).json()["DocumentIncarnation"])

    assert incarnations == sorted(set(incarnations))


async def test_two_versions_by_turns_keep_their_formats(stage):
    (machine,) = await stage.machines("web_0")
    client = await stage.connect()
    old, new = (
        a_request(f"/metadata/scheduledevents?api-version={version}")
        for version in ("2017-08-01", "2020-07-01")
    )
    await asked(client, old)
    await asked(client, new)
    await stage.announce(machine)

    for _ in range(3):
        assert "Description" not in (await client.ask(old)).json()["Events"][0]
        assert "Description" in (await client.ask(new)).json()["Events"][0]


@pytest.mark.parametrize("prefix", ["", "/vm/web_0"])
async def test_a_machine_that_is_gone_is_not_found_by_the_same_bytes(stage, prefix):
    (machine,) = await stage.machines("web_0")
    client, raw = await stage.connect(), a_request(f"{prefix}{EVENTS}")
    assert (await asked(client, raw)).status == 200
    await stage.delete(machine)

    assert (await asked(client, raw)).status == 404


async def test_an_address_is_not_found_once_its_machine_is_gone(stage):
    first, _ = await stage.machines("web_0", "web_1")
    client, raw = await stage.connect(first), a_request()
    assert (await asked(client, raw)).status == 200
    await stage.delete(first)

    assert (await asked(client, raw)).status == 404


async def test_a_name_that_becomes_shared_is_a_conflict_for_the_same_bytes(stage):
    await stage.machines("web_0")
    client, raw = await stage.connect(), a_request(f"/vm/web_0{EVENTS}")
    assert (await asked(client, raw)).status == 200
    await stage.machines("web_0")

    assert (await asked(client, raw)).status == 409


async def test_the_bare_address_moves_on_to_the_next_machine(stage):
    (first,) = await stage.machines("web_0")
    (second,) = await stage.machines("db_0")
    client, raw = await stage.connect(), a_request()
    await asked(client, raw)
    await stage.delete(first)
    await asked(client, raw)
    await stage.announce(second)

    assert (await client.ask(raw)).json()["Events"]


async def test_known_bytes_in_the_middle_of_a_body_are_a_body(stage):
    await stage.machines("web_0")
    client, raw = await stage.connect(), a_request()
    await asked(client, raw)
    client.send(a_request(verb="POST", headers=["Metadata: true", f"Content-Length: {len(raw)}"]))
    answer = await client.ask(raw)

    assert answer.status == 400
    assert answer.error == "The body is not JSON."
    assert (await client.ask(raw)).status == 200


async def test_what_asks_for_the_last_answer_gets_the_last_one_each_time(stage):
    await stage.machines("web_0")
    raw = a_request(headers=["Metadata: true", "Connection: close"])
    for _ in range(3):
        client = await stage.connect()
        assert (await client.ask(raw)).headers["connection"] == "close"
        assert await client.is_closed()


async def test_only_so_much_is_learned(stage):
    await stage.machines("web_0")
    endpoint = Endpoint(stage.platform, Options())
    await stage.ask(a_request())
    for number in range(LEARNED_MAX + 10):
        request = Request(verb="GET", url=EVENTS.encode(), has_metadata=True, raw=b"%d" % number)
        endpoint.answer(request, None)
    large = Request(
        verb="GET", url=EVENTS.encode(), has_metadata=True, raw=b"x" * (LEARNED_BYTES_MAX + 1)
    )
    endpoint.answer(large, None)

    assert len(endpoint.learned) == LEARNED_MAX
    assert large.raw not in endpoint.learned


@pytest.mark.parametrize(
    "request_",
    [
        Request(verb="GET", url=EVENTS.encode(), raw=b"x"),
        Request(verb="GET", url=EVENTS.encode(), has_metadata=True, has_origin=True, raw=b"x"),
        Request(verb="POST", url=EVENTS.encode(), has_metadata=True, raw=b"x"),
        Request(verb="GET", url=b"/metadata/versions", has_metadata=True, raw=b"x"),
        Request(verb="GET", url=EVENTS.encode(), has_metadata=True, is_last=True, raw=b"x"),
        Request(verb="GET", url=EVENTS.encode(), has_metadata=True),
    ],
)
async def test_nothing_else_is_learned(stage, request_):
    await stage.machines("web_0")
    await stage.ask(a_request())
    endpoint = Endpoint(stage.platform, Options())
    outcome = endpoint.answer(request_, None)

    assert isinstance(outcome, bytes)
    assert endpoint.learned == {}
