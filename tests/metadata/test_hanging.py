"""Being answered when the document changes, for those who ask for it."""

import asyncio

import pytest

from tests.metadata.stage import EVENTS, a_request


def hanging(**parameters) -> bytes:
    given = "".join(f"&{name}={value}" for name, value in parameters.items())
    return a_request(f"{EVENTS}&wait_for_change=true{given}")


async def listeners(stage, machine, count: int) -> None:
    """Wait until so many readers wait."""
    while len(stage.published(machine).listeners) != count:
        await asyncio.sleep(0.001)


@pytest.fixture
async def machine(stage):
    (machine,) = await stage.machines("web_0")
    await stage.ask(a_request())
    return machine


async def test_it_is_answered_when_the_document_changes(stage, machine):
    client = await stage.connect()
    client.send(hanging(last_incarnation=1))
    await listeners(stage, machine, 1)
    event_id = await stage.announce(machine)

    answer = await client.answer()

    assert [event["EventId"] for event in answer.json()["Events"]] == [event_id]
    assert stage.published(machine).listeners == []


async def test_without_an_incarnation_the_next_change_is_meant(stage, machine):
    client = await stage.connect()
    client.send(hanging())
    await listeners(stage, machine, 1)
    await stage.announce(machine)

    assert (await client.answer()).json()["Events"]


async def test_it_is_answered_at_once_when_the_document_is_already_another(stage, machine):
    await stage.announce(machine)

    assert (await stage.ask(hanging(last_incarnation=1))).json()["DocumentIncarnation"] == 2


async def test_when_time_is_up_it_is_answered_with_what_there_is(stage, machine):
    answer = await stage.ask(hanging(last_incarnation=1, timeout_sec=1))

    assert answer.json()["DocumentIncarnation"] == 1
    assert stage.published(machine).listeners == []


async def test_who_has_gone_is_not_waited_for(stage, machine):
    client = await stage.connect()
    client.send(hanging(last_incarnation=1))
    await listeners(stage, machine, 1)
    await client.close()

    await listeners(stage, machine, 0)


async def test_it_waits_in_a_scope_that_nobody_has_read_too(stage):
    (machine,) = await stage.machines("db_0")
    client = await stage.connect(machine)
    client.send(hanging(last_incarnation=1))
    await listeners(stage, machine, 1)
    assert stage.published(machine).scope.watched_at is not None
    await stage.announce(machine)

    assert (await client.answer()).json()["Events"]


async def test_a_machine_that_goes_while_it_waits_is_told_so(stage):
    first, second = await stage.machines("web_0", "web_1")
    await stage.ask(a_request(), first)
    published = stage.published(first)
    client = await stage.connect(first)
    client.send(hanging(last_incarnation=published.scope.incarnation))
    await listeners(stage, second, 1)
    await stage.delete(first)

    answer = await client.answer()

    assert answer.status == 404
    assert "deleted" in answer.error


async def test_what_follows_a_hanging_request_waits_its_turn(stage, machine):
    client = await stage.connect()
    client.send(hanging(last_incarnation=1) + a_request("/metadata/versions"))
    await listeners(stage, machine, 1)
    client.send(a_request())
    await stage.announce(machine)

    assert (await client.answer()).json()["Events"]
    assert (await client.answer()).json()["apiVersions"]
    assert (await client.answer()).json()["Events"]


async def test_many_wait_and_all_are_answered(stage, machine):
    clients = [await stage.connect() for _ in range(50)]
    for client in clients:
        client.send(hanging(last_incarnation=1))
    await listeners(stage, machine, 50)
    await stage.announce(machine)

    assert {(await client.answer()).json()["DocumentIncarnation"] for client in clients} == {2}


@pytest.mark.parametrize(
    "parameters",
    [
        "wait_for_change=perhaps",
        "wait_for_change=true&last_incarnation=x",
        "wait_for_change=true&last_incarnation=-1",
        "wait_for_change=true&timeout_sec=0",
        "wait_for_change=true&timeout_sec=301",
        "wait_for_change=true&timeout_sec=1.5",
        "wait_for_change=true&timeout_sec=",
        "wait_for_change=true&timeout_sec=%D9%A1",
    ],
)
async def test_values_that_make_no_sense_are_refused(stage, machine, parameters):
    answer = await stage.ask(a_request(f"{EVENTS}&{parameters}"))

    assert answer.status == 400
    assert answer.error.startswith("Bad request.")


@pytest.mark.parametrize(
    "parameters", ["wait_for_change=false", "last_incarnation=1", "timeout_sec=x"]
)
async def test_who_does_not_ask_to_wait_does_not_wait(stage, machine, parameters):
    assert (await stage.ask(a_request(f"{EVENTS}&{parameters}"))).status == 200


async def test_who_still_waits_does_not_keep_the_server(stage, machine):
    client = await stage.connect()
    client.send(hanging(last_incarnation=1))
    await listeners(stage, machine, 1)
    await stage.server.stop()

    assert await client.is_closed()
    assert stage.published(machine).listeners == []
