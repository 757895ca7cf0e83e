"""Who is asking: by address, by path, by default; never by anything else."""

import asyncio
import socket

import pytest

from lastcall.metadata.addresses import address_of
from lastcall.metadata.options import Options
from lastcall.metadata.server import MetadataServer
from tests.metadata.stage import EVENTS, LOCALHOST, Stage, a_request, running

NAME = "/metadata/instance/compute/name?format=text&api-version=2021-02-01"
VM_ID = "/metadata/instance/compute/vmId?format=text&api-version=2021-02-01"


async def name(stage: Stage, url: str = NAME, at=LOCALHOST) -> str:
    answer = await stage.ask(a_request(url), at)
    return answer.body.decode() if answer.status == 200 else f"{answer.status}"


async def test_each_machine_has_an_address_of_its_own(stage):
    machines = await stage.machines("web_0", "web_1")

    assert stage.server.addresses_per_instance
    assert [await name(stage, at=machine) for machine in machines] == ["web_0", "web_1"]


async def test_the_path_says_which_machine_by_name_or_vm_id(stage):
    _, second = await stage.machines("web_0", "web 1")

    assert await name(stage, f"/vm/web_0{NAME}") == "web_0"
    assert await name(stage, f"/VM/WEB%201{NAME}") == "web 1"
    assert await name(stage, f"/vm/{second.id}{NAME}") == "web 1"


async def test_the_bare_address_speaks_for_the_first_machine_that_is_left(stage):
    first, _ = await stage.machines("web_0", "web_1")
    assert await name(stage) == "web_0"

    await stage.delete(first)

    assert await name(stage) == "web_1"


async def test_without_a_machine_the_bare_address_says_what_to_do(stage):
    answer = await stage.ask(a_request())

    assert answer.status == 404
    assert "create a scale set first" in answer.error


async def test_an_unknown_name_is_not_found(stage):
    await stage.machines("web_0")
    answer = await stage.ask(a_request(f"/vm/nobody{EVENTS}"))

    assert (answer.status, answer.error) == (404, "There is no instance 'nobody'.")


async def test_a_name_that_two_machines_share_is_a_conflict_that_names_both(stage):
    (first,) = await stage.machines("web_0")
    (second,) = await stage.machines("web_0")
    answer = await stage.ask(a_request(f"/vm/web_0{EVENTS}"))

    assert answer.status == 409
    assert first.id in answer.error
    assert second.id in answer.error


@pytest.mark.parametrize("address", ["127.1.0.0", "127.1.0.9", "127.200.3.4"])
async def test_an_address_that_nobody_has_is_not_found(stage, address):
    await stage.machines("web_0")
    answer = await stage.ask(a_request(), address)

    assert answer.status == 404
    assert address in answer.error


async def test_a_machine_cannot_speak_for_another(stage):
    first, second = await stage.machines("web_0", "web_1")

    assert await name(stage, f"/vm/web_1{NAME}", at=first) == "404"
    assert await name(stage, f"/vm/{second.id}{VM_ID}", at=first) == "404"
    assert await name(stage, f"/vm/web_0{NAME}", at=first) == "404"


async def test_no_header_changes_who_is_asking(stage):
    first, second = await stage.machines("web_0", "web_1")
    claims = [f"Host: {address_of(second.ordinal)}", "X-Real-IP: 1", "Forwarded: for=web_1"]
    answer = await stage.ask(a_request(NAME, headers=["Metadata: true", *claims]), first)

    assert answer.body == b"web_0"


async def test_on_any_other_host_there_is_just_that_address(stage):
    await stage.machines("web_0")
    server = MetadataServer(stage.platform)
    host, port = await server.start("127.0.0.2", 0)

    assert not server.addresses_per_instance
    assert host == "127.0.0.2"
    assert await name(Stage(stage.platform, server, port), at=host) == "web_0"
    with pytest.raises(ConnectionRefusedError):
        await Stage(stage.platform, server, port).connect("127.0.0.1")
    await server.stop()


async def test_where_machines_have_no_addresses_their_names_still_do():
    async with running(Options(own_addresses=False)) as stage:
        await stage.machines("web_0", "web_1")

        assert not stage.server.addresses_per_instance
        assert await name(stage) == "web_0"
        assert await name(stage, f"/vm/web_1{NAME}") == "web_1"
        with pytest.raises(ConnectionRefusedError):
            await stage.connect("127.1.0.1")


def another_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Nothing is sent; only a route is looked for.
        except OSError:
            pytest.skip("this host has loopback only")
        return probe.getsockname()[0]


async def test_the_hosts_other_addresses_are_nobodys(stage):
    await stage.machines("web_0")
    try:
        client = await stage.connect(another_address())
    except ConnectionError:
        return
    client.send(a_request())

    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await client.answer()


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_open(stage):
    with pytest.raises(OSError, match="in use"):
        await MetadataServer(stage.platform).start(LOCALHOST, stage.port)
