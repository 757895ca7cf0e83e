"""The parts of a template before their expressions are evaluated: present, of the right kind."""

from collections.abc import Mapping
from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ShapeError, UnsupportedError
from lastcall.wire.templates.values import Json, key_of, kind_of, member

MEMBERS: Final = frozenset(
    (
        *("$schema", "languageversion", "contentversion", "apiprofile", "metadata", "definitions"),
        *("functions", "parameters", "variables", "resources", "outputs"),
    )
)
REQUIRED: Final = ("$schema", "contentVersion", "resources")
SCOPES: Final = {
    "subscriptiondeploymenttemplate": "a subscription",
    "managementgroupdeploymenttemplate": "a management group",
    "tenantdeploymenttemplate": "a tenant",
}


def refuse_template(template: Mapping[str, Json]) -> None:
    """Refuse what is no template for a resource group."""
    for name in template:
        if name.lower() not in MEMBERS:
            raise ShapeError(f"Could not find member '{shown(name)}' on object of type 'Template'")
    for name in REQUIRED:
        if member(template, name) is None:
            raise ShapeError(f"Required property '{name}' not found in the template")
    schema = member(template, "$schema")
    for name, scope in SCOPES.items():
        if isinstance(schema, str) and name in schema.lower():
            raise UnsupportedError(
                f"The template is for {scope}; only deployments to a resource group are supported."
            )


def section(owner: Mapping[str, Json], name: str) -> dict[str, Json]:
    """Return a member that is an object with distinct names, empty if it is not there."""
    value = member(owner, name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ShapeError(f"'{name}' is of type '{kind_of(value)}', not 'Object'").within(name)
    seen: set[str] = set()
    for key in value:
        if key.lower() in seen:
            raise ShapeError(f"The name '{shown(key)}' is used twice").within(name)
        seen.add(key.lower())
    return value


def refuse_many(noun: str, count: int, most: int) -> None:
    """Refuse more of something than a template may have."""
    if count > most:
        raise ShapeError(
            f"The number of template {noun} limit exceeded. Limit: '{most}' and actual count:"
            f" '{count}'"
        )


def entry(owner: Mapping[str, Json], name: str) -> dict[str, Json]:
    """Return a member that has to be an object."""
    value = owner[name]
    if not isinstance(value, dict):
        raise ShapeError(f"It is of type '{kind_of(value)}', not 'Object'")
    return value


def without(owner: Mapping[str, Json], *names: str) -> dict[str, Json]:
    """Return an object without some members, in whatever case these are written."""
    dropped = {key_of(owner, name) for name in names}
    return {key: value for key, value in owner.items() if key not in dropped}
