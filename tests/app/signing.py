"""An authority with a signature that costs nothing: HMAC instead of a key that must be made."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lastcall.app.authority import DEFAULT_NAME, Authority, Client
from lastcall.app.platform import Platform
from lastcall.app.tokens import Holder, Tokens
from lastcall.clock import VirtualClock
from lastcall.ports import Clock

TENANT = "00000000-0000-0000-0000-0000000000aa"
CONTROL = "https://127.0.0.1:7443"
ISSUER = f"{CONTROL}/{TENANT}/"
OWN = Holder(
    app_id="00000000-0000-0000-0000-0000000000cc",
    object_id="00000000-0000-0000-0000-0000000000dd",
    name=DEFAULT_NAME,
)
SECRET = "the secret of the folder"
TODAY = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class QuickSigner:
    """Implements `ports.Signer`."""

    def __init__(self, key: bytes = b"key") -> None:
        self._key = key
        self.preparations = 0

    def prepare(self) -> None:
        self.preparations += 1

    def sign(self, claims: Mapping[str, object]) -> str:
        body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
        return f"{body}.{self._seal(body)}"

    def read(self, token: str) -> dict[str, Any] | None:
        body, _, seal = token.partition(".")
        if not hmac.compare_digest(seal.encode(), self._seal(body).encode()):
            return None
        try:
            return json.loads(base64.urlsafe_b64decode(body))
        except (binascii.Error, ValueError):
            return None

    def public_keys(self) -> list[dict[str, Any]]:
        return [{"kty": "oct", "kid": "quick"}]

    def _seal(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


def some_tokens(signer: QuickSigner | None = None, clock: Clock | None = None) -> Tokens:
    return Tokens(
        signer or QuickSigner(),
        clock or VirtualClock(TODAY),
        issuer=ISSUER,
        tenant=TENANT,
        audiences=(CONTROL, "https://localhost:7443"),
    )


def an_authority(platform: Platform, tokens: Tokens | None = None) -> Authority:
    return Authority(platform, tokens or some_tokens(), Client(OWN, SECRET))
