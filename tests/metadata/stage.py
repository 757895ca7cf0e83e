"""A platform with its metadata server on loopback, and clients that send bytes of their choice."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from lastcall.app import scale_sets
from lastcall.app.events import create_scope
from lastcall.app.learning import learn
from lastcall.app.platform import Platform, Realism, World
from lastcall.clock import VirtualClock
from lastcall.drivers.simulated import SimulatedDriver
from lastcall.engine.facts import Announced, Requested
from lastcall.engine.model import (
    Action,
    EventId,
    EventType,
    Machine,
    MachineId,
    Model,
    ScopeKind,
)
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import Traits
from lastcall.ids import RandomIds
from lastcall.metadata.addresses import address_of
from lastcall.metadata.options import Options
from lastcall.metadata.server import MetadataServer
from lastcall.store.memory import MemoryStore
from lastcall.wire.names import set_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOCALHOST = "127.0.0.1"
EVENTS = "/metadata/scheduledevents?api-version=2020-07-01"
INSTANCE = "/metadata/instance?api-version=2021-02-01"


def a_request(
    url: str = EVENTS,
    verb: str = "GET",
    headers: Sequence[str] = ("Metadata: true",),
    body: bytes | None = None,
) -> bytes:
    length = () if body is None else (f"Content-Length: {len(body)}",)
    lines = [f"{verb} {url} HTTP/1.1", "Host: metadata", *headers, *length, "", ""]
    return "\r\n".join(lines).encode() + (body or b"")


def an_approval(*event_ids: str) -> bytes:
    body = json.dumps({"StartRequests": [{"EventId": each} for each in event_ids]})
    return a_request(verb="POST", body=body.encode())


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)

    @property
    def error(self) -> str:
        assert self.headers["content-type"] == "application/json; charset=utf-8"
        return self.json()["error"]


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self, *, has_body: bool = True) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status, *lines = head.split("\r\n")[:-2]
        headers = {n.lower(): v for n, v in (line.split(": ", 1) for line in lines)}
        length = int(headers.get("content-length", 0)) if has_body else 0
        return Answer(int(status.split()[1]), headers, await self.reader.readexactly(length))

    async def ask(self, data: bytes) -> Answer:
        self.send(data)
        return await self.answer()

    async def is_closed(self) -> bool:
        return await self.reader.read() == b""

    async def close(self) -> None:
        self.writer.close()
        await asyncio.gather(self.writer.wait_closed(), return_exceptions=True)


class Stage:
    def __init__(self, platform: Platform, server: MetadataServer, port: int) -> None:
        self.platform, self.server, self.port = platform, server, port
        self.clients: list[Client] = []

    async def machines(
        self, *names: str, kind: ScopeKind = ScopeKind.AVAILABILITY_SET
    ) -> list[Machine]:
        scope = await self.platform.transact(
            lambda tx, moment: create_scope(tx, kind, names, Model(), moment)
        )
        await self.platform.advance(timedelta(0))
        return [self.platform.directory.machine(machine_id) for machine_id in scope.machines]

    async def scale_set(self, document: dict, capacity: int = 2, **traits) -> list[Machine]:
        key = scale_sets.SetKey(
            id=set_id("sub", "Group", "web"),
            subscription="sub",
            resource_group="Group",
            name="web",
        )
        revision = scale_sets.Revision(
            document=json.dumps(document).encode(),
            traits=Traits(name_prefix="web", **traits),
            location="westeurope",
            capacity=capacity,
            changes_instances=False,
        )
        written = await self.platform.transact(
            lambda tx, moment: scale_sets.write(tx, key, lambda _old: revision, moment)
        )
        await self.platform.advance(timedelta(0))
        members = await self.platform.read(
            lambda reader: scale_sets.members(reader, reader.scale_set(written.scale_set.id))
        )
        return [machine for _, machine in members]

    def published(self, machine: Machine):
        return self.platform.directory.scope_of(machine.id)

    async def announce(self, machine: Machine) -> EventId:
        event_id = self.platform.moment().ids.event_id()
        fact = Announced(event_id=event_id, type=EventType.REBOOT, machines=(machine.id,))
        await self.platform.announce(self.published(machine).scope.id, fact)
        return event_id

    async def delete(self, machine: Machine) -> None:
        scope_id = self.published(machine).scope.id
        fact = Requested(
            action=Action.DELETE,
            machines=(MachineId(machine.id),),
            event_ids=(self.platform.moment().ids.event_id(),),
            force=True,
        )
        await self.platform.transact(lambda tx, moment: learn(tx, scope_id, fact, moment))
        await self.platform.advance(timedelta(0))

    async def connect(self, at: Machine | str = LOCALHOST, **options) -> Client:
        address = at if isinstance(at, str) else address_of(at.ordinal)
        client = Client(*await asyncio.open_connection(address, self.port, **options))
        self.clients.append(client)
        return client

    async def ask(self, data: bytes, at: Machine | str = LOCALHOST) -> Answer:
        client = await self.connect(at)
        answer = await client.ask(data)
        await client.close()
        return answer


@asynccontextmanager
async def running(options: Options | None = None, *, realism: Realism | None = None, store=None):
    world = World(
        store=store or MemoryStore(),
        driver=SimulatedDriver(),
        clock=VirtualClock(NOON),
        ids=RandomIds(1),
    )
    platform = Platform(world, Policy(), realism)
    await platform.start()
    server = MetadataServer(platform, options)
    _, port = await server.start()
    stage = Stage(platform, server, port)
    try:
        yield stage
    finally:
        for client in stage.clients:
            await client.close()
        await server.stop()
        await platform.stop()
