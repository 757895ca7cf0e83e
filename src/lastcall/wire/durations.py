"""ISO 8601 durations, in the part of the notation that has a fixed length."""

import re
from datetime import timedelta

from lastcall.engine.errors import InvalidParameterError
from lastcall.wire.quoting import shown

# Years and months have no fixed length. ASCII digits only; the bound keeps timedelta in range.
SHAPE = re.compile(
    r"P(?=[0-9T])(?:(?P<days>[0-9]{1,6})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,6})H)?(?:(?P<minutes>[0-9]{1,6})M)?"
    r"(?:(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9})?)S)?)?"
)


def parse_duration(text: str) -> timedelta:
    """Return the length of a duration such as PT7M30S, or refuse."""
    match = SHAPE.fullmatch(text)
    if match is None:
        raise InvalidParameterError(f"'{shown(text)}' is not an ISO 8601 duration such as PT5M.")
    parts = match.groupdict("0")
    whole, _, fraction = parts["seconds"].partition(".")
    return timedelta(
        days=int(parts["days"]),
        hours=int(parts["hours"]),
        minutes=int(parts["minutes"]),
        seconds=int(whole),
        microseconds=int(fraction[:6].ljust(6, "0")),
    )


def encode_duration(duration: timedelta) -> str:
    """Return a duration in its shortest form, PT0S when there is nothing of it."""
    assert duration >= timedelta(0)
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{duration.microseconds:06}".rstrip("0") if duration.microseconds else ""
    day = f"{duration.days}D" if duration.days else ""
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if seconds or fraction or not (day or time):
        time += f"{seconds}{fraction}S"
    return f"P{day}T{time}" if time else f"P{day}"
