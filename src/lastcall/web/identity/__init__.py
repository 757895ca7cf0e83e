"""Signing in: discovery, tokens, and the door that asks for them."""

from collections.abc import Iterator
from dataclasses import dataclass

from lastcall.app.authority import Authority
from lastcall.web.identity.clouds import Clouds
from lastcall.web.identity.discovery import Discovery
from lastcall.web.identity.tokens import TokenEndpoint
from lastcall.web.routing import Route


@dataclass(frozen=True, slots=True)
class SignIn:
    """Who gives tokens, and the control address, where they are asked for and needed."""

    authority: Authority
    control: str


def routes(sign_in: SignIn) -> Iterator[Route]:
    """Yield what needs no token, because it leads to one."""
    discovery = Discovery(sign_in.authority, sign_in.control)
    endpoint = TokenEndpoint(sign_in.authority)
    yield Route(
        method="GET",
        path="/{authority*}/.well-known/openid-configuration",
        handler=discovery.configuration,
        summary="Where tokens are to be had",
        is_open=True,
    )
    for version in ("", "/v2.0"):
        yield Route(
            method="GET",
            path=f"/{{authority*}}/discovery{version}/keys",
            handler=discovery.keys,
            summary="The keys that tokens are verified with",
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
        path="/{authority*}/token",
        handler=endpoint.issue,
        summary="Get a token for a client's secret",
        is_open=True,
    )
    yield Route(
        method="GET",
        path="/metadata/endpoints",
        handler=Clouds(sign_in.control).show,
        summary="Where everything of this cloud is",
        is_open=True,
    )
