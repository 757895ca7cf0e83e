"""The web applications: every route in one table, behind the guard."""

from collections.abc import Callable, Iterator, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from lastcall.app.platform import Platform
from lastcall.engine.model import Machine
from lastcall.web import admin, identity
from lastcall.web.account import Account
from lastcall.web.activity import logged
from lastcall.web.admin.stream import Streams
from lastcall.web.arm import (
    activity_log,
    autoscale,
    availability_sets,
    children,
    cloud_services,
    deployments,
    extensions,
    generic,
    groups,
    images,
    instances,
    interfaces,
    inventory,
    maintenance,
    metrics,
    not_implemented,
    operations,
    providers,
    scale_sets,
    services,
    sizes,
    subscriptions,
    upgrades,
    virtual_machines,
)
from lastcall.web.arm.deployable import kinds
from lastcall.web.errors import HANDLERS
from lastcall.web.guard import ANY_HOST, Guard
from lastcall.web.identity import SignIn, managed
from lastcall.web.identity.admission import admission
from lastcall.web.routing import Route, Table

__all__ = ["Account", "SignIn", "build_app", "route_table"]

MetadataUrl = Callable[[Machine], str | None]


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
    for otherwise.
    """
    streams = Streams(platform)
    routes = logged(platform, route_table(platform, account, streams, metadata_url, sign_in))
    if is_control:
        guard = Middleware(Guard, hosts=ANY_HOST)
        table = Table(routes, admission(sign_in.authority))
    else:
        guard = Middleware(Guard)
        table = Table((*routes, *managed.routes(sign_in.authority)))
    app = Starlette(routes=more, middleware=[guard], exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    app.router.default = table
    app.state.streams = streams
    return app


def route_table(
    platform: Platform,
    account: Account,
    streams: Streams,
    metadata_url: MetadataUrl,
    sign_in: SignIn,
) -> Iterator[Route]:
    """Yield every route that both have."""
    for resource in (
        scale_sets,
        upgrades,
        services,
        extensions,
        instances,
        children,
        interfaces,
        virtual_machines,
        availability_sets,
        cloud_services,
        maintenance,
        operations,
        autoscale,
        activity_log,
        metrics,
        groups,
        inventory,
        providers,
        sizes,
        generic,
        not_implemented,
    ):
        yield from resource.routes(platform, account)
    yield from subscriptions.routes(account)
    yield from images.routes(account)
    yield from deployments.routes(platform, account, kinds())
    yield from admin.routes(platform, streams, metadata_url, sign_in.authority)
    yield from identity.routes(sign_in)
