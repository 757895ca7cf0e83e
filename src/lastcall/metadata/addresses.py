"""Every machine's own loopback address, by its ordinal."""

from lastcall.engine.limits import ORDINALS_MAX

LOOPBACK = "127."


def address_of(ordinal: int) -> str:
    """Return the address at which the machine with this ordinal finds its metadata."""
    assert 1 <= ordinal <= ORDINALS_MAX
    return f"127.{1 + (ordinal >> 16)}.{ordinal >> 8 & 255}.{ordinal & 255}"


def ordinal_of(address: str) -> int | None:
    """Return the ordinal that an address belongs to; None for 127.0.x.x, which is the host's."""
    net, block, high, low = (int(part) for part in address.split("."))
    assert net == 127
    return None if block == 0 else (block - 1 << 16) + (high << 8) + low
