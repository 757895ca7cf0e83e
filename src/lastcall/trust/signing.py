"""The signature of one state folder: a key that is made with the first token and then stays."""

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastcall.ports import SignerUnavailableError
from lastcall.trust.files import TrustError, damaged, read_private, write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from jwt.types import Options

FILE: Final = "signing-key.pem"
# What Azure signs with; those who verify tokens of theirs often accept nothing else.
ALGORITHM: Final = "RS256"
KEY_BITS: Final = 2048
# What a token says is judged where the clock is; here only whether it is ours.
ONLY_SIGNATURE: "Final[Options]" = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}


class KeySigner:
    """Implements `ports.Signer` with a key in a file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._making = threading.Lock()
        self._key: RSAPrivateKey | None = None
        self._key_id = ""

    def prepare(self) -> None:
        """Have the key at hand: made, read, or there already."""
        with self._making:
            if self._key is None:
                try:
                    key = self._read() or self._make()
                except TrustError as trouble:
                    raise SignerUnavailableError(str(trouble)) from trouble
                self._key_id = _thumbprint(key)
                self._key = key

    def sign(self, claims: Mapping[str, object]) -> str:
        """Return a signed statement of these claims."""
        import jwt  # noqa: PLC0415

        return jwt.encode(dict(claims), self._ready(), ALGORITHM, {"kid": self._key_id})

    def read(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a statement that was signed here, None for any other."""
        import jwt  # noqa: PLC0415

        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._ready().public_key(),
                algorithms=[ALGORITHM],  # Whatever its header says.
                options=ONLY_SIGNATURE,
            )
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None
        return claims

    def public_keys(self) -> list[dict[str, Any]]:
        """Return the keys that others verify with, as JSON Web Keys."""
        from jwt.algorithms import RSAAlgorithm  # noqa: PLC0415

        key = RSAAlgorithm.to_jwk(self._ready().public_key(), as_dict=True)
        members = {name: key[name] for name in ("kty", "n", "e")}
        return [{**members, "use": "sig", "alg": ALGORITHM, "kid": self._key_id}]

    def _ready(self) -> "RSAPrivateKey":
        if self._key is None:
            self.prepare()
        assert self._key is not None
        return self._key

    def _read(self) -> "RSAPrivateKey | None":
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            load_pem_private_key,
        )

        content = read_private(self._path)
        if content is None:
            return None
        advice = "Remove it; every token that was signed with it is then worth nothing."
        try:
            key = load_pem_private_key(content, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as wrong:
            raise damaged(self._path, advice) from wrong
        if not isinstance(key, RSAPrivateKey):
            raise damaged(self._path, advice)
        return key

    def _make(self) -> "RSAPrivateKey":
        from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        key = rsa.generate_private_key(65537, KEY_BITS)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_whole(self._path, pem)
        return key


def _thumbprint(key: "RSAPrivateKey") -> str:
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        Encoding,
        PublicFormat,
    )

    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(public).hexdigest()[:40]
