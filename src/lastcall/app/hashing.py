"""Secrets are kept as what they hash to, and compared without telling how close they were."""

import hashlib
import hmac
from typing import Final

from lastcall.engine.value import Value

# 16 MiB and some tens of milliseconds for each guess.
COST: Final = {"n": 2**14, "r": 8, "p": 1}


class Hashed(Value, frozen=True):
    """What is left of a secret; the digest in hexadecimal digits."""

    salt: str
    digest: str

    def is_of(self, secret: str) -> bool:
        """Whether it is this secret's."""
        return hmac.compare_digest(_digest(secret, self.salt), self.digest)


# Takes the place of a secret that is not there, so that asking takes the same time.
NOBODYS: Final = Hashed("nobody", "0")


def hashed(secret: str, salt: str) -> Hashed:
    """Return what a secret is kept as."""
    return Hashed(salt, _digest(secret, salt))


def is_same(given: str, known: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell."""
    return hmac.compare_digest(given.encode(), known.encode())


def _digest(secret: str, salt: str) -> str:
    return hashlib.scrypt(secret.encode(), salt=salt.encode(), **COST).hex()
