"""What a deployment would change, in the shape of ARM's what-if.

A deployment keeps what the template does not mention, so only what it does is compared.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lastcall.wire.names import place
from lastcall.wire.templates.documents import Unresolved, finished, rebuilt
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.identifiers import parents
from lastcall.wire.templates.plan import Plan, PlannedResource
from lastcall.wire.templates.values import Json, key_of, member, same, text_of


def what_if(
    plan: Plan, existing: Mapping[str, Mapping[str, Any]], *, complete: bool = False
) -> list[dict[str, Any]]:
    """Return one change per resource of the plan and of the resource group.

    `existing` has the group's resources by id, as a GET shows them. In complete mode what the
    template does not have is deleted.
    """
    present = {key.lower(): dict(resource) for key, resource in existing.items()}
    planned = list(_flattened(plan))
    changes = [_change(resource, present) for resource in planned]
    mentioned = {resource.id.lower() for resource in planned}
    for resource_id in sorted(existing, key=str.lower):
        if resource_id.lower() not in mentioned:
            # What is inside a resource stays as long as that.
            is_kept = any(parent.lower() in mentioned for parent in parents(resource_id))
            changes.append(_untold(resource_id, existing, delete=complete and not is_kept))
    return changes


def _flattened(plan: Plan) -> Iterator[PlannedResource]:
    for resource in plan.resources:
        if resource.inner is None:
            yield resource
        else:
            yield from _flattened(resource.inner)


def _change(resource: PlannedResource, present: Mapping[str, dict[str, Json]]) -> dict[str, Json]:
    if resource.plan_inner is not None:
        return {
            "resourceId": resource.id,
            "changeType": "Unsupported",
            "unsupportedReason": "The deployment is given what is known only while deploying.",
        }
    before = present.get(resource.id.lower())
    wanted = _wanted(resource, present)
    if before is None:
        head = {
            "id": resource.id,
            "name": resource.name.rpartition("/")[2],
            "type": resource.type,
            "apiVersion": resource.api_version,
        }
        return {"resourceId": resource.id, "changeType": "Create", "after": {**head, **wanted}}
    delta = list(_delta(before, wanted))
    change = {
        "resourceId": resource.id,
        "changeType": "Modify" if delta else "NoChange",
        "before": before,
        "after": _merged(before, wanted),
    }
    return {**change, "delta": delta} if delta else change


def _untold(
    resource_id: str, existing: Mapping[str, Mapping[str, Json]], *, delete: bool
) -> dict[str, Json]:
    before = dict(existing[resource_id])
    if delete:
        return {"resourceId": resource_id, "changeType": "Delete", "before": before}
    return {
        "resourceId": resource_id,
        "changeType": "Ignore",
        "before": before,
        "after": before,
    }


def _wanted(resource: PlannedResource, present: Mapping[str, dict[str, Json]]) -> dict[str, Json]:
    """Return a body; what refers to a resource that is not there yet stays as it was written."""

    def look_up(resource_id: str, *, full: bool, api_version: str) -> Json:  # noqa: ARG001
        state = present.get(resource_id.lower())
        return state if state is None or full else member(state, "properties", {})

    live = resource.surroundings.live(look_up)

    def value(left: Unresolved) -> Json:
        try:
            return finished(left, live)
        except ExpressionError:
            return left.text

    body: dict[str, Json] = rebuilt(resource.evaluated, value)
    return body


def _delta(
    before: Mapping[str, Json], wanted: Mapping[str, Json], start: str = ""
) -> Iterator[dict[str, Json]]:
    for name, value in wanted.items():
        key = key_of(before, name)
        old = None if key is None else before[key]
        if start == "" and name.lower() == "location" and old is not None and value is not None:
            old, value = (place(text_of(old)), place(text_of(value)))  # noqa: PLW2901
        yield from _difference(f"{start}{name}", old, value)


def _difference(path: str, old: Json, new: Json) -> Iterator[dict[str, Json]]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _delta(old, new, f"{path}.")
    elif isinstance(old, list) and isinstance(new, list):
        children = list(_items(old, new))
        if children:
            yield {"path": path, "propertyChangeType": "Array", "children": children}
    elif old is None:
        # Nothing, said in another way, is no change.
        if new not in (None, {}, []):
            yield {"path": path, "propertyChangeType": "Create", "after": new}
    elif new is None:
        yield {"path": path, "propertyChangeType": "Delete", "before": old}
    elif not _alike(old, new):
        yield {"path": path, "propertyChangeType": "Modify", "before": old, "after": new}


def _items(old: list[Json], new: list[Json]) -> Iterator[dict[str, Json]]:
    """Yield how the items of arrays differ: those with names by name, others by their place."""
    olds, news = _by_name(old), _by_name(new)
    if olds is None or news is None:
        olds, news = dict(enumerate(old)), dict(enumerate(new))
    for index, (key, item) in enumerate(news.items()):
        if key not in olds:
            yield {"path": str(index), "propertyChangeType": "Create", "after": item}
        elif isinstance(item, dict) and isinstance(olds[key], dict):
            children = list(_delta(olds[key], item))
            if children:
                yield {"path": str(index), "propertyChangeType": "Modify", "children": children}
        else:
            yield from _difference(str(index), olds[key], item)
    for index, (key, item) in enumerate(olds.items()):
        if key not in news:
            yield {"path": str(index), "propertyChangeType": "Delete", "before": item}


def _by_name(items: list[Json]) -> dict[Any, Json] | None:
    names = [member(item, "name") for item in items if isinstance(item, dict)]
    if len(names) != len(items) or not all(isinstance(name, str) for name in names):
        return None
    named = {name.lower(): item for name, item in zip(names, items, strict=True)}
    return named if len(named) == len(items) else None


def _alike(old: Json, new: Json) -> bool:
    """Whether two values mean the same: az writes true and 80 as strings."""
    if isinstance(old, dict | list) or isinstance(new, dict | list):
        return False
    if type(old) is type(new):
        return same(old, new)
    return text_of(old).lower() == text_of(new).lower()


def _merged(before: Mapping[str, Json], wanted: Mapping[str, Json]) -> dict[str, Json]:
    result = dict(before)
    for name, value in wanted.items():
        key = key_of(result, name) or name
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merged(old, value)
        else:
            result[key] = value
    return result
