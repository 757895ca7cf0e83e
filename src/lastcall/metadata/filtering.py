"""A part of the instance metadata, by path, as JSON or as text (R115)."""

from typing import Any

import msgspec

from lastcall.metadata.answers import JSON, TEXT, RefusedError, encode_answer


def encode_part(value: Any, path: tuple[str, ...], *, as_text: bool) -> bytes:
    """Return the answer with what `path` leads to, or refuse."""
    for name in path:
        value = _child(value, name)
    if as_text:
        return encode_answer(200, _listing(value).encode(), TEXT)
    if isinstance(value, str):
        # R13: a leaf without an explicit format.
        raise RefusedError(400, "Bad request. A single value is available as format=text only")
    return encode_answer(200, msgspec.json.encode(value), JSON)


def _child(value: Any, name: str) -> Any:
    if isinstance(value, list) and name.isascii() and name.isdigit() and len(name) <= 9:
        if int(name) < len(value):
            return value[int(name)]
    elif isinstance(value, dict):
        for key, child in value.items():
            if key.lower() == name.lower():
                return child
    raise RefusedError(404, "Not found")


def _listing(value: Any) -> str:
    """Return a leaf as it is, and of anything else the names of what it holds, one per line."""
    if isinstance(value, str):
        return value
    children = enumerate(value) if isinstance(value, list) else value.items()
    return "\n".join(
        f"{name}" if isinstance(child, str) else f"{name}/" for name, child in children
    )
