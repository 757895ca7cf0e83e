"""Under which names a server is believed."""

import ipaddress
import re
import socket
from typing import Final

LOOPBACK_NAMES: Final = ("127.0.0.1", "::1", "localhost")
HOST_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)


def names_of(host: str) -> tuple[str, ...]:
    """Return the names of a server that listens at a host; this machine's own where it is any."""
    more = socket.gethostname() if is_any(host) else host
    if not (_is_address(more) or HOST_NAME.fullmatch(more)):
        return LOOPBACK_NAMES
    return tuple(dict.fromkeys((*LOOPBACK_NAMES, more.lower())))


def is_any(host: str) -> bool:
    """Whether a host stands for every address of this machine."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
