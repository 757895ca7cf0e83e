"""The outputs of a deployment, named and shaped as Azure's answers have them."""

from collections.abc import Mapping

from lastcall.engine.limits import TEMPLATE_OUTPUTS_MAX
from lastcall.wire.templates.documents import Unresolved, known, turns_of, walk
from lastcall.wire.templates.faults import ExpressionError, ShapeError
from lastcall.wire.templates.parameters import type_of
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.shapes import entry, refuse_many, section
from lastcall.wire.templates.values import Json, Kind, kind_of, member


def camel_case(name: str) -> str:
    """Return a name as Azure's serializer writes it: VMSS is vmss, URLValue is urlValue."""
    characters = list(name)
    for index, character in enumerate(characters):
        if not character.isupper():
            break
        following = characters[index + 1] if index + 1 < len(characters) else ""
        if index > 0 and following and not following.isupper():
            # The capital that begins the next word stays, unless what follows is a space.
            if following.isspace():
                characters[index] = character.lower()
            break
        characters[index] = character.lower()
    return "".join(characters)


def outputs_of(template: Mapping[str, Json], scope: Scope) -> dict[str, Json]:
    """Return the outputs of a template; a value may be left unresolved."""
    definitions = section(template, "outputs")
    refuse_many("outputs", len(definitions), TEMPLATE_OUTPUTS_MAX)
    result = {}
    for name in definitions:
        try:
            definition = entry(definitions, name)
            if _is_wanted(definition, scope):
                result[camel_case(name)] = _output(definition, scope)
        except ExpressionError as error:
            raise error.under(f"outputs.{name}") from None
    return result


def refuse_kind(output: Mapping[str, Json], value: Json) -> None:
    """Refuse a value of another kind than its output has."""
    kind = type_of(output)[0]
    if kind_of(value) not in kind:
        raise ShapeError(
            f"The value of the output is of type '{kind_of(value)}', and its declared type is"
            f" '{output['type']}'"
        )


def _is_wanted(definition: Mapping[str, Json], scope: Scope) -> bool:
    value = known(member(definition, "condition", default=True), scope)
    if not isinstance(value, bool):
        raise ShapeError(f"The condition of the output is of type '{kind_of(value)}'")
    return value


def _output(definition: Mapping[str, Json], scope: Scope) -> Json:
    _, type_name = type_of(definition)
    value = _value(definition, scope)
    shape = {"type": type_name}
    if not isinstance(value, Unresolved) and not _is_allowed_null(definition, value):
        refuse_kind(shape, value)
    return {**shape, "value": value}


def _value(definition: Mapping[str, Json], scope: Scope) -> Json:
    copy = member(definition, "copy")
    if copy is None:
        return _walked("value", member(definition, "value"), scope)
    if not isinstance(copy, dict):
        raise ShapeError("The copy loop of the output is not an object")
    given = member(copy, "input")
    return [_walked("copy.input", given, scope.in_copy("", turn)) for turn in turns_of(copy, scope)]


def _walked(step: str, value: Json, scope: Scope) -> Json:
    try:
        return walk(value, scope)
    except ExpressionError as error:
        raise error.within(step) from None


def _is_allowed_null(definition: Mapping[str, Json], value: Json) -> bool:
    return kind_of(value) is Kind.NULL and member(definition, "nullable") is True
