"""The certificates of the control address: made once, checked at every start, renewed in time.

They are judged by what counts: whether a client that trusts our authority gets through.
"""

import ipaddress
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from lastcall.trust.files import AUTHORITY, PUBLIC, TrustError, damaged, read_private, write_whole
from lastcall.trust.minting import Minted, mint, reissue
from lastcall.trust.names import LOOPBACK_NAMES

AUTHORITY_KEY: Final = "ca-key.pem"
LEAF: Final = "server.pem"
RENEWED_BEFORE: Final = timedelta(days=30)
START_OVER: Final = (
    f"Remove {AUTHORITY}, {AUTHORITY_KEY} and {LEAF} beside it and start again;"
    f" clients then need the new {AUTHORITY}."
)

Make = Callable[[], Minted | None]


class Certificates:
    """The files of one state folder, for these names."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._names = names
        self.authority = folder / AUTHORITY
        self._key = folder / AUTHORITY_KEY
        self._leaf = folder / LEAF

    def context(self, now: datetime, make: Make = lambda: None) -> ssl.SSLContext:
        """Return what a server needs to be believed, making what is missing.

        `make` may have the first ones ready; they are made here otherwise.
        """
        # The authority is written last: where it is, the others are.
        if not self.authority.exists():
            self._write(make() or self._made(now))
        context = self._served()
        if context is None or not self._convinces(context, now):
            self._renew(now)
            context = self._served()
        if context is None or not self._convinces(context, now):
            raise damaged(self.authority, START_OVER)
        return context

    def renew(self, context: ssl.SSLContext, now: datetime) -> None:
        """Give a context that is in use another certificate if its own ends soon."""
        if not self._convinces(context, now):
            self._renew(now)
            context.load_cert_chain(self._leaf)

    def _made(self, now: datetime) -> Minted:
        try:
            return mint(self._names, now)
        except ValueError as wrong:  # A name that cannot stand in a certificate.
            raise TrustError(
                f"No certificate can be made for {', '.join(self._names)}: {wrong}."
            ) from wrong

    def _write(self, minted: Minted) -> None:
        write_whole(self._key, minted.authority_key.encode())
        write_whole(self._leaf, minted.leaf.encode())
        write_whole(self.authority, minted.authority.encode(), PUBLIC)

    def _renew(self, now: datetime) -> None:
        key = read_private(self._key)
        if key is None:
            raise damaged(self._key, START_OVER)
        try:
            leaf = reissue(self.authority.read_bytes(), key, self._names, now)
        except (ValueError, OSError) as wrong:
            raise damaged(self._key, START_OVER) from wrong
        write_whole(self._leaf, leaf.encode())

    def _served(self) -> ssl.SSLContext | None:
        """Return the context of a server, None where there is no certificate for one."""
        if read_private(self._leaf) is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._leaf)
        except ssl.SSLError as wrong:
            raise damaged(self._leaf, "Remove it and start again.") from wrong
        return context

    def _convinces(self, context: ssl.SSLContext, now: datetime) -> bool:
        """Whether clients believe it under all of its names, and will for a while."""
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            trusting.load_verify_locations(self.authority)
        except (ssl.SSLError, OSError) as wrong:
            raise damaged(self.authority, START_OVER) from wrong
        seen = _seen(context, trusting)
        if seen is None or not {*map(_spelled, self._names)} <= _names_in(seen):
            return False
        end = ssl.cert_time_to_seconds(str(seen["notAfter"]))
        return datetime.fromtimestamp(end, UTC) - now > RENEWED_BEFORE


def _seen(server: ssl.SSLContext, client: ssl.SSLContext) -> Mapping[str, Any] | None:
    """Let the two shake hands; return the certificate, None if it is not believed."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(back, there, server_hostname=LOOPBACK_NAMES[0])
    answering = server.wrap_bio(there, back, server_side=True)
    try:
        for side in (asking, answering, asking):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
        return asking.getpeercert()
    except (ssl.SSLError, ValueError):
        return None


def _names_in(certificate: Mapping[str, Any]) -> set[str]:
    return {_spelled(name) for _, name in certificate.get("subjectAltName", ())}


def _spelled(name: str) -> str:
    """Return a name in its one spelling: an address has several."""
    try:
        return ipaddress.ip_address(name).compressed
    except ValueError:
        return name.lower()
