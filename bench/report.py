"""Rows of the speed table, and the page they are written to."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, against what, and what must be reached."""

    what: str
    ours: str
    reference: str
    ratio: float
    target: str
    is_met: bool


def machine() -> str:
    """Name the machine: figures mean nothing without it."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores of {model}, {memory_gib:.0f} GiB, {platform.system()}"
        f" {platform.release()}, Python {platform.python_version()}"
    )


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| what | ours | reference | ratio | target | met |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.what} | {row.ours} | {row.reference} | {row.ratio:.2f} | {row.target} |"
        f" {'yes' if row.is_met else 'no'} |"
        for row in rows
    ]
    return "\n".join(lines)


def write(rows: list[Row]) -> None:
    """Write the page that the documentation points to."""
    RESULTS.write_text(
        f"# Measured\n\nBy `make bench` on: {machine()}.\n\n"
        "Each row was measured against its reference in the same run; the ratio is what counts.\n\n"
        f"{table(rows)}\n"
    )
