"""Settings in, a running server out: the only module that knows all concrete classes."""

import asyncio
import contextlib
import ipaddress
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime

import uvicorn
from starlette.applications import Starlette

from lastcall.app.platform import Platform, Realism, World
from lastcall.clock import SystemClock, VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.model import Machine
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.metadata.addresses import address_of
from lastcall.metadata.server import MetadataServer
from lastcall.ports import Clock
from lastcall.settings import Address, Settings
from lastcall.statefolder import Endpoints, StateFolder
from lastcall.store.sqlite import SqliteStore, StoreVersionError
from lastcall.web.apps import Account, build_app


class StartError(Exception):
    """The server could not start; the message says why and what to do."""


class _PortalServer(uvicorn.Server):
    """Uvicorn without its signal handlers: signals are the caller's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Endpoints]:
    """Run a server on its state folder; ready when entered, stopped when left."""
    _refuse_exposure(settings.portal)
    with StateFolder(settings.state) as folder, _bound(settings.portal, "--portal") as portal:
        store = _open_store(folder)
        platform = await _platform(settings, store)
        await platform.start()
        metadata = MetadataServer(platform)
        try:
            host, port = await _listen(metadata, settings.metadata)
            endpoints = Endpoints(
                portal=_url(*portal.getsockname()[:2]),
                metadata=_url(host, port),
                subscription=settings.subscription,
                tenant=settings.tenant,
                pid=os.getpid(),
            )
            account = Account(subscription=settings.subscription, tenant=settings.tenant)
            app = build_app(platform, account, metadata_url=_locator(metadata, host, port))
            async with _serving(app, portal):
                folder.publish(endpoints)
                yield endpoints
        finally:
            await metadata.stop()
            await platform.stop()


async def _platform(settings: Settings, store: SqliteStore) -> Platform:
    clock: Clock = SystemClock()
    if settings.clock == "virtual":
        clock = VirtualClock(await _resumed(store, clock.now()))
    script = Script(pace=settings.pace)
    world = World(store=store, driver=SimulatedDriver(script), clock=clock, ids=RandomIds())
    policy = Policy(pace=settings.pace, always_notify=settings.always_notify)
    realism = Realism(
        rate_limit=settings.rate_limit,
        first_call_delay=settings.first_call_delay,
        short_notices=settings.short_notices,
    )
    return Platform(world, policy, realism)


async def _resumed(store: SqliteStore, now: datetime) -> datetime:
    """Return where a virtual clock stood; it never runs backwards, not even across a restart."""
    remembered = await store.read(lambda reader: reader.recall("clock"))
    start = now.replace(microsecond=0)
    if remembered is None:
        return start
    return max(start, datetime.fromisoformat(remembered).astimezone(UTC))


def _open_store(folder: StateFolder) -> SqliteStore:
    try:
        return SqliteStore(folder.database)
    except StoreVersionError as newer:
        raise StartError(str(newer)) from newer
    except sqlite3.Error as trouble:
        raise StartError(f"The store {folder.database} cannot be opened: {trouble}.") from trouble


def _refuse_exposure(portal: Address) -> None:
    """Plain http without sign-in stays on this machine."""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(portal.host).is_loopback:
            return
    if portal.host != "localhost":
        raise StartError(
            f"--portal {portal.host}:{portal.port} is not a loopback address; the portal speaks"
            " plain http without sign-in and is only served to this machine."
        )


@contextlib.contextmanager
def _bound(address: Address, flag: str) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address.host, address.port))
        except OSError as trouble:
            raise _cannot_listen(address, flag, trouble) from trouble
        yield listener
    finally:
        listener.close()


def _cannot_listen(address: Address, flag: str, trouble: OSError) -> StartError:
    reason = os.strerror(trouble.errno) if trouble.errno else str(trouble)
    return StartError(
        f"Cannot listen on {address.host}:{address.port}: {reason}."
        f" Choose another with {flag} HOST:PORT (port 0 picks a free one)."
    )


async def _listen(metadata: MetadataServer, address: Address) -> tuple[str, int]:
    try:
        return await metadata.start(address.host, address.port)
    except OSError as trouble:
        raise _cannot_listen(address, "--metadata", trouble) from trouble


@contextlib.asynccontextmanager
async def _serving(app: Starlette, listener: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
        limit_concurrency=2_000,
    )
    server = _PortalServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        if task.done():
            await task
            raise StartError("The portal stopped before it was ready.")
        await asyncio.sleep(0.002)
    try:
        yield
    finally:
        app.state.streams.close()
        server.should_exit = True
        await task


def _locator(metadata: MetadataServer, host: str, port: int) -> Callable[[Machine], str]:
    """Return how to tell where a machine finds its metadata: an address of its own, or a path."""
    if metadata.addresses_per_instance:
        return lambda machine: _url(address_of(machine.ordinal), port)
    return lambda machine: f"{_url(host, port)}/vm/{machine.id}"


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
