"""How shells set and forget variables. Every value is quoted: nothing in it is ever run."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, Literal, NamedTuple, get_args

Shell = Literal["bash", "zsh", "fish", "powershell"]
ALIASES: Final[Mapping[str, Shell]] = {"pwsh": "powershell", "sh": "bash", "dash": "bash"}


class Syntax(NamedTuple):
    """One shell's way: how to set a variable, how to forget one, how to run all of it."""

    setting: Callable[[str, str], str]
    forgetting: Callable[[str], str]
    use: str


def _fish(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _powershell(value: str) -> str:
    # Typographic quotes end a text too, and stand for themselves when doubled.
    return (
        "'"
        + "".join(each * 2 if each in "'\u2018\u2019\u201a\u201b" else each for each in value)
        + "'"
    )


POSIX: Final = Syntax(
    lambda name, value: f"export {name}={shlex.quote(value)}",
    lambda name: f"unset {name}",
    'eval "$({command})"',
)
SYNTAX: Final[Mapping[Shell, Syntax]] = {
    "bash": POSIX,
    "zsh": POSIX,
    "fish": Syntax(
        lambda name, value: f"set -gx {name} {_fish(value)};",
        lambda name: f"set -e {name};",
        "{command} | source",
    ),
    "powershell": Syntax(
        lambda name, value: f"$Env:{name} = {_powershell(value)}",
        lambda name: f"Remove-Item Env:{name} -ErrorAction SilentlyContinue",
        "{command} | Out-String | Invoke-Expression",
    ),
}


def guess() -> Shell:
    """Return the shell that the user works in, bash if that cannot be told."""
    name = PurePath(os.environ.get("SHELL", "")).name
    known: tuple[Shell, ...] = get_args(Shell)
    return next((shell for shell in known if shell == name), ALIASES.get(name, "bash"))


def script(changes: Mapping[str, str | None], shell: Shell) -> Iterator[str]:
    """Yield the commands that set variables, and forget those whose value is None."""
    syntax = SYNTAX[shell]
    for name, value in changes.items():
        yield syntax.forgetting(name) if value is None else syntax.setting(name, value)
