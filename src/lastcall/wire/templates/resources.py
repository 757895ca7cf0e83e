"""The resources of a template: loops unrolled, children beside their parents, heads evaluated."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from lastcall.engine.limits import TEMPLATE_RESOURCES_MAX
from lastcall.wire.quoting import shown
from lastcall.wire.templates.catalog import Head
from lastcall.wire.templates.documents import known, loop_name, turns_of
from lastcall.wire.templates.faults import ExpressionError, ShapeError, UnsupportedError
from lastcall.wire.templates.identifiers import relative_id
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.shapes import refuse_many, without
from lastcall.wire.templates.values import Json, kind_of, member

# What tells how to deploy a resource, and is no part of it.
CONTROL: Final = (
    *("name", "type", "apiVersion", "dependsOn", "condition", "resources", "comments", "scope"),
    *("location", "existing", "metadata", "copy"),
)


class _Place(Struct, frozen=True):
    """Where a definition stands: in the template, and inside another resource."""

    path: str
    scope: Scope
    parent: Head | None = None
    symbol: str | None = None


def heads_of(template: Mapping[str, Json], scope: Scope) -> list[Head]:
    """Return every resource of a template, those whose condition does not hold included."""
    heads: list[Head] = []
    for head in _heads(_placed(member(template, "resources"), scope)):
        heads.append(head)
        refuse_many("resources", len(heads), TEMPLATE_RESOURCES_MAX)
    return heads


def body_of(head: Head) -> dict[str, Json]:
    """Return what the template says about a resource itself, not evaluated."""
    body = without(head.definition, *CONTROL)
    return body if head.location is None else {"location": head.location, **body}


def _placed(resources: Json, scope: Scope) -> Iterator[tuple[Json, _Place]]:
    if isinstance(resources, dict):
        # Language version 2.0: resources have symbols.
        for symbol, definition in resources.items():
            yield definition, _Place(f"resources.{symbol}", scope, symbol=symbol)
        return
    if not isinstance(resources, list):
        raise ShapeError("'resources' is neither an array nor an object").under("resources")
    for index, definition in enumerate(resources):
        yield definition, _Place(f"resources[{index}]", scope)


def _heads(placed: Iterable[tuple[Json, _Place]]) -> Iterator[Head]:
    for definition, place in placed:
        try:
            if not isinstance(definition, dict):
                raise ShapeError(f"A resource is of type '{kind_of(definition)}', not 'Object'")
            yield from _expanded(definition, place)
        except ExpressionError as error:
            raise error.under(place.path) from None


def _expanded(definition: dict[str, Json], place: _Place) -> Iterator[Head]:
    copy = member(definition, "copy")
    if copy is None:
        yield from _family(definition, place, ())
        return
    if not isinstance(copy, dict):
        raise ShapeError(f"The copy loop of a resource is of type '{kind_of(copy)}', not 'Object'")
    if place.parent is not None:
        raise ShapeError("A resource inside another one can't have a copy loop")
    name = loop_name(copy)
    batches = _batch_size(copy, place.scope)
    before: list[str] = []
    batch: list[str] = []
    for index in turns_of(copy, place.scope):
        if batches and index % batches == 0:
            before, batch = batch, []
        copied = msgspec.structs.replace(place, scope=place.scope.in_copy(name, index))
        aliases = (name, *((f"{place.symbol}[{index}]",) if place.symbol else ()))
        for head in _family(definition, copied, aliases):
            batch.append(head.id)
            yield msgspec.structs.replace(head, dependencies=(*head.dependencies, *before))


def _batch_size(copy: Mapping[str, Json], scope: Scope) -> int:
    """Return how many copies are made at a time; 0 is all of them."""
    mode = member(copy, "mode", "parallel")
    if not isinstance(mode, str) or mode.lower() not in {"parallel", "serial"}:
        raise ShapeError("The 'mode' of a copy loop is neither 'parallel' nor 'serial'")
    size = known(member(copy, "batchSize", 1), scope)
    if type(size) is not int or size < 1:
        raise ShapeError("The 'batchSize' of a copy loop is not a number from 1")
    return size if mode.lower() == "serial" else 0


def _family(definition: dict[str, Json], place: _Place, aliases: tuple[str, ...]) -> Iterator[Head]:
    """Yield a resource and those that are defined inside it."""
    head = _head(definition, place, (*aliases, *((place.symbol,) if place.symbol else ())))
    yield head
    children = member(definition, "resources", [])
    if not isinstance(children, list):
        raise ShapeError("The 'resources' of a resource are not an array")
    with place.scope.budget:
        yield from _heads(
            (child, _Place(f"{place.path}.resources[{index}]", place.scope, parent=head))
            for index, child in enumerate(children)
        )


def _head(definition: dict[str, Json], place: _Place, aliases: tuple[str, ...]) -> Head:
    if member(definition, "scope") is not None:
        raise UnsupportedError(
            "The resource has a 'scope'; only resources of the resource group are supported."
        )
    kind = _text(definition, "type", place.scope)
    name = _text(definition, "name", place.scope)
    parent = place.parent
    if parent is not None:
        kind, name = f"{parent.type}/{kind}", f"{parent.name}/{name}"
    location = _control(definition, "location", place.scope)
    if not isinstance(location, str | None):
        raise ShapeError(f"The location of the resource '{shown(name)}' is not a string")
    is_existing = member(definition, "existing") is True
    return Head(
        id=f"{place.scope.context.group.id}/providers/{relative_id(kind, name)}",
        type=kind,
        name=name,
        api_version=_text(definition, "apiVersion", place.scope),
        location=location,
        aliases=aliases,
        is_wanted=_condition(definition, place.scope) and not is_existing,
        is_existing=is_existing,
        path=place.path,
        definition=definition,
        scope=place.scope,
        dependencies=_dependencies(definition, place.scope),
    )


def _text(definition: Mapping[str, Json], name: str, scope: Scope) -> str:
    value = _control(definition, name, scope)
    if not isinstance(value, str) or not value:
        raise ShapeError(f"The resource has no '{name}' that is a string")
    return value


def _condition(definition: Mapping[str, Json], scope: Scope) -> bool:
    value = _control(definition, "condition", scope, default=True)
    if not isinstance(value, bool):
        raise ShapeError(f"The condition of the resource is of type '{kind_of(value)}'")
    return value


def _dependencies(definition: Mapping[str, Json], scope: Scope) -> tuple[str, ...]:
    value = _control(definition, "dependsOn", scope, default=[])
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise ShapeError("'dependsOn' is not an array of strings")
    return tuple(value)


def _control(definition: Mapping[str, Json], name: str, scope: Scope, default: Json = None) -> Json:
    """Return a member that has to be known before anything is deployed."""
    try:
        return known(member(definition, name, default), scope)
    except ExpressionError as error:
        raise error.within(name) from None
