"""In which order resources are deployed."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from lastcall.wire.templates.faults import ShapeError
from lastcall.wire.templates.identifiers import shown_id


def in_order(dependencies: Mapping[str, Sequence[str]]) -> list[str]:
    """Return keys so that each comes after those it depends on, otherwise as they were given."""
    keys = list(dependencies)
    place = {key: index for index, key in enumerate(keys)}
    waiting = {key: set(needed) for key, needed in dependencies.items()}
    needing: dict[str, list[str]] = {key: [] for key in keys}
    for key, needed in waiting.items():
        for other in needed:
            needing[other].append(key)
    ready = [place[key] for key in keys if not waiting[key]]
    heapify(ready)
    ordered = []
    while ready:
        key = keys[heappop(ready)]
        ordered.append(key)
        for other in needing[key]:
            waiting[other].discard(key)
            if not waiting[other]:
                heappush(ready, place[other])
    if len(ordered) < len(keys):
        raise ShapeError(f"Circular dependency detected: '{_circle(waiting, place)}'")
    return ordered


def _circle(waiting: Mapping[str, set[str]], place: Mapping[str, int]) -> str:
    """Return the way from one resource back to itself."""
    key = min((key for key, needed in waiting.items() if needed), key=place.__getitem__)
    way: list[str] = []
    while key not in way:
        way.append(key)
        key = min(waiting[key], key=place.__getitem__)
    circle = [*way[way.index(key) :], key]
    return " -> ".join(shown_id(step.rpartition("/providers/")[2]) for step in circle)
