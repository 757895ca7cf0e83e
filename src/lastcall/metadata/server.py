"""The metadata server: its sockets, its connections, and the sweep that keeps them moving."""

import asyncio
import socket
from typing import Any

from lastcall.app.authority import Authority
from lastcall.app.directory import Published
from lastcall.app.platform import Platform
from lastcall.metadata.addresses import LOOPBACK, ordinal_of
from lastcall.metadata.connection import Connection, Locate
from lastcall.metadata.endpoint import Endpoint, refresh
from lastcall.metadata.options import Options

LOCALHOST = "127.0.0.1"
BACKLOG = 1024
NOBODY = 0  # Ordinals start at 1.


class MetadataServer:
    """Serves every machine of a platform; tokens, where there is an `authority` that gives them.

    On `127.0.0.1` each machine has an address of its own as well, if the system lets one socket
    have all of loopback: `addresses_per_instance` tells, once it has started.
    """

    def __init__(
        self,
        platform: Platform,
        options: Options | None = None,
        authority: Authority | None = None,
    ) -> None:
        self._options = options or Options()
        self._directory = platform.directory
        self._endpoint = Endpoint(platform, self._options, authority)
        self._connections: set[Connection] = set()
        self._servers: list[asyncio.Server] = []
        self._sweeping: asyncio.Task[None] | None = None
        self.addresses_per_instance = False

    async def start(self, host: str = LOCALHOST, port: int = 0) -> tuple[str, int]:
        """Begin to serve, and return where; port 0 picks a free one."""
        wants_all = host == LOCALHOST and self._options.own_addresses
        loopback = _all_of_loopback(port) if wants_all else None
        self.addresses_per_instance = loopback is not None
        if loopback is not None:
            port = await self._serve(loopback, _by_address)
        else:
            port = await self._serve(_bound(host, port), lambda _transport: None)
        for published in self._directory.scopes():
            published.ready.clear()  # It may be older than this server.
        self._directory.on_change = refresh
        self._sweeping = asyncio.create_task(self._sweep())
        return host, port

    async def stop(self) -> None:
        """Take no more clients, finish the approvals under way, and let everyone go."""
        for server in self._servers:
            server.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        await self._endpoint.finish()
        await asyncio.sleep(0)  # The approvals' answers are written in the next round.
        left = tuple(self._connections)
        for connection in left:
            connection.leave()
        if left:
            await asyncio.wait([each.closed for each in left], timeout=self._options.linger_s)
        for connection in tuple(self._connections):
            connection.abort()
        for server in self._servers:
            await server.wait_closed()
        self._directory.on_change = _ignore

    async def _serve(self, listener: socket.socket, locate: Locate) -> int:
        def connect() -> Connection:
            return Connection(self._endpoint, self._options, self._connections, locate)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(connect, sock=listener, backlog=BACKLOG)
        self._servers.append(server)
        port: int = listener.getsockname()[1]
        return port

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._options.sweep_s)
            now = loop.time()
            for connection in tuple(self._connections):
                connection.sweep(now)


def _ignore(_published: Published) -> None:
    """Render nothing: nobody is served."""


def _by_address(transport: asyncio.Transport) -> int | None:
    """Return the ordinal that the client connected to; drop who did not come by loopback.

    The host's other addresses reach the socket over its loopback device too, and belong to nobody.
    """
    address: str = transport.get_extra_info("sockname")[0]
    if not address.startswith(LOOPBACK):
        transport.abort()
        return NOBODY
    return ordinal_of(address)


def _all_of_loopback(port: int) -> socket.socket | None:
    """Return a socket for every loopback address and no other; None where that is not allowed."""
    if not hasattr(socket, "SO_BINDTODEVICE"):
        return None
    listener = _socket(socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    except OSError:
        listener.close()
        return None
    return _bind(listener, ("0.0.0.0", port))  # noqa: S104  # The device is loopback.


def _bound(host: str, port: int) -> socket.socket:
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return _bind(_socket(family), address)


def _socket(family: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


def _bind(listener: socket.socket, address: tuple[Any, ...]) -> socket.socket:
    try:
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    listener.settimeout(0)
    return listener
