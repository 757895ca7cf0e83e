"""The door of the control address: who has a good token comes in."""

from typing import Final

from starlette.requests import Request

from lastcall.app.authority import Authority
from lastcall.app.tokens import AuthenticationError
from lastcall.web.routing import Admit, Caller

SCHEME: Final = "bearer"


def admission(authority: Authority) -> Admit:
    """Return how the caller of a request is told by its token."""

    async def admit(request: Request) -> Caller:
        try:
            holder = await authority.admit(_token(request))
        except AuthenticationError as refused:
            refused.authorization_uri = f"{_base(request)}/{authority.tokens.tenant}"
            raise
        return Caller(name=holder.name or holder.app_id, id=holder.app_id)

    return admit


def _token(request: Request) -> str:
    given = request.headers.getlist("authorization")
    if not given:
        raise AuthenticationError("Authentication failed: there is no 'Authorization' header.")
    scheme, _, token = given[0].strip().partition(" ")
    if len(given) > 1 or scheme.lower() != SCHEME or not token.strip():
        raise AuthenticationError(
            "Authentication failed: the 'Authorization' header is not 'Bearer' and one token."
        )
    return token.strip()


def _base(request: Request) -> str:
    return f"{request.scope['scheme']}://{request.headers.get('host', 'localhost')}"
