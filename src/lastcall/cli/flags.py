"""What people write on the command line, read: lists, switches, durations, tags."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from lastcall.cli.failures import WrongUsageError

# az takes the values of these after one mention of the flag: --instance-ids 1 2 3.
LISTS: Final = frozenset(
    {
        "--condition",
        "--index",
        "--instance-ids",
        "--instances",
        "--scale",
        "--scale-in-policy",
        "--tags",
        "--timegrain",
        "--zones",
        "-z",
    }
)
# az takes these with true, with false, or bare for true.
SWITCHES: Final = frozenset(
    {
        "--enable-terminate-notification",
        "--protect-from-scale-in",
        "--protect-from-scale-set-actions",
        "--single-placement-group",
    }
)
# Typer would take it for flags.
BACKWARDS: Final = re.compile(r"-[0-9.pP]")
SHORT_DURATION: Final = re.compile(
    r"(?=[0-9])(?:(?P<days>[0-9]{1,6})d)?(?:(?P<hours>[0-9]{1,6})h)?"
    r"(?:(?P<minutes>[0-9]{1,6})m)?(?:(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,6})?)s)?",
    re.IGNORECASE,
)


def spread(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as Typer wants them: one flag before each value, no bare switches."""
    return list(_spread(arguments))


def _spread(arguments: Sequence[str]) -> Iterator[str]:
    pending = ""
    is_advance = list(arguments[:2]) == ["clock", "advance"]
    for position, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[position:]
            return
        if is_advance and BACKWARDS.match(argument):
            raise WrongUsageError("the clock only moves forward, by a duration such as 10m.")
        if argument.startswith("-"):
            pending = argument if argument in LISTS else ""
            yield argument
            if argument in SWITCHES and not _has_truth(arguments[position : position + 2]):
                yield "true"
        elif pending and arguments[position - 1] != pending:
            yield from (pending, argument)
        else:
            yield argument


def _has_truth(switch: Sequence[str]) -> bool:
    """Whether a switch is followed by its value; one that is followed by a flag is bare."""
    name, *value = switch
    if not value or value[0].startswith("-"):
        return False
    if value[0].lower() not in {"true", "false"}:
        raise WrongUsageError(f"{name} is true or false, not '{value[0]}'.")
    return True


def duration(text: str) -> timedelta:
    """Read 10m, 90s, 1h30m or PT10M; anything else is a wrong usage."""
    # `up` reads no durations and must start quickly.
    from lastcall.wire.durations import SHAPE, parse_duration  # noqa: PLC0415

    match = SHORT_DURATION.fullmatch(text)
    if match is not None:
        return timedelta(**{unit: float(n) for unit, n in match.groupdict("0").items()})
    if SHAPE.fullmatch(text.upper()) is None:
        raise WrongUsageError(f"'{text}' is not a duration such as 10m, 90s, 1h30m or PT10M.")
    return parse_duration(text.upper())


def iso_duration(text: str) -> str:
    """Read a duration and return it as the API wants it, PT10M."""
    from lastcall.wire.durations import encode_duration  # noqa: PLC0415

    return encode_duration(duration(text))


def short_duration(length: timedelta) -> str:
    """Return a duration as people write it, whole seconds rounded up: 1h30m."""
    seconds = math.ceil(length.total_seconds())
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    words = []
    for unit, size in units:
        count, seconds = divmod(seconds, size)
        words += [f"{count}{unit}"] if count else []
    return "".join(words) or "0s"


def terminate_notice(text: str) -> str:
    """Read a notice before deletions, minutes or a duration; return it as the API wants it."""
    from lastcall.engine.limits import (  # noqa: PLC0415
        TERMINATE_NOTICE_MAX,
        TERMINATE_NOTICE_MIN,
    )
    from lastcall.wire.durations import encode_duration  # noqa: PLC0415

    try:
        notice = duration(f"{text}m" if text.isdecimal() else text)
    except (WrongUsageError, OverflowError):
        notice = timedelta(0)
    if not TERMINATE_NOTICE_MIN <= notice <= TERMINATE_NOTICE_MAX:
        raise WrongUsageError("--terminate-notification-time is 5 to 15 minutes, such as 10")
    return encode_duration(notice)


def zones(given: Iterable[str]) -> list[str]:
    """Read zones, apart or with commas between them."""
    return [zone for each in given for zone in each.split(",") if zone]


def tags(pairs: Iterable[str]) -> dict[str, str]:
    """Read KEY=VALUE ...; a key without a value gets an empty one, as az has it."""
    found = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not key:
            raise WrongUsageError(f"'{pair}' is not KEY=VALUE.")
        found[key] = value
    return found
