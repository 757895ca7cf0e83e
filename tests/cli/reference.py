"""Writes docs/cli.md from the commands themselves: python -m tests.cli.reference."""

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Literal, get_args, get_origin

import typer.main

from lastcall.cli import up
from lastcall.cli.main import build

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

# Said once, in the introduction.
EVERYWHERE = {"help", "state", "portal", "as_json", "verbose"}

HEAD = ("| flag | meaning | values | default |", "|---|---|---|---|")

INTRODUCTION = """\
# The command line

Generated from the commands by `python -m tests.cli.reference`; a test checks that it is true.

Every command but `up` finds its server through `--state DIR` (or `LASTCALL_STATE`), the default
state folder, or `--portal URL`. Every command takes `--json`, for an answer in JSON, and
`--verbose`, for the details of what fails. `LASTCALL_GROUP` is the resource group of the `vmss`
commands that are not told one; `vmss list` lists all.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found. What fails says so in a sentence on
stderr, with a hint below it where there is one; with `--json` it is on stdout as well, as
`{"error": {"code": "ResourceNotFound", "message": "..."}}`. Remarks beside an answer, such as
what a command waits for, go to stderr.
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
    yield from HEAD
    for action in parser._actions:
        if action.dest != "help":
            flag = f"{action.option_strings[-1]} {action.metavar or ''}".strip()
            allowed = ", ".join(f"`{choice}`" for choice in action.choices or ())
            meaning, _, default = action.help.removesuffix("]").partition(" [")
            if action.default and not default:
                default = f"{action.default:g}" if action.dest == "pace" else action.default
            yield f"| `{flag}` | {meaning} | {allowed} | {_shown(default or None)} |"
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
    annotations = {
        each.name: each.annotation for each in signature(command.callback).parameters.values()
    }
    rows = [
        row
        for parameter in command.params
        if (row := _row(parameter, annotations.get(parameter.name)))
    ]
    if rows:
        yield from HEAD
        yield from rows
        yield ""


def _row(parameter, annotation) -> str:
    if parameter.name in EVERYWHERE or getattr(parameter, "hidden", False):
        return ""
    if _is_argument(parameter):
        flags = f"`{(parameter.metavar or parameter.name).upper()}`"
    else:
        flags = ", ".join(f"`{flag}`" for flag in [*parameter.opts, *parameter.secondary_opts])
    text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    default = "required" if parameter.required else _shown(parameter.default)
    if parameter.envvar:
        default = f"`{parameter.envvar}`, {default}"
    return f"| {flags} | {text} | {_allowed(parameter, annotation)} | {default} |"


def _allowed(parameter, annotation) -> str:
    """Return the values that a parameter may have, where they can be told."""
    kinds, info = get_args(annotation) or (annotation, None)
    for kind in (kinds, *get_args(kinds)):
        if get_origin(kind) is Literal:
            return ", ".join(f"`{choice}`" for choice in get_args(kind))
    least, most = getattr(info, "min", None), getattr(info, "max", None)
    if least is not None:
        return f"{least} or more" if most is None else f"{least} to {most}"
    return f"`{parameter.metavar}`" if parameter.metavar and not _is_argument(parameter) else ""


def _is_argument(parameter) -> bool:
    return parameter.param_type_name == "argument"


def _shown(default) -> str:
    return "" if default is None or default is False else f"`{default}`"


if __name__ == "__main__":
    PAGE.write_text(page())
