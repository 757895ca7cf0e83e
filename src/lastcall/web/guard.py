"""Keeps out who is not meant, and who is too many.

A browser must not be steered here by a page of others or by DNS rebinding.
"""

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lastcall.web.errors import ForeignRequestError, overloaded, refusal
from lastcall.wire.quoting import shown

LOOPBACK: Final = re.compile(
    r"(?:localhost|\[::1\]|127(?:\.(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3})(?::[0-9]{1,5})?",
    re.IGNORECASE,
)
ANY_HOST: Final = re.compile(
    r"(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?", re.IGNORECASE
)
REQUESTS_MAX: Final = 2_000


class Guard:
    """ASGI middleware: answers 403 to a Host that is not loopback and to a foreign Origin.

    `hosts` may be others where everyone has to prove who they are, and the server who it is.
    It answers 503 to those that come while `requests_max` others are being answered.
    """

    def __init__(
        self,
        app: ASGIApp,
        requests_max: int = REQUESTS_MAX,
        hosts: re.Pattern[str] = LOOPBACK,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._requests_max = requests_max
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        reason = "" if scope["type"] == "lifespan" else _why_not(scope, self._hosts)
        if not reason:
            await self._admit(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(ForeignRequestError(reason))(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._requests >= self._requests_max:
            await overloaded()(scope, receive, send)
            return
        self._requests += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests -= 1


def _why_not(scope: Scope, allowed: re.Pattern[str]) -> str:
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not allowed.fullmatch(hosts[0]):
        where = "a loopback address" if allowed is LOOPBACK else "one address"
        return f"Requests are answered only at {where}, not at '{shown(', '.join(hosts))}'."
    own = f"{scope['scheme']}://{hosts[0]}".lower()
    for origin in headers.getlist("origin"):
        if origin.lower() != own:
            return f"Pages of '{shown(origin)}' may not use this server."
    return ""
