"""A managed identity for whoever may use this machine, in the place where clients look for one.

The address asks nobody for anything and is this machine's alone, so a token of the folder's own
principal gives nothing away. The header keeps a browser, or a server that fetches URLs for others,
from being sent here.
"""

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from lastcall.app.authority import Authority
from lastcall.app.managed import IdentityNotFoundError, encode_machine_token, parse_wanted
from lastcall.engine.errors import DomainError
from lastcall.web.errors import JSON
from lastcall.web.identity.tokens import UNCACHED
from lastcall.web.routing import Call, Route
from lastcall.wire.bodies import encode_json
from lastcall.wire.versions import refuse_api_version

OLDEST_VERSION: Final = "2017-09-01"


class MachineToken:
    """The handler."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def show(self, call: Call) -> Response:
        """Give a token of the folder's own principal; refusals are the metadata service's."""
        try:
            _refuse_headerless(call)
            refuse_api_version(call.query("api-version"), OLDEST_VERSION)
            resource, wanted = parse_wanted(call.query)
            if not wanted.fits(self._authority.own):
                raise IdentityNotFoundError("Identity not found: no such identity is known here.")
        except DomainError as refused:
            body = {"error": "invalid_request", "error_description": str(refused)}
            return Response(encode_json(body), 400, UNCACHED, JSON)
        token = await self._authority.grant_own(resource)
        return Response(encode_json(encode_machine_token(token)), 200, UNCACHED, JSON)


def _refuse_headerless(call: Call) -> None:
    is_metadata = (call.header("metadata") or "").lower() == "true"
    if not (is_metadata or call.header("x-identity-header")):
        raise DomainError("Required metadata header not specified.")


def routes(authority: Authority) -> Iterator[Route]:
    """Yield the one route."""
    yield Route(
        method="GET",
        path="/metadata/identity/oauth2/token",
        handler=MachineToken(authority).show,
        summary="Get a token of the default principal, as from a managed identity",
    )
