"""How much of what a client sent is repeated to it."""

from typing import Final

SHOWN_CHARACTERS_MAX: Final = 100


def shown(text: str) -> str:
    """Return the beginning of a text, short enough for a sentence."""
    return text[:SHOWN_CHARACTERS_MAX]
