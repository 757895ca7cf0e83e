"""Keeps foreign web pages out: a browser must not be steered here by a page or by DNS rebinding."""

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lastcall.web.errors import ForeignRequestError, refusal

LOOPBACK: Final = re.compile(
    r"(?:localhost|\[::1\]|127(?:\.(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3})(?::[0-9]{1,5})?",
    re.IGNORECASE,
)
SHOWN_CHARACTERS_MAX: Final = 100


class Guard:
    """ASGI middleware: answers 403 to a Host that is not loopback and to a foreign Origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        reason = "" if scope["type"] == "lifespan" else _why_not(scope)
        if not reason:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(ForeignRequestError(reason))(scope, receive, send)


def _why_not(scope: Scope) -> str:
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not LOOPBACK.fullmatch(hosts[0]):
        shown = ", ".join(hosts)[:SHOWN_CHARACTERS_MAX]
        return f"Requests are answered only at a loopback address, not at '{shown}'."
    own = f"{scope['scheme']}://{hosts[0]}".lower()
    for origin in headers.getlist("origin"):
        if origin.lower() != own:
            return f"Pages of '{origin[:SHOWN_CHARACTERS_MAX]}' may not use this server."
    return ""
