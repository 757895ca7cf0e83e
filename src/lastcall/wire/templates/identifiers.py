"""Resource ids: made of types and names, and compared in whatever case."""

from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError

SHOWN_CHARACTERS_MAX: Final = 500


def shown_id(text: str) -> str:
    """Return the beginning of an id, long enough for those that exist."""
    return text[:SHOWN_CHARACTERS_MAX]


def relative_id(kind: str, name: str) -> str:
    """Return a type and a name as they stand in an id: types and names in turn.

    `A.B/sets/rules` and `x/y` are `A.B/sets/x/rules/y`.
    """
    namespace, *types = kind.split("/")
    names = name.split("/")
    if not types or len(types) != len(names) or not all([namespace, *types, *names]):
        raise ExpressionError(
            f"The template resource '{shown(name)}' for type '{shown(kind)}' has incorrect segment"
            " lengths. A nested resource type must have identical number of segments as its"
            " resource name. A root resource type must have segment length one greater than its"
            " resource name."
        )
    return "/".join(
        [namespace, *(part for pair in zip(types, names, strict=True) for part in pair)]
    )


def parents(resource_id: str) -> list[str]:
    """Return the ids of what a resource is inside of, or extends, the nearest first."""
    start, marker, rest = resource_id.rpartition("/providers/")
    parts = rest.split("/")
    above = [start + marker + "/".join(parts[:size]) for size in range(len(parts) - 2, 2, -2)]
    return [*above, start, *parents(start)] if "/providers/" in start else above
