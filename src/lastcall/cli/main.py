"""The entry point: finds the noun, runs its command, and turns what goes wrong into one sentence.

Only what the noun needs is imported, and Typer only by nouns other than `up`: starting the
platform must be quick.
"""

import importlib
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final, NoReturn, cast

from lastcall import __version__
from lastcall.cli.failures import CODES, FAILED, WRONG_USAGE, CommandError

if TYPE_CHECKING:
    import typer

# What is typed after `lastcall`, and the module that adds it.
NOUNS: Final = {
    "up": "lastcall.cli.up",
    "vmss": "lastcall.cli.vmss",
    "events": "lastcall.cli.events",
    "instances": "lastcall.cli.instances",
    "clock": "lastcall.cli.clock",
    "autoscale": "lastcall.cli.autoscale",
    "metric": "lastcall.cli.metric",
    "activities": "lastcall.cli.activities",
    "principal": "lastcall.cli.principal",
    "env": "lastcall.cli.env",
    "az": "lastcall.cli.az",
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        exit_code = _run(given)
    except CommandError as failure:
        sys.stderr.write(f"{failure}\n")
        _tell_program(given, failure.code, failure.message)
        exit_code = failure.exit_code
    except Exception as bug:  # noqa: BLE001  # a person gets a sentence, not a traceback
        _confess(bug, is_verbose="--verbose" in given)
        _tell_program(given, type(bug).__name__, str(bug))
        exit_code = FAILED
    sys.exit(exit_code)


def _run(given: list[str]) -> int:
    if given[:1] == ["up"]:
        from lastcall.cli import up  # noqa: PLC0415

        up.main(given[1:])
        return 0
    if given[:1] == ["az"]:
        from lastcall.cli import az  # noqa: PLC0415

        az.main(given[1:])
    import typer  # noqa: PLC0415

    from lastcall.cli.flags import spread  # noqa: PLC0415

    # What all of Typer's wrong usages are has no public name.
    wrong_usage = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
    try:
        left: int | None = build(given)(
            args=spread(given), prog_name="lastcall", standalone_mode=False
        )
    except wrong_usage as wrong:
        wrong.show()
        _tell_program(given, CODES[WRONG_USAGE], wrong.format_message())
        return wrong.exit_code
    return left or 0


def _tell_program(given: Sequence[str], code: str, message: str) -> None:
    """Give a program that asked for JSON the failure in JSON, too."""
    if "--json" not in given:
        return
    import json  # noqa: PLC0415

    error = {"code": code, "message": message.removeprefix("error: ")}
    with suppress(OSError):
        sys.stdout.write(f"{json.dumps({'error': error}, ensure_ascii=False)}\n")


def build(arguments: Sequence[str]) -> "typer.Typer":
    """Return the command line with the noun that is asked for, or with all of them."""
    import typer  # noqa: PLC0415

    def show_version(is_wanted: bool) -> None:  # noqa: FBT001  # Typer calls it so
        if is_wanted:
            typer.echo(f"lastcall {__version__}")
            raise typer.Exit

    version = typer.Option("--version", help="Show the version.", callback=show_version)

    def root(*, version: Annotated[bool, version] = False) -> None:
        """Scale sets' terminate notifications and Scheduled Events, on your own machine."""

    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # Plain: Rich's boxes cut flags off in a terminal of 80 columns.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Example: lastcall up --clock virtual",
    )
    app.callback()(root)
    asked = arguments[0] if arguments else ""
    for noun in [asked] if asked in NOUNS else NOUNS:
        importlib.import_module(NOUNS[noun]).register(app)
    return app


def _confess(bug: Exception, *, is_verbose: bool) -> None:
    import traceback  # noqa: PLC0415

    if is_verbose:
        traceback.print_exception(bug)
        return
    said = str(bug).partition("\n")[0]
    sys.stderr.write(
        f"lastcall failed in a way it should not ({type(bug).__name__}: {said})."
        " The same command with --verbose shows the details.\n"
    )
