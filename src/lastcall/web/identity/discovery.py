"""What a client asks before it asks for a token: OpenID Connect's discovery, as Azure has it."""

from typing import Final
from urllib.parse import quote, urlsplit

from starlette.responses import Response

from lastcall.app.authority import Authority
from lastcall.engine.errors import InvalidParameterError
from lastcall.web.identity.addresses import control_of
from lastcall.web.routing import Call, json
from lastcall.wire.quoting import shown

VERSION_2: Final = "/v2.0"


class Discovery:
    """Handlers for discovery."""

    def __init__(self, authority: Authority, control: str) -> None:
        self._authority = authority
        self._control = control

    async def configuration(self, call: Call) -> Response:
        """Tell where tokens are to be had, and what they are like."""
        path = quote(call.names["authority"])
        is_second = path.lower().endswith(VERSION_2)
        root = f"{control_of(call, self._control)}/{path.lower().removesuffix(VERSION_2)}"
        version = VERSION_2 if is_second else ""
        return json(
            {
                "issuer": self._authority.tokens.issuer,
                # Demanded by those who read it; nobody signs in with a browser here.
                "authorization_endpoint": f"{root}/oauth2{version}/authorize",
                "token_endpoint": f"{root}/oauth2{version}/token",
                "device_authorization_endpoint": f"{root}/oauth2{version}/devicecode",
                "jwks_uri": f"{root}/discovery{version}/keys",
                "token_endpoint_auth_methods_supported": [
                    "client_secret_post",
                    "client_secret_basic",
                ],
                "grant_types_supported": ["client_credentials"],
                "response_types_supported": ["token"],
                "response_modes_supported": ["form_post"],
                "subject_types_supported": ["pairwise"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "scopes_supported": ["openid"],
                "claims_supported": ["iss", "aud", "exp", "iat", "nbf", "sub", "oid", "tid"],
            }
        )

    async def keys(self, _call: Call) -> Response:
        """Show the keys that tokens are verified with."""
        return json({"keys": await self._authority.tokens.public_keys()})

    async def instance(self, call: Call) -> Response:
        """Tell that this authority is known here, and where its configuration is."""
        asked = call.query("authorization_endpoint") or ""
        parts = urlsplit(asked)
        tenant = parts.path.strip("/").partition("/")[0]
        if parts.scheme != "https" or not parts.netloc or not tenant:
            raise InvalidParameterError(
                f"The value '{shown(asked)}' of 'authorization_endpoint' is not the https address"
                " of an authority.",
                target="authorization_endpoint",
            )
        base = control_of(call, self._control)
        host = urlsplit(base).netloc
        return json(
            {
                "tenant_discovery_endpoint": (
                    f"{base}/{quote(tenant)}{VERSION_2}/.well-known/openid-configuration"
                ),
                "api-version": "1.1",
                "metadata": [
                    {"preferred_network": host, "preferred_cache": host, "aliases": [host]}
                ],
            }
        )
