"""What an instance costs as the fleet grows: time to create it, and memory while it is idle."""

import asyncio
import re
import statistics
import tempfile
import time
from pathlib import Path

import msgspec

from bench.report import Row
from bench.server import Server, running
from lastcall.app import scale_sets
from lastcall.app.platform import Platform, World
from lastcall.app.scale_sets import Revision, SetKey
from lastcall.clock import SystemClock
from lastcall.drivers.simulated import SimulatedDriver
from lastcall.engine.model import SetId
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import Traits
from lastcall.ids import RandomIds
from lastcall.store.sqlite import SqliteStore

SETS = 100
PER_SET = 1000
IDLE_SETS = 20
TENTH = SETS // 10


def measure() -> list[Row]:
    """Grow to 100,000 instances, and weigh 20,000 idle ones."""
    return [asyncio.run(_growth()), _memory()]


async def _growth() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        world = World(
            store=SqliteStore(Path(folder) / "fleet.db"),
            driver=SimulatedDriver(),
            clock=SystemClock(),
            ids=RandomIds(),
        )
        platform = Platform(world, Policy())
        await platform.start()
        taken = [await _create(platform, number) for number in range(SETS)]
        await platform.stop()
    first, last = statistics.median(taken[:TENTH]), statistics.median(taken[-TENTH:])
    ratio = last / first
    return Row(
        f"cost per instance at {SETS * PER_SET:,} instances",
        f"{last / PER_SET * 1e6:.0f} µs",
        f"up to {TENTH * PER_SET:,}: {first / PER_SET * 1e6:.0f} µs",
        ratio,
        "<= 1.2",
        ratio <= 1.2,
    )


async def _create(platform: Platform, number: int) -> float:
    name = f"set{number}"
    key = SetKey(id=SetId(f"s/g/{name}"), subscription="s", resource_group="g", name=name)
    revision = Revision(
        document=msgspec.json.encode({"sku": {"name": "Standard_D2s_v5"}}),
        traits=Traits(single_placement_group=False),
        location="westus",
        capacity=PER_SET,
        changes_instances=False,
    )
    started = time.perf_counter()
    written = await platform.transact(
        lambda tx, moment: scale_sets.write(tx, key, lambda _old: revision, moment)
    )
    operation_id = written.operation.id
    while not (await platform.read(lambda reader: reader.operation(operation_id))).is_over:
        await asyncio.sleep(0.001)
    return time.perf_counter() - started


def _memory() -> Row:
    with running() as server:
        server.put_set("warm", 1000)
        server.settle("warm")
        before = _resident_kib(server)
        for number in range(IDLE_SETS):
            server.put_set(f"idle{number}", 1000)
            server.settle(f"idle{number}")
        each = (_resident_kib(server) - before) / (IDLE_SETS * 1000)
    return Row(
        f"memory per idle instance, {IDLE_SETS * 1000:,} of them",
        f"{each:.2f} KiB",
        "2 KiB",
        each / 2,
        "<= 1",
        each <= 2,
    )


def _resident_kib(server: Server) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())
    assert found is not None
    return int(found[1])
