"""Microsoft's descriptions of the compute provider, as something that answers are held against."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

DATA = Path(__file__).parents[3] / "shared" / "spec" / "data"
OLD, NEW = "2019-03-01", "2024-07-01"
VERSIONS = (OLD, NEW)
FILES = {
    OLD: ("arm_compute_2019-03-01_compute.json",),
    NEW: (
        "arm_compute_2024-07-01_virtualMachineScaleSet.json",
        "arm_compute_2024-07-01_computeRPCommon.json",
    ),
}
NAME = re.compile(r"\{[^}]*\}")
needs_data = pytest.mark.skipif(
    not DATA.exists(), reason="the folder with the vendor's OpenAPI files is not here"
)

# What the recorded answers of 2019-03-01 have although its description does not.
RECORDED = frozenset({"allowExtensionOperations", "requireGuestProvisionSignal"})


def operations(version: str) -> set[tuple[str, str]]:
    """Return method and path of every operation on scale sets, names and case taken out."""
    return {
        (method.upper(), normal(path))
        for name in FILES[version]
        for path, item in _read(name)["paths"].items()
        for method in item
        if method != "parameters" and "virtualmachinescalesets" in path.lower()
    }


def responses(version: str, method: str, path: str) -> Any:
    """Return the declared answers of one operation."""
    for name in FILES[version]:
        for written, item in _read(name)["paths"].items():
            if normal(written) == normal(path) and method.lower() in item:
                return item[method.lower()]["responses"]
    raise KeyError(path)


def normal(path: str) -> str:
    return NAME.sub("{}", path).lower()


def check(version: str, name: str, value: Any) -> None:
    """Hold an answer against a definition: types and words fit, and no member is unknown."""
    schema = {"$ref": f"#/definitions/{name}", "definitions": _schemas(version)}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    assert [error.message for error in errors] == []
    assert unknown(version, {"$ref": f"#/definitions/{name}"}, value) == []
    assert empties(value) == []


def empties(value: Any, path: str = "") -> list[str]:
    """Return where an object says nothing: clients would take it for a difference."""
    if isinstance(value, list):
        return [found for item in value for found in empties(item, f"{path}[]")]
    if not isinstance(value, dict):
        return []
    if not value:
        # R65, and tags that were given so.
        return [] if path.endswith((".scheduledEventsProfile", ".tags", ".settings")) else [path]
    return [found for key, item in value.items() for found in empties(item, f"{path}.{key}")]


def unknown(version: str, schema: Any, value: Any, path: str = "") -> list[str]:
    """Return the members of a value that its definition does not have."""
    schema = _resolved(version, schema)
    if isinstance(value, list):
        inner = schema.get("items", {})
        return [found for item in value for found in unknown(version, inner, item, f"{path}[]")]
    if not isinstance(value, dict):
        return []
    known = _properties(version, schema)
    if not known or "additionalProperties" in schema:
        return []
    found = []
    for key, item in value.items():
        if key in known:
            found += unknown(version, known[key], item, f"{path}.{key}")
        elif key not in RECORDED:
            found.append(f"{path}.{key}")
    return found


@cache
def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text())


@cache
def _schemas(version: str) -> Any:
    """Return every definition; those of files that are not here are taken from the older one."""
    found = dict(_read(FILES[OLD][0])["definitions"])
    for name in reversed(FILES[version]):
        found |= _read(name)["definitions"]
    return {name: _converted(schema) for name, schema in found.items()}


def _converted(schema: Any) -> Any:
    """Return a Swagger schema as JSON Schema: local references, open words, nulls where said."""
    if isinstance(schema, list):
        return [_converted(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": f"#/definitions/{schema['$ref'].rpartition('/')[2]}"}
    result = {key: _converted(item) for key, item in schema.items() if key != "example"}
    if schema.get("x-ms-enum", {}).get("modelAsString"):
        result.pop("enum", None)
    if result.get("format") in ("int32", "int64", "date-time"):
        del result["format"]
    if schema.get("x-nullable"):
        result["type"] = [schema["type"], "null"]
    return result


def _resolved(version: str, schema: Any) -> Any:
    while "$ref" in schema:
        schema = _schemas(version)[schema["$ref"].rpartition("/")[2]]
    return schema


def _properties(version: str, schema: Any) -> dict[str, Any]:
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", ()):
        found |= _properties(version, _resolved(version, part))
    return found
