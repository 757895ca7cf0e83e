"""Signing in: discovery, tokens, and the door that asks for them."""

from collections.abc import Iterator, Mapping
from typing import Final

from lastcall.web.identity.clouds import Clouds
from lastcall.web.identity.discovery import Discovery
from lastcall.web.identity.sign_in import SignIn
from lastcall.web.identity.tokens import TokenEndpoint
from lastcall.web.routing import Route

ANYWHERE: Final = "/{authority*}"


def routes(sign_in: SignIn) -> Iterator[Route]:
    """Yield what needs no token, because it leads to one."""
    discovery = Discovery(sign_in.authority, sign_in.control)
    endpoint = TokenEndpoint(sign_in.authority)
    yield Route(
        method="GET",
        path=f"{ANYWHERE}/.well-known/openid-configuration",
        handler=discovery.configuration,
        summary="Where tokens are to be had",
        own=_is_authority,
        is_open=True,
    )
    for version in ("", "/v2.0"):
        yield Route(
            method="GET",
            path=f"{ANYWHERE}/discovery{version}/keys",
            handler=discovery.keys,
            summary="The keys that tokens are verified with",
            own=_is_authority,
            is_open=True,
        )
    yield Route(
        method="GET",
        path="/common/discovery/instance",
        handler=discovery.instance,
        summary="Whether an authority is known here",
        is_open=True,
    )
    yield Route(
        method="POST",
        path=f"{ANYWHERE}/token",
        handler=endpoint.issue,
        summary="Get a token for a client's secret",
        own=_is_authority,
        is_open=True,
    )
    yield Route(
        method="GET",
        path="/metadata/endpoints",
        handler=Clouds(sign_in.control).show,
        summary="Where everything of this cloud is",
        is_open=True,
    )


def _is_authority(names: Mapping[str, str]) -> bool:
    """Whether a path is where tokens are looked for, whatever it begins with: not a resource's."""
    return names["authority"].split("/")[0].lower() != "subscriptions"
