"""The named statements of queries.sql, and the numbered migrations."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_HERE: Final = files("lastcall.store")


def _load() -> Mapping[str, str]:
    text = _HERE.joinpath("queries.sql").read_text("utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


QUERIES: Final = _load()


def migrations() -> list[tuple[int, str]]:
    """Return every migration with its number, in order."""
    found = sorted(_HERE.joinpath("migrations").iterdir(), key=lambda entry: entry.name)
    return [
        (int(entry.name.split("_")[0]), entry.read_text("utf-8"))
        for entry in found
        if entry.name.endswith(".sql")
    ]
