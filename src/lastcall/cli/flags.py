"""What people write on the command line, read: lists, switches, durations, tags."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

import typer

# az takes the values of these after one mention of the flag: --instance-ids 1 2 3.
LISTS: Final = frozenset(
    {"--instance-ids", "--instances", "--tags", "--zones", "--scale-in-policy", "-z"}
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
    for position, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[position:]
            return
        if argument.startswith("-"):
            pending = argument if argument in LISTS else ""
            yield argument
            if argument in SWITCHES and not _is_truth(arguments[position + 1 : position + 2]):
                yield "true"
        elif pending and arguments[position - 1] != pending:
            yield from (pending, argument)
        else:
            yield argument


def _is_truth(following: Sequence[str]) -> bool:
    return bool(following) and following[0].lower() in {"true", "false"}


def duration(text: str) -> timedelta:
    """Read 10m, 90s, 1h30m or PT10M; anything else is a wrong usage."""
    # `up` reads no durations and must start quickly.
    from lastcall.wire.durations import SHAPE, parse_duration  # noqa: PLC0415

    match = SHORT_DURATION.fullmatch(text)
    if match is not None:
        return timedelta(**{unit: float(n) for unit, n in match.groupdict("0").items()})
    if SHAPE.fullmatch(text.upper()) is None:
        raise typer.BadParameter(f"'{text}' is not a duration such as 10m, 90s, 1h30m or PT10M.")
    return parse_duration(text.upper())


def iso_duration(text: str) -> str:
    """Read a duration and return it as the API wants it, PT10M."""
    from lastcall.wire.durations import encode_duration  # noqa: PLC0415

    return encode_duration(duration(text))


def tags(pairs: Iterable[str]) -> dict[str, str]:
    """Read KEY=VALUE ...; a key without a value gets an empty one, as az has it."""
    found = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not key:
            raise typer.BadParameter(f"'{pair}' is not KEY=VALUE.")
        found[key] = value
    return found
