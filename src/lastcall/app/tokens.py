"""Tokens: what they say, for how long, and whether one that comes back may be believed.

Their time is real time even where the platform's clock is virtual: the clients that hold them
renew them by the clock of their own machine, and a clock that is moved by a day would otherwise
sign everybody out, or one that stands still keep a token for ever.
"""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from lastcall.engine.errors import DomainError
from lastcall.engine.limits import TOKEN_CHARACTERS_MAX, TOKEN_EARLY
from lastcall.engine.value import Value
from lastcall.ports import Clock, Signer
from lastcall.wire.quoting import shown

# Under these the public cloud's management is known; clients ask for them out of habit.
WELL_KNOWN_AUDIENCES: Final = (
    "https://management.azure.com",
    "https://management.core.windows.net",
)

# The claims that tell whose identity it is and whose machine has got it; only machines' tokens
# have them.
MACHINES: Final = "xms_mirid"
BEARER: Final = "xms_az_rid"


class AuthenticationError(DomainError):
    """Authentication failed: there is no 'Authorization: Bearer' header with a token."""

    code = "AuthenticationFailed"
    # Set where the request is known: whom to ask for a token.
    authorization_uri = ""


class InvalidTokenError(AuthenticationError):
    """The access token is invalid."""

    code = "InvalidAuthenticationToken"


class ExpiredTokenError(AuthenticationError):
    """The access token has expired; get a new one."""

    code = "ExpiredAuthenticationToken"


class WrongAudienceError(AuthenticationError):
    """The access token was issued for another audience."""

    code = "InvalidAuthenticationTokenAudience"


class Holder(Value, frozen=True, kw_only=True):
    """Whom a token speaks for; `resource_id` is whose identity it is, if it is a machine's.

    `bearer` is the resource that assigns the identity to its machines: it may be another's.
    """

    app_id: str
    object_id: str
    name: str = ""
    resource_id: str = ""
    bearer: str = ""


class Token(Value, frozen=True, kw_only=True):
    """A token with what its receiver is told beside it."""

    text: str
    holder: Holder
    resource: str
    not_before: datetime
    expires_at: datetime
    lifetime: timedelta


class Tokens:
    """Issues tokens, and believes those that it has issued for the control plane."""

    def __init__(
        self, signer: Signer, clock: Clock, *, issuer: str, tenant: str, audiences: Iterable[str]
    ) -> None:
        self._signer = signer
        self._clock = clock
        self.issuer = issuer
        self.tenant = tenant
        self._audiences = frozenset(map(_bare, (*audiences, *WELL_KNOWN_AUDIENCES)))
        self._is_prepared = False

    async def issue(self, holder: Holder, resource: str, lifetime: timedelta) -> Token:
        """Return a token for a resource."""
        await self._prepare()
        now = self._clock.now()
        not_before, expires_at = now - TOKEN_EARLY, now + lifetime
        text = self._signer.sign(
            {
                "aud": resource,
                "iss": self.issuer,
                "iat": int(now.timestamp()),
                "nbf": int(not_before.timestamp()),
                "exp": int(expires_at.timestamp()),
                "appid": holder.app_id,
                "appidacr": "2" if holder.resource_id else "1",
                "idp": self.issuer,
                "idtyp": "app",
                "oid": holder.object_id,
                "sub": holder.object_id,
                "tid": self.tenant,
                "ver": "1.0",
                **({"app_displayname": holder.name} if holder.name else {}),
                **({MACHINES: holder.resource_id} if holder.resource_id else {}),
                **({BEARER: holder.bearer} if holder.bearer else {}),
            }
        )
        return Token(
            text=text,
            holder=holder,
            resource=resource,
            not_before=not_before,
            expires_at=expires_at,
            lifetime=lifetime,
        )

    async def holder(self, text: str) -> Holder:
        """Return whom a token speaks for, or refuse it."""
        if len(text) > TOKEN_CHARACTERS_MAX:
            raise InvalidTokenError("The access token is longer than any that is issued here.")
        await self._prepare()
        claims = self._signer.read(text)
        if claims is None:
            raise InvalidTokenError("The access token is malformed, or its signature is not ours.")
        self._judge(claims)
        return Holder(
            app_id=str(claims.get("appid", "")),
            object_id=str(claims.get("oid", "")),
            name=str(claims.get("app_displayname", "")),
            resource_id=str(claims.get(MACHINES, "")),
            bearer=str(claims.get(BEARER, "")),
        )

    async def public_keys(self) -> list[dict[str, Any]]:
        """Return the keys that others verify tokens with."""
        await self._prepare()
        return self._signer.public_keys()

    def _judge(self, claims: Mapping[str, Any]) -> None:
        if claims.get("iss") != self.issuer or claims.get("tid") != self.tenant:
            raise InvalidTokenError(
                f"The access token is from the issuer '{shown(str(claims.get('iss')))}';"
                f" this server believes '{self.issuer}' alone."
            )
        now = self._clock.now().timestamp()
        if _instant(claims, "exp") <= now:
            raise ExpiredTokenError
        if _instant(claims, "nbf") > now:
            raise InvalidTokenError("The access token is not valid yet.")
        audience = claims.get("aud")
        if not isinstance(audience, str) or _bare(audience) not in self._audiences:
            raise WrongAudienceError(
                f"The access token was issued for the audience '{shown(str(audience))}',"
                " which is not this server."
            )

    async def _prepare(self) -> None:
        """Have the key at hand; what that takes the first time is not done on the event loop."""
        if not self._is_prepared:
            await asyncio.to_thread(self._signer.prepare)
            self._is_prepared = True


def _bare(audience: str) -> str:
    """Return an audience without what clients write in one way or another."""
    return audience.lower().rstrip("/")


def _instant(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidTokenError(f"The access token has no '{name}'.")
    return value
