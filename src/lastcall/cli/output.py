"""What commands print: JSON for programs, tables for people, plain columns for pipes."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import typer

GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people; every row is as long as the head."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    nothing: str = "Nothing to show."


def facts(pairs: Iterable[tuple[str, object]]) -> Table:
    """Return one thing as a table of its named facts, without the empty ones."""
    return Table((), [(name, text(value)) for name, value in pairs if text(value)])


def text(value: object) -> str:
    """Return a value as a person wants to read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def print_json(value: Any) -> None:
    """Print one JSON value: indented for a terminal, on one line for a program."""
    typer.echo(json.dumps(value, indent=2 if sys.stdout.isatty() else None, ensure_ascii=False))


def print_table(table: Table) -> None:
    """Print a table; Rich's where somebody looks at it, whole and plain elsewhere."""
    if not table.rows:
        typer.echo(table.nothing)
    elif sys.stdout.isatty():
        _print_rich(table)
    else:
        typer.echo("\n".join(plain(table)))


def plain(table: Table) -> list[str]:
    """Return the lines of a table with columns that line up and nothing cut off."""
    lines = [*([table.head] if table.head else []), *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _print_rich(table: Table) -> None:
    from rich import box  # noqa: PLC0415  # only a terminal needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = RichTable(
        *table.head, box=box.SIMPLE_HEAD, show_header=bool(table.head), pad_edge=False
    )
    for row in table.rows:
        shown.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console().print(shown)
