"""`lastcall up`: one server, from its first line to the signal that stops it.

It is the one command without Typer, which takes longer to import than the server to start.
"""

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lastcall.cli.failures import CommandError
from lastcall.cli.places import STATE_VARIABLE, default_state, state_flag
from lastcall.settings import Address, Settings

if TYPE_CHECKING:
    import typer

    from lastcall.statefolder import Endpoints
    from lastcall.trust.minting import Mint

PROMISE: Final = "Run the platform: scale sets, events and metadata on this machine."
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
PACE_MAX: Final = 1_000_000


def main(arguments: Sequence[str]) -> None:
    """Run the platform until Ctrl-C or SIGTERM."""
    given = parser().parse_args(arguments)
    if not __debug__:
        raise CommandError("lastcall does not run under python -O: its assertions must be on.")
    _log_to_stderr(is_verbose=given.verbose)
    wanted = settings(given)
    elsewhere = state_flag(given.state)
    _run(
        wanted,
        as_json if given.json else lambda found: greeting(found, wanted.state, elsewhere),
    )


def register(app: "typer.Typer") -> None:
    """Add the command to the list of all; it is run without Typer."""
    app.command("up", help=PROMISE, short_help=PROMISE)(lambda: main(()))


def parser() -> argparse.ArgumentParser:
    """Return the flags."""
    flags = argparse.ArgumentParser(
        prog="lastcall up",
        description=f"{PROMISE} It runs until Ctrl-C or SIGTERM.",
        epilog="Example: lastcall up --clock virtual --always-notify",
        allow_abbrev=False,
    )
    add = flags.add_argument
    add("--state", type=Path, metavar="DIR", help=f"where it keeps everything [{STATE_VARIABLE}]")
    add("--control", type=_address, metavar="HOST:PORT", help="API, https [127.0.0.1:7443]")
    add("--portal", type=_address, metavar="HOST:PORT", help="API [127.0.0.1:7080]")
    add("--metadata", type=_address, metavar="HOST:PORT", help="metadata [127.0.0.1:7169]")
    add("--expose-metadata", action="store_true", help="allow others to reach the metadata")
    add("--clock", choices=("real", "virtual"), default="real", help="virtual: it stands still")
    add("--pace", type=_pace, default=1.0, metavar="N", help="make notices N times shorter")
    add("--always-notify", action="store_true", help="hold deletions that nobody watches for")
    add("--realistic", action="store_true", help="Azure's discomforts: all of the next three")
    add("--rate-limit", action="store_true", help="429 to more than 5 requests a second")
    add("--first-call-delay", action="store_true", help="a first GET may take 2 minutes")
    add("--short-notices", action="store_true", help="less notice than promised, sometimes")
    add("--driver", choices=("simulated",), default="simulated", help="what instances are")
    add("--json", action="store_true", help="say where it is as JSON")
    add("--verbose", action="store_true", help="log to stderr")
    return flags


def settings(given: argparse.Namespace) -> Settings:
    """Return what the flags ask for."""
    named = given.state or os.environ.get(STATE_VARIABLE)
    addresses = {"control": given.control, "portal": given.portal, "metadata": given.metadata}
    return Settings(
        state=(Path(named) if named else default_state()).absolute(),
        **{name: address for name, address in addresses.items() if address is not None},
        expose_metadata=given.expose_metadata,
        clock=given.clock,
        pace=given.pace,
        always_notify=given.always_notify,
        rate_limit=given.rate_limit or given.realistic,
        first_call_delay=given.first_call_delay or given.realistic,
        short_notices=given.short_notices or given.realistic,
    )


def _address(text: str) -> Address:
    try:
        return Address.parse(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _pace(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= PACE_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0, at most {PACE_MAX}")
    return value


def _run(settings: Settings, tell: Callable[["Endpoints"], str]) -> None:
    # Nothing that is made while starting is garbage, and looking for it takes a tenth of the time.
    gc.disable()
    with _minting(settings) as mint:
        import uvloop  # noqa: PLC0415

        from lastcall.assembly import StartError  # noqa: PLC0415
        from lastcall.statefolder import StateFolderError  # noqa: PLC0415

        try:
            uvloop.run(_serve(settings, tell, mint))
        except (StartError, StateFolderError) as refusal:
            raise CommandError(str(refusal)) from refusal


def _minting(settings: Settings) -> contextlib.AbstractContextManager["Mint | None"]:
    """Begin to make certificates where there are none, before everything else takes its time."""
    from lastcall.trust.files import AUTHORITY  # noqa: PLC0415

    if (settings.state / AUTHORITY).exists():
        return contextlib.nullcontext()
    from lastcall.clock import SystemClock  # noqa: PLC0415
    from lastcall.trust.minting import Mint  # noqa: PLC0415
    from lastcall.trust.names import names_of  # noqa: PLC0415

    return Mint(names_of(settings.control.host), SystemClock().now())


async def _serve(
    settings: Settings, tell: Callable[["Endpoints"], str], mint: "Mint | None"
) -> None:
    from lastcall.assembly import running  # noqa: PLC0415

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopped.set()
        for number in SIGNALS:  # The second signal does not wait for anything.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)
    async with running(settings, mint) as endpoints:
        gc.freeze()
        gc.enable()
        # Whoever started it may have closed its output; it serves all the same.
        with contextlib.suppress(OSError):
            sys.stdout.write(f"{tell(endpoints)}\n")
            sys.stdout.flush()
        await stopped.wait()


def as_json(endpoints: "Endpoints") -> str:
    """Return where the server is, for a program."""
    import msgspec  # noqa: PLC0415

    return msgspec.json.encode(endpoints).decode()


def greeting(endpoints: "Endpoints", state: Path, elsewhere: str) -> str:
    """Return where the server is, how to stop it and what to do next, for a person."""
    return "\n".join(
        (
            f"lastcall is running on {state}; Ctrl-C stops it.",
            f"  control   {endpoints.control}",
            f"  API       {endpoints.portal}",
            f"  metadata  {endpoints.metadata}",
            "Next, in another terminal:",
            f"  lastcall vmss create --name web --terminate-notification-time 10{elsewhere}",
            f"  lastcall instances{elsewhere}",
            f'  eval "$(lastcall env{elsewhere})"   # then az and the SDKs use it',
        )
    )


class OneLine(logging.Formatter):
    """A record as one line: what went wrong, without how it got there."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, and the last line of an exception."""
        error = record.exc_info[1] if record.exc_info else None
        text = f"lastcall: {record.getMessage()}"
        return text if error is None else f"{text} ({type(error).__name__}: {error})"


def _log_to_stderr(*, is_verbose: bool) -> None:
    handler = logging.StreamHandler()
    if is_verbose:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    else:
        handler.setFormatter(OneLine())
    logging.basicConfig(level=logging.INFO if is_verbose else logging.WARNING, handlers=[handler])
