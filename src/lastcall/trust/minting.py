"""Making certificates: the authority of one state folder, and what it vouches for.

Importing what makes them takes a third of the time in which a server starts. Where none exist yet
a process of its own makes them (`Mint`), while this one is still importing the server.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    import trustme

# Clients refuse what lives longer.
LEAF_LIFETIME: Final = timedelta(days=397)
PATIENCE_S: Final = 60


class Minted(NamedTuple):
    """An authority and one certificate of it, as PEM; `leaf` begins with its own key."""

    authority: str
    authority_key: str
    leaf: str


def mint(names: Sequence[str], now: datetime) -> Minted:
    """Make an authority, and a certificate for these names."""
    import trustme  # noqa: PLC0415

    made = trustme.CA(organization_name="lastcall", organization_unit_name="local authority")
    return Minted(
        made.cert_pem.bytes().decode(),
        made.private_key_pem.bytes().decode(),
        _issue(made, names, now),
    )


def reissue(authority: bytes, key: bytes, names: Sequence[str], now: datetime) -> str:
    """Make another certificate of the same authority; raise `ValueError` where it is none."""
    import trustme  # noqa: PLC0415

    return _issue(trustme.CA.from_pem(authority, key), names, now)


def _issue(authority: "trustme.CA", names: Sequence[str], now: datetime) -> str:
    leaf = authority.issue_cert(
        *names,
        organization_name="lastcall",
        organization_unit_name="control address",
        # A client whose clock is late must not find it unborn.
        not_before=(now - timedelta(days=1)).replace(tzinfo=None),
        not_after=(now + LEAF_LIFETIME).replace(tzinfo=None),
    )
    return leaf.private_key_and_cert_chain_pem.bytes().decode()


class Mint:
    """A process that mints; it has ended when this is left."""

    def __init__(self, names: Sequence[str], now: datetime) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # ourselves
            [sys.executable, "-m", "lastcall.trust.minting", now.isoformat(), *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def minted(self) -> Minted | None:
        """Wait for what it makes; None where it could not."""
        try:
            told, _ = self._process.communicate(timeout=PATIENCE_S)
            return Minted(*json.loads(told))
        except (subprocess.TimeoutExpired, ValueError, TypeError):
            return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(mint(sys.argv[2:], datetime.fromisoformat(sys.argv[1]))))
