"""The web applications: one for each address, behind the guard."""

import asyncio
import threading
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from lastcall.app.platform import Platform
from lastcall.engine.model import Machine
from lastcall.web.account import Account
from lastcall.web.admin import health
from lastcall.web.admin.stream import Streams
from lastcall.web.errors import HANDLERS
from lastcall.web.guard import ANY_HOST, Guard
from lastcall.web.identity.sign_in import SignIn
from lastcall.web.routing import Route, Table

__all__ = ["Account", "SignIn", "build_app"]

MetadataUrl = Callable[[Machine], str | None]


class Routes:
    """An application that answers probes at once and loads everything else when it is wanted."""

    def __init__(self, probes: Table, make: Callable[[], Table]) -> None:
        self._probes = probes
        self._at_once = {route.path for route in probes.routes}
        self._make = make
        self._making = threading.Lock()
        self._table: Table | None = None

    @property
    def routes(self) -> tuple[Route, ...]:
        """Every route there is."""
        return self.load().routes

    def load(self) -> Table:
        """Return the table of all routes, made by whoever comes first."""
        with self._making:
            if self._table is None:
                self._table = self._make()
            return self._table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        table = self._table
        if table is None:
            is_probe = scope["type"] == "http" and scope["path"] in self._at_once
            table = self._probes if is_probe else await asyncio.to_thread(self.load)
        await table(scope, receive, send)


def build_app(
    platform: Platform,
    account: Account,
    sign_in: SignIn,
    *,
    metadata_url: MetadataUrl = lambda _machine: None,
    more: Sequence[BaseRoute] = (),
    is_control: bool = False,
) -> Starlette:
    """Return the application of the portal, or of the control address, where tokens are needed.

    It neither starts nor stops the platform. `more` are further routes, tried first.
    `app.state.streams.close()` ends the event streams, which a server that shuts down would wait
    for otherwise; `app.state.load()` loads what the first request would wait for.
    """
    streams = Streams(platform)

    def make() -> Table:
        from lastcall.web.tables import whole_table  # noqa: PLC0415

        return whole_table(platform, account, sign_in, streams, metadata_url, is_control=is_control)

    guard = Middleware(Guard, hosts=ANY_HOST) if is_control else Middleware(Guard)
    app = Starlette(routes=more, middleware=[guard], exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    routes = Routes(Table(health.routes(platform)), make)
    app.router.default = routes
    app.state.load = routes.load
    app.state.streams = streams
    return app
