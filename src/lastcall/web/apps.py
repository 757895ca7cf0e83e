"""The web application: every route in one table, behind the guard."""

from collections.abc import Callable, Iterator, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from lastcall.app.platform import Platform
from lastcall.engine.model import Machine
from lastcall.web import admin
from lastcall.web.account import Account
from lastcall.web.activity import logged
from lastcall.web.admin.stream import Streams
from lastcall.web.arm import activity_log, autoscale, instances, metrics, operations, scale_sets
from lastcall.web.errors import HANDLERS
from lastcall.web.guard import Guard
from lastcall.web.routing import Route, Table

__all__ = ["Account", "build_app", "route_table"]

MetadataUrl = Callable[[Machine], str | None]


def build_app(
    platform: Platform,
    account: Account,
    *,
    metadata_url: MetadataUrl = lambda _machine: None,
    more: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the application. It neither starts nor stops the platform.

    `more` are further routes, tried first. `app.state.streams.close()` ends the event streams,
    which a server that shuts down would wait for otherwise.
    """
    streams = Streams(platform)
    app = Starlette(
        routes=more,
        middleware=[Middleware(Guard)],
        exception_handlers=HANDLERS,
    )
    app.router.redirect_slashes = False
    routes = route_table(platform, account, streams, metadata_url)
    app.router.default = Table(logged(platform, routes))
    app.state.streams = streams
    return app


def route_table(
    platform: Platform, account: Account, streams: Streams, metadata_url: MetadataUrl
) -> Iterator[Route]:
    """Yield every route there is."""
    yield from scale_sets.routes(platform, account)
    yield from instances.routes(platform, account)
    yield from operations.routes(platform, account)
    yield from autoscale.routes(platform, account)
    yield from activity_log.routes(platform, account)
    yield from metrics.routes(platform, account)
    yield from admin.routes(platform, streams, metadata_url)
