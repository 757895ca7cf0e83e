"""JSON with expressions in it: evaluated as far as possible, finished while deploying."""

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from lastcall.engine.limits import TEMPLATE_COPIES_MAX
from lastcall.wire.templates.evaluator import evaluate
from lastcall.wire.templates.faults import ExpressionError, ShapeError
from lastcall.wire.templates.parser import parse_text
from lastcall.wire.templates.scope import Budget, Runtime, Scope
from lastcall.wire.templates.values import LATE, Json, Kind, kind_of, member


class Unresolved(Struct, frozen=True):
    """An expression that stays until what it refers to is deployed."""

    text: str
    scope: Scope


def walk(value: Json, scope: Scope) -> Json:
    """Return JSON with its expressions evaluated; those that are LATE stay as Unresolved."""
    if isinstance(value, dict | list):
        with scope.budget:
            return _array(value, scope) if isinstance(value, list) else _object(value, scope)
    if isinstance(value, str):
        result = evaluate(parse_text(value), scope)
        if result is LATE:
            return Unresolved(value, scope)
        value = result
    scope.budget.spend(value)
    return value


def _array(items: list[Json], scope: Scope) -> list[Json]:
    result = []
    for index, item in enumerate(items):
        try:
            result.append(walk(item, scope))
        except ExpressionError as error:
            raise error.within(index) from None
    return result


def _object(members: dict[str, Json], scope: Scope) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for key, value in members.items():
        try:
            if key.lower() == "copy" and is_loops(value):
                result |= _loops(value, scope)
            else:
                result[_name(key, scope)] = walk(value, scope)
        except ExpressionError as error:
            raise error.within(key) from None
    return result


def _name(key: str, scope: Scope) -> str:
    if not key.startswith("["):
        scope.budget.spend(key)
        return key
    name = evaluate(parse_text(key), scope)
    if not isinstance(name, str):
        raise ExpressionError("The name of a property is not a string that is known by now.")
    return name


def is_loops(value: Json) -> bool:
    """Whether the value of `copy` is a list of loops, and not a property of that name."""
    return isinstance(value, list) and all(
        isinstance(loop, dict) and {"name", "input"} <= {key.lower() for key in loop}
        for loop in value
    )


def _loops(loops: list[dict[str, Json]], scope: Scope) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for index, loop in enumerate(loops):
        try:
            name = loop_name(loop)
            result[name] = loop_items(loop, scope, name)
        except ExpressionError as error:
            raise error.within(index) from None
    return result


def loop_name(loop: dict[str, Json]) -> str:
    """Return the name of a loop, or refuse."""
    name = member(loop, "name")
    if not isinstance(name, str) or not name:
        raise ShapeError("The 'name' of a copy loop is a string that is not empty")
    return name


def loop_items(loop: dict[str, Json], scope: Scope, name: str) -> list[Json]:
    """Return what each turn of a loop over properties or variables makes."""
    given = member(loop, "input")
    turns = turns_of(loop, scope)
    return [_turn(given, scope.in_loop(name, index)) for index in turns]


def _turn(given: Json, scope: Scope) -> Json:
    try:
        return walk(given, scope)
    except ExpressionError as error:
        raise error.within("input") from None


def turns_of(loop: dict[str, Json], scope: Scope) -> range:
    """Return the turns of a loop, or refuse its count."""
    try:
        count = known(member(loop, "count"), scope)
    except ExpressionError as error:
        raise error.within("count") from None
    if kind_of(count) is not Kind.INTEGER:
        raise ShapeError(f"The 'count' of a copy loop is of type '{kind_of(count)}', not 'Integer'")
    if not 0 <= count <= TEMPLATE_COPIES_MAX:
        raise ShapeError(
            f"The 'count' of a copy loop is {count}, not between 0 and {TEMPLATE_COPIES_MAX}"
        )
    return range(count)


def known(value: Json, scope: Scope) -> Json:
    """Return JSON with its expressions evaluated, where nothing may be left for later."""
    # Without a runtime, reference() is refused.
    return walk(value, msgspec.structs.replace(scope, runtime=None))


def finished(value: Json, runtime: Runtime) -> Json:
    """Return a copy of evaluated JSON in which nothing is left unresolved."""
    budget = Budget()

    def resolve(left: Unresolved) -> Json:
        scope = msgspec.structs.replace(left.scope, runtime=runtime, budget=budget)
        result = evaluate(parse_text(left.text), scope)
        assert result is not LATE, "the runtime knows the state by now"
        return result

    return rebuilt(value, resolve)


def displayed(value: Json) -> Json:
    """Return a copy of evaluated JSON in which what is unresolved is shown as it was written."""
    return rebuilt(value, lambda left: left.text)


def rebuilt(value: Json, replace: Callable[[Unresolved], Json]) -> Json:
    """Return a copy of evaluated JSON that shares nothing, with what is unresolved replaced."""
    if isinstance(value, Unresolved):
        return rebuilt(replace(value), replace)
    if isinstance(value, dict):
        return dict(_rebuilt(value.items(), replace))
    if isinstance(value, list):
        return [item for _, item in _rebuilt(enumerate(value), replace)]
    return value


def _rebuilt(
    parts: Iterable[tuple[str | int, Json]], replace: Callable[[Unresolved], Json]
) -> Iterable[tuple[str | int, Json]]:
    for step, part in parts:
        try:
            yield step, rebuilt(part, replace)
        except ExpressionError as error:
            raise error.within(step) from None


def is_resolved(value: Json) -> bool:
    """Whether nothing in evaluated JSON is left for later."""
    if isinstance(value, dict):
        return all(map(is_resolved, value.values()))
    if isinstance(value, list):
        return all(map(is_resolved, value))
    return not isinstance(value, Unresolved)
