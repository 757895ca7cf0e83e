"""How a server is put together, and what it refuses to be put together from."""

import asyncio
import json
import resource
import sqlite3
import threading
import urllib.request

import pytest

from lastcall.assembly import StartError, connections_allowed, running
from lastcall.metadata.options import Options
from lastcall.settings import Address, Settings
from lastcall.statefolder import DATABASE
from lastcall.store.sqlite import SqliteStore

ANY = Address("127.0.0.1", 0)


def settings(folder, **changes):
    return Settings(state=folder, **({"control": ANY, "portal": ANY, "metadata": ANY} | changes))


async def refusal(folder, **changes):
    with pytest.raises(StartError) as refused:
        async with running(settings(folder, **changes)):
            pass
    return str(refused.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "255.255.255.255"])
async def test_metadata_that_others_could_reach_is_refused_unless_it_is_meant(tmp_path, host):
    sentence = await refusal(tmp_path, metadata=Address(host, 0))

    assert "not a loopback address" in sentence
    assert "--expose-metadata" in sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
async def test_metadata_on_loopback_is_served(tmp_path, host):
    async with running(settings(tmp_path, metadata=Address(host, 0))) as endpoints:
        assert endpoints.metadata.startswith(f"http://{host}:")


async def test_metadata_that_is_meant_for_others_is_served(tmp_path):
    everywhere = Address("0.0.0.0", 0)
    async with running(settings(tmp_path, metadata=everywhere, expose_metadata=True)) as endpoints:
        assert endpoints.metadata.startswith("http://0.0.0.0:")


@pytest.mark.parametrize("exposed", [False, True])
async def test_a_host_that_does_not_exist_is_named_with_a_reason(tmp_path, exposed):
    sentence = await refusal(
        tmp_path, metadata=Address("nohost.invalid", 1), expose_metadata=exposed
    )

    assert sentence.startswith("Cannot listen on nohost.invalid:1: ")
    assert "Unknown error" not in sentence
    assert "--metadata" in sentence


@pytest.mark.parametrize(
    ("open_files", "connections"),
    [
        (resource.RLIM_INFINITY, Options().connections_max),
        (1_000_000, Options().connections_max),
        (4_096, 3_840),
        (1_024, 768),
        (300, 150),
        (2, 1),
    ],
)
def test_connections_leave_open_files_for_everything_else(open_files, connections):
    assert connections_allowed(open_files) == connections


SPOILED = [
    pytest.param("INSERT INTO remembered VALUES ('clock', 'noon')", id="before the platform is"),
    pytest.param(
        "INSERT INTO machines VALUES ('x', 'y', 1, 'z'); "
        "INSERT INTO scopes VALUES ('x', 'virtualMachine', NULL, 1, NULL, 1, NULL)",
        id="while it starts",
    ),
]


@pytest.mark.parametrize("script", SPOILED)
async def test_a_start_that_fails_leaves_nothing_open(tmp_path, script):
    await SqliteStore(tmp_path / DATABASE).close()
    with sqlite3.connect(tmp_path / DATABASE) as spoiling:
        spoiling.executescript(script)
    spoiling.close()
    before = set(threading.enumerate())

    with pytest.raises(ValueError):  # noqa: PT011  # whose words these are does not matter
        async with running(settings(tmp_path, clock="virtual")):
            pass

    assert {each.name for each in set(threading.enumerate()) - before} <= {"asyncio_0"}
    assert not (tmp_path / f"{DATABASE}-wal").exists()


async def test_a_virtual_clock_stands_still_while_nobody_runs_it(tmp_path):
    store = SqliteStore(tmp_path / DATABASE)
    await store.transact(lambda tx: tx.remember("clock", "2020-02-03T04:05:06+00:00"))
    await store.close()

    async with running(settings(tmp_path, clock="virtual")) as endpoints:
        url = f"{endpoints.portal}/lastcall/v1/clock"
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(url).read())
        assert json.loads(answer)["now"].startswith("2020-02-03T04:05:06")


async def test_a_folder_whose_clock_is_ahead_is_not_run_in_real_time(tmp_path):
    store = SqliteStore(tmp_path / DATABASE)
    await store.transact(lambda tx: tx.remember("clock", "2999-01-01T00:00:00+00:00"))
    await store.close()

    sentence = await refusal(tmp_path)

    assert "2999-01-01 00:00:00 UTC" in sentence
    assert "--clock virtual" in sentence
