"""Writes docs/cli.md from the commands themselves: python -m tests.cli.reference."""

from collections.abc import Iterator
from pathlib import Path

import typer.main

from lastcall.cli import up
from lastcall.cli.main import build

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

# Said once, in the introduction.
EVERYWHERE = {"help", "state", "portal", "as_json", "verbose"}

INTRODUCTION = """\
# The command line

Generated from the commands by `python -m tests.cli.reference`; a test checks that it is true.

Every command but `up` finds its server through `--state DIR` (or `LASTCALL_STATE`), the default
state folder, or `--portal URL`. Every command takes `--json`, for an answer in JSON, and
`--verbose`, for the details of what fails. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not
found.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *_up(), *_commands(_root(), "lastcall")])


def _root():
    return typer.main.get_command(build([]))


def _up() -> Iterator[str]:
    parser = up.parser()
    yield "## lastcall up\n"
    yield f"{parser.description}\n"
    yield f"{parser.epilog}\n".replace("Example: ", "Example: `").replace("\n", "`\n")
    yield "| flag | meaning |"
    yield "|---|---|"
    for action in parser._actions:
        if action.dest != "help":
            values = "\\|".join(action.choices) if action.choices else action.metavar or ""
            flag = f"{action.option_strings[-1]} {values}".strip()
            yield f"| `{flag}` | {action.help} |"
    yield ""


def _commands(command, name: str) -> Iterator[str]:
    children = getattr(command, "commands", None)
    if children is None:
        yield from _command(command, name)
        return
    for child_name, child in sorted(children.items()):
        if (name, child_name) != ("lastcall", "up"):
            yield from _commands(child, f"{name} {child_name}")


def _command(command, name: str) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{(command.help or '').strip()}\n"
    if command.epilog:
        label, _, example = command.epilog.partition(": ")
        yield f"{label}: `{example.strip()}`\n"
    rows = [row for parameter in command.params if (row := _row(parameter))]
    if rows:
        yield "| flag | meaning |"
        yield "|---|---|"
        yield from rows
        yield ""


def _row(parameter) -> str:
    if parameter.name in EVERYWHERE or getattr(parameter, "hidden", False):
        return ""
    if parameter.param_type_name == "argument":
        flags = f"`{(parameter.metavar or parameter.name).upper()}`"
    else:
        flags = ", ".join(f"`{flag}`" for flag in [*parameter.opts, *parameter.secondary_opts])
    text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| {flags} | {text} |"


if __name__ == "__main__":
    PAGE.write_text(page())
