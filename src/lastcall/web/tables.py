"""Every route there is, in one table for each address.

It is imported with the first request, not with the start: what all the handlers need takes as long
to load as everything else together.
"""

from collections.abc import Callable, Iterator

from lastcall.app.platform import Platform
from lastcall.engine.model import Machine
from lastcall.web.account import Account
from lastcall.web.activity import logged
from lastcall.web.admin import own
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
from lastcall.web.identity import managed
from lastcall.web.identity import routes as identity
from lastcall.web.identity.admission import admission
from lastcall.web.identity.sign_in import SignIn
from lastcall.web.routing import Route, Table

MetadataUrl = Callable[[Machine], str | None]


def whole_table(
    platform: Platform,
    account: Account,
    sign_in: SignIn,
    streams: Streams,
    metadata_url: MetadataUrl,
    *,
    is_control: bool,
) -> Table:
    """Return what an address answers: the portal to everybody, the control address for a token."""
    routes = logged(platform, route_table(platform, account, streams, metadata_url, sign_in))
    if is_control:
        return Table(routes, admission(sign_in.authority))
    return Table((*routes, *managed.routes(sign_in.authority)))


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
    yield from own.routes(platform, streams, metadata_url, sign_in.authority)
    yield from identity.routes(sign_in)
