"""The vendor's descriptions of the monitoring provider, where they are at hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

DATA = Path(__file__).parents[3] / "shared" / "spec" / "data"


def validator(file: str, definition: str) -> Draft4Validator:
    """Return what checks a body against a definition of one of the vendor's files."""
    path = DATA / file
    if not path.exists():
        pytest.skip(f"The vendor's file {file} is not here.")
    definitions = _without_other_files(json.loads(path.read_text())["definitions"])
    schema = {"$ref": f"#/definitions/{definition}", "definitions": definitions}
    return Draft4Validator(schema)


def _without_other_files(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_other_files(item) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        return {}
    return {key: _without_other_files(item) for key, item in value.items()}
