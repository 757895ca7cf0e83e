"""How one server is set up; read once, where things are joined."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DEFAULT_SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
DEFAULT_TENANT = "00000000-0000-0000-0000-0000000000aa"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 picks a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read HOST:PORT; raise `ValueError` with one sentence."""
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdigit() or int(port) > 65_535:
            raise ValueError(f"'{text}' is not HOST:PORT with a port from 0 to 65535")
        return cls(host.strip("[]"), int(port))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that `lastcall up` can be told."""

    state: Path
    control: Address = Address("127.0.0.1", 7443)
    portal: Address = Address("127.0.0.1", 7080)
    metadata: Address = Address("127.0.0.1", 7169)
    expose_metadata: bool = False
    clock: Literal["real", "virtual"] = "real"
    pace: float = 1.0
    always_notify: bool = False
    rate_limit: bool = False
    first_call_delay: bool = False
    short_notices: bool = False
    subscription: str = DEFAULT_SUBSCRIPTION
    tenant: str = DEFAULT_TENANT
