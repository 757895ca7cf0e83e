"""The bounds of the metadata endpoint, all of them arguments."""

from msgspec import Struct


class Options(Struct, frozen=True, kw_only=True):
    """What one client may take of the server before it is refused, let go or told to wait.

    `refusals_max` is how many of those that are one too many are told so at a time.

    `answers_in_row` is how many pipelined requests are answered before others have their turn,
    `unread_bytes_max` how much of what follows is taken in while an answer is pending.

    `request_s` is how long a request may take to arrive, `idle_s` how long a connection may rest
    between requests, `stalled_s` how long a client may leave its answers unread, `linger_s` how
    long a refused client may go on sending so that it still gets to read the refusal. Without
    `own_addresses` the server takes no more of loopback than the address that it is given.
    """

    own_addresses: bool = True
    connections_max: int = 10_000
    refusals_max: int = 64
    header_bytes_max: int = 16 * 1024
    unread_bytes_max: int = 16 * 1024
    answers_in_row: int = 16
    request_s: float = 10
    idle_s: float = 120
    stalled_s: float = 30
    linger_s: float = 2
    hanging_s_max: int = 300
    hanging_s_default: int = 60
    sweep_s: float = 1
