"""The parameters of a template: what was given, checked, or what is there by default."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from lastcall.engine.limits import TEMPLATE_PARAMETERS_MAX
from lastcall.wire.quoting import shown
from lastcall.wire.templates.documents import known
from lastcall.wire.templates.faults import ExpressionError, ShapeError, UnsupportedError
from lastcall.wire.templates.scope import Scope, Section
from lastcall.wire.templates.shapes import entry, refuse_many, section
from lastcall.wire.templates.values import Json, Kind, identity, kind_of, member, text_of

# The types of parameters and outputs, by their names in lower case: the kind, and Azure's spelling.
TYPES: Final = {
    "string": (Kind.STRING, "String"),
    "securestring": (Kind.STRING, "SecureString"),
    "int": (Kind.INTEGER, "Int"),
    "bool": (Kind.BOOLEAN, "Bool"),
    "object": (Kind.OBJECT, "Object"),
    "secureobject": (Kind.OBJECT, "SecureObject"),
    "array": (Kind.ARRAY, "Array"),
}


class Parameter(Struct, frozen=True):
    """What a template says about a parameter."""

    name: str
    kind: Kind
    type_name: str
    definition: Mapping[str, Json]

    @property
    def is_secure(self) -> bool:
        """Whether its value must not be shown."""
        return self.type_name.startswith("Secure")

    @property
    def is_nullable(self) -> bool:
        """Whether it may be left out without a default value."""
        return member(self.definition, "nullable") is True


def type_of(definition: Mapping[str, Json]) -> tuple[Kind, str]:
    """Return the kind and the name of the type that a parameter or an output has."""
    name = member(definition, "type")
    if not isinstance(name, str) or name.lower() not in TYPES:
        wanted = ", ".join(spelling for _, spelling in TYPES.values())
        raise ShapeError(f"The type '{shown(text_of(name))}' is not one of {wanted}")
    return TYPES[name.lower()]


def declared(template: Mapping[str, Json]) -> dict[str, Parameter]:
    """Return the parameters that a template has, by their names in lower case."""
    definitions = section(template, "parameters")
    refuse_many("parameters", len(definitions), TEMPLATE_PARAMETERS_MAX)
    result = {}
    for name in definitions:
        try:
            definition = entry(definitions, name)
            result[name.lower()] = Parameter(name, *type_of(definition), definition)
        except ExpressionError as error:
            raise error.under(f"parameters.{name}") from None
    return result


def section_of(
    parameters: Mapping[str, Parameter], given: Mapping[str, Json], scope: Callable[[], Scope]
) -> Section:
    """Return the values of parameters; a default may ask for other parameters."""
    values = {key.lower(): _given(key, value) for key, value in given.items()}
    _refuse_unknown(parameters, given)

    def make(parameter: Parameter) -> Callable[[], Json]:
        def made() -> Json:
            try:
                return _value(parameter, values.get(parameter.name.lower()), scope())
            except ExpressionError as error:
                raise error.under(f"parameters.{parameter.name}") from None

        return made

    return Section("parameter", {key: make(value) for key, value in parameters.items()})


def _given(name: str, value: Json) -> Json:
    if isinstance(value, dict) and "value" in value:
        return value["value"]
    if isinstance(value, dict) and "reference" in value:
        raise UnsupportedError(
            f"The template parameter '{shown(name)}' refers to a key vault, which is not supported."
        )
    raise ShapeError(
        f"The value for the template parameter '{shown(name)}' is not given as an object with the"
        " member 'value'"
    )


def _refuse_unknown(parameters: Mapping[str, Parameter], given: Mapping[str, Json]) -> None:
    unknown = [name for name in given if name.lower() not in parameters]
    if unknown:
        defined = ", ".join(parameter.name for parameter in parameters.values())
        raise ShapeError(
            "The following parameters were supplied, but do not correspond to any parameters"
            f" defined in the template: '{shown(', '.join(unknown))}'. The parameters defined in"
            f" the template are: '{shown(defined)}'"
        )


def _value(parameter: Parameter, given: Json, scope: Scope) -> Json:
    value = given
    if value is None:
        default = member(parameter.definition, "defaultValue")
        if default is not None:
            value = _default(default, scope)
    if value is None:
        if parameter.is_nullable:
            return None
        raise ShapeError(f"The value for the template parameter '{parameter.name}' is not provided")
    _refuse_value(parameter, value)
    return value


def _default(default: Json, scope: Scope) -> Json:
    try:
        return known(default, scope)
    except ExpressionError as error:
        raise error.within("defaultValue") from None


def _refuse_value(parameter: Parameter, value: Json) -> None:
    start = f"The provided value for the template parameter '{parameter.name}' is not valid."
    if kind_of(value) is not parameter.kind:
        raise ShapeError(
            f"{start} Expected a value of type '{parameter.kind}', but received a value of type"
            f" '{kind_of(value)}'"
        )
    _refuse_other(parameter, value, start)
    if isinstance(value, int):
        _refuse_range(parameter, value, "Value", f"{start} The value")
    elif isinstance(value, str | list):
        _refuse_range(parameter, len(value), "Length", f"{start} The length of the value")


def _refuse_other(parameter: Parameter, value: Json, start: str) -> None:
    allowed = member(parameter.definition, "allowedValues")
    if allowed is None:
        return
    if not isinstance(allowed, list):
        raise ShapeError("'allowedValues' is not an array")
    choices = {_folded(choice) for choice in allowed}
    # An array may be one of the choices, or made of them.
    parts = value if isinstance(value, list) and _folded(value) not in choices else [value]
    if not all(_folded(part) in choices for part in parts):
        shown_value = "" if parameter.is_secure else f" '{shown(text_of(value))}'"
        listed = shown(",".join(map(text_of, allowed)))
        raise ShapeError(
            f"{start} The value{shown_value} is not part of the allowed value(s): '{listed}'"
        )


def _folded(value: Json) -> bytes:
    return identity(value.lower() if isinstance(value, str) else value)


def _refuse_range(parameter: Parameter, number: int, noun: str, start: str) -> None:
    bounds = []
    for name in (f"min{noun}", f"max{noun}"):
        bound = member(parameter.definition, name)
        if bound is not None and type(bound) is not int:
            raise ShapeError(f"'{name}' is of type '{kind_of(bound)}', not 'Integer'")
        bounds.append(bound)
    least, most = bounds
    if least is not None and number < least:
        raise ShapeError(f"{start} is less than the minimum of {least}")
    if most is not None and number > most:
        raise ShapeError(f"{start} is more than the maximum of {most}")
