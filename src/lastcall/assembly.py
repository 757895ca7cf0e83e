"""Settings in, a running server out: the only module that knows all concrete classes."""

import asyncio
import contextlib
import ipaddress
import logging
import os
import resource
import socket
import sqlite3
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from typing import Final

import uvicorn
from starlette.applications import Starlette

from lastcall.app.authority import DEFAULT_NAME, Authority, Client
from lastcall.app.platform import CLOCK_KEY, Platform, Realism, World
from lastcall.app.tokens import Holder, Tokens
from lastcall.clock import SystemClock, VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.model import Machine
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.metadata.addresses import address_of
from lastcall.metadata.options import Options
from lastcall.metadata.server import MetadataServer
from lastcall.ports import Clock, HistoryFilter, Reader
from lastcall.settings import Address, Settings
from lastcall.statefolder import Endpoints, StateFolder
from lastcall.store.sqlite import SqliteStore, StoreVersionError
from lastcall.trust.certificates import Certificates
from lastcall.trust.credentials import keep_credentials
from lastcall.trust.files import TrustError
from lastcall.trust.minting import Mint
from lastcall.trust.names import names_of
from lastcall.trust.signing import KeySigner
from lastcall.web.apps import Account, SignIn, build_app
from lastcall.web.connections import BoundedProtocol

logger = logging.getLogger(__name__)

# Open files that metadata connections leave to the portal, the store and everything else.
FILES_RESERVED: Final = 256
RENEWAL_LOOK_S: Final = 24 * 3600.0


class StartError(Exception):
    """The server could not start; the message says why and what to do."""


class _WebServer(uvicorn.Server):
    """Uvicorn without its signal handlers: signals are the caller's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def running(settings: Settings, mint: Mint | None = None) -> AsyncIterator[Endpoints]:
    """Run a server on its state folder; ready when entered, stopped when left.

    `mint` is making the folder's first certificates, if it has none yet.
    """
    _refuse_exposure(settings)
    options = Options(connections_max=connections_allowed(_open_files_raised()))
    with (
        StateFolder(settings.state) as folder,
        _bound(settings.control, "--control") as control,
        _bound(settings.portal, "--portal") as portal,
    ):
        own = _credentials(folder)
        async with _opened(folder) as store:
            platform = await _platform(settings, store)
            await platform.start()
            url = _control_url(control)
            authority = Authority(platform, _tokens(settings, folder, url), own)
            sign_in = SignIn(authority, url)
            metadata = MetadataServer(platform, options, authority)
            try:
                certificates, context = _secured(settings, folder, mint)
                host, port = await _listen(metadata, settings.metadata)
                endpoints = Endpoints(
                    control=url,
                    portal=_url(*portal.getsockname()[:2]),
                    metadata=_url(host, port),
                    ca=str(certificates.authority),
                    subscription=settings.subscription,
                    tenant=settings.tenant,
                    pid=os.getpid(),
                )
                account = Account(subscription=settings.subscription, tenant=settings.tenant)
                locate = _locator(metadata, host, port)
                app = build_app(platform, account, sign_in, metadata_url=locate)
                secure = build_app(platform, account, sign_in, metadata_url=locate, is_control=True)
                async with (
                    _renewing(certificates, context),
                    _serving(secure, control, context),
                    _serving(app, portal),
                ):
                    folder.publish(endpoints)
                    loading = asyncio.create_task(_load(app, secure))
                    yield endpoints
                    await loading
            finally:
                await metadata.stop()
                await platform.stop()


async def _load(*apps: Starlette) -> None:
    """Load what the first requests would wait for, while nobody waits yet."""
    for app in apps:
        await asyncio.to_thread(app.state.load)


def _credentials(folder: StateFolder) -> Client:
    try:
        own = keep_credentials(folder.path, RandomIds())
    except TrustError as trouble:
        raise StartError(str(trouble)) from trouble
    holder = Holder(app_id=own.app_id, object_id=own.object_id, name=DEFAULT_NAME)
    return Client(holder, own.secret)


def _tokens(settings: Settings, folder: StateFolder, control: str) -> Tokens:
    """Return what issues tokens; their time is real, whatever the platform's clock."""
    port = control.rpartition(":")[2]
    names = names_of(settings.control.host)
    return Tokens(
        KeySigner(folder.path),
        SystemClock(),
        issuer=f"{control}/{settings.tenant}/",
        tenant=settings.tenant,
        audiences=(control, *(_url(name, port, "https") for name in names)),
    )


def _control_url(listener: socket.socket) -> str:
    """Return where a client on this machine reaches it, also if it listens everywhere."""
    host, port = listener.getsockname()[:2]
    own = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return _url(own, port, "https")


def _secured(
    settings: Settings, folder: StateFolder, mint: Mint | None
) -> tuple[Certificates, ssl.SSLContext]:
    certificates = Certificates(folder.path, names_of(settings.control.host))
    make = mint.minted if mint is not None else lambda: None
    try:
        return certificates, certificates.context(SystemClock().now(), make)
    except TrustError as trouble:
        raise StartError(str(trouble)) from trouble


@contextlib.asynccontextmanager
async def _renewing(certificates: Certificates, context: ssl.SSLContext) -> AsyncIterator[None]:
    """Keep a certificate from ending under a server that runs for months."""

    async def look() -> None:
        while True:
            await asyncio.sleep(RENEWAL_LOOK_S)
            try:
                await asyncio.to_thread(certificates.renew, context, SystemClock().now())
            except TrustError as trouble:
                logger.warning("%s", trouble, extra={"action": "not_renewed"})

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


def connections_allowed(open_files: int) -> int:
    """Return how many metadata connections there may be with so many open files."""
    most = Options().connections_max
    if open_files == resource.RLIM_INFINITY:
        return most
    return min(most, max(open_files - FILES_RESERVED, open_files // 2))


def _open_files_raised() -> int:
    """Allow this process as many open files as it may have, and return how many that is."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # Some systems promise more than they give.
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


async def _platform(settings: Settings, store: SqliteStore) -> Platform:
    script = Script(pace=settings.pace)
    clock = await _clock(settings, store)
    world = World(store=store, driver=SimulatedDriver(script), clock=clock, ids=RandomIds())
    policy = Policy(pace=settings.pace, always_notify=settings.always_notify)
    realism = Realism(
        rate_limit=settings.rate_limit,
        first_call_delay=settings.first_call_delay,
        short_notices=settings.short_notices,
    )
    return Platform(world, policy, realism)


async def _clock(settings: Settings, store: SqliteStore) -> Clock:
    """Return the clock: a virtual one goes on where it stood, whatever has happened since."""
    now = SystemClock().now()
    stood = await store.read(_stood_at)
    if settings.clock == "virtual":
        return VirtualClock(stood or now.replace(microsecond=0))
    if stood is not None and stood > now:
        raise StartError(
            f"The clock of {settings.state} was moved to {stood:%Y-%m-%d %H:%M:%S} UTC, which is"
            " ahead of real time. Start with --clock virtual, or choose another folder with"
            " --state DIR."
        )
    return SystemClock()


def _stood_at(reader: Reader) -> datetime | None:
    """Return the latest moment that the folder knows of: a clock never runs backwards."""
    remembered = reader.recall(CLOCK_KEY)
    known = [line.at for line in reader.history(HistoryFilter(limit=1))]
    if remembered is not None:
        known.append(datetime.fromisoformat(remembered).astimezone(UTC))
    return max(known, default=None)


@contextlib.asynccontextmanager
async def _opened(folder: StateFolder) -> AsyncIterator[SqliteStore]:
    store = _open_store(folder)
    try:
        yield store
    finally:
        await store.close()  # The platform has done so, unless it never started.


def _open_store(folder: StateFolder) -> SqliteStore:
    try:
        return SqliteStore(folder.database)
    except StoreVersionError as newer:
        raise StartError(str(newer)) from newer
    except sqlite3.Error as trouble:
        raise StartError(f"The store {folder.database} cannot be opened: {trouble}.") from trouble


def _refuse_exposure(settings: Settings) -> None:
    """Keep on this machine what cannot tell who is asking."""
    if not _is_loopback(settings.portal, "--portal"):
        raise StartError(
            f"--portal {settings.portal} is not a loopback address; the portal speaks"
            " plain http without sign-in and is only served to this machine."
        )
    if not (settings.expose_metadata or _is_loopback(settings.metadata, "--metadata")):
        raise StartError(
            f"--metadata {settings.metadata} is not a loopback address, and whoever reaches it can"
            " speak for any machine by /vm/NAME; add --expose-metadata if that is meant."
        )


def _is_loopback(address: Address, flag: str) -> bool:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as trouble:
        raise _cannot_listen(address, flag, trouble) from trouble
    return all(ipaddress.ip_address(place[0]).is_loopback for *_, place in found)


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
    return StartError(
        f"Cannot listen on {address}: {trouble.strerror or trouble}."
        f" Choose another with {flag} HOST:PORT (port 0 picks a free one)."
    )


async def _listen(metadata: MetadataServer, address: Address) -> tuple[str, int]:
    try:
        return await metadata.start(address.host, address.port)
    except OSError as trouble:
        raise _cannot_listen(address, "--metadata", trouble) from trouble


@contextlib.asynccontextmanager
async def _serving(
    app: Starlette, listener: socket.socket, context: ssl.SSLContext | None = None
) -> AsyncIterator[None]:
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )
    config.load()
    config.ssl = context
    server = _WebServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        if task.done():
            await task
            raise StartError("The web server stopped before it was ready.")
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


def _url(host: str, port: int | str, scheme: str = "http") -> str:
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
