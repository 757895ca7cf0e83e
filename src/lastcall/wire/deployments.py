"""Deployments as ARM shows them, and what a request to deploy says."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from lastcall.engine.effects import Failure
from lastcall.engine.errors import InvalidRequestContentError
from lastcall.engine.operations import Operation, OperationStatus
from lastcall.engine.resources import Resource
from lastcall.wire.arm import is_secret, public
from lastcall.wire.envelope import encode_error
from lastcall.wire.paths import DEPLOYMENT_TYPE, Path, parse_path

Json = dict[str, Any]

SECURE: Final = frozenset({"securestring", "secureobject"})
MODES: Final = {"incremental": "Incremental", "complete": "Complete"}
STATES: Final = {
    OperationStatus.IN_PROGRESS: "Running",
    OperationStatus.SUCCEEDED: "Succeeded",
    OperationStatus.FAILED: "Failed",
}
# What is told when a resource failed; which one, and why, is in the details.
FAILED: Final = Failure(
    "DeploymentFailed",
    "At least one resource deployment operation failed. Please list deployment operations for"
    " details. Please see https://aka.ms/arm-deployment-operations for usage details.",
)
CODES: Final = {"Succeeded": "OK", "Running": "Accepted", "Failed": "Conflict"}


def parse_deployment(document: Mapping[str, Any]) -> tuple[Json, Json, str]:
    """Return template, parameters and mode of a request, or refuse."""
    properties = document.get("properties")
    if not isinstance(properties, dict):
        raise InvalidRequestContentError("The request content has no 'properties'.")
    for link in ("templateLink", "parametersLink"):
        if properties.get(link) is not None:
            raise InvalidRequestContentError(
                f"'{link}' is not supported: nothing is fetched from elsewhere. Send it inline."
            )
    template, parameters = properties.get("template"), properties.get("parameters")
    parameters = {} if parameters is None else parameters
    if not isinstance(template, dict) or not isinstance(parameters, dict):
        raise InvalidRequestContentError(
            "A deployment needs 'properties.template' and 'properties.parameters' as JSON objects."
        )
    mode = MODES.get(str(properties.get("mode", "Incremental")).lower())
    if mode is None:
        raise InvalidRequestContentError("The deployment mode is Incremental or Complete.")
    return template, parameters, mode


def without_secrets(template: Mapping[str, Any]) -> Json:
    """Return a template without the default values of secure parameters."""
    declared = template.get("parameters")
    if not isinstance(declared, Mapping):
        return dict(template)
    kept = {name: _without_secret(definition) for name, definition in declared.items()}
    return {**template, "parameters": kept}


def masked(changes: Iterable[Json]) -> list[Json]:
    """Return what would change without secrets; one that is written again is no change."""
    return [_masked(change) for change in changes]


def _masked(change: Json) -> Json:
    shown = {key: public(change[key]) for key in ("before", "after") if change.get(key)}
    told = {**change, **shown}
    if "delta" in change:
        told["delta"] = [one for one in change["delta"] if not _tells_secret(one)]
        if not told["delta"]:
            told.pop("delta")
            told["changeType"] = "NoChange"
    return told


def _tells_secret(delta: Json) -> bool:
    return is_secret(str(delta.get("path", "")).rpartition(".")[2])


def _without_secret(definition: Any) -> Any:
    if not isinstance(definition, Mapping):
        return definition
    is_secure = str(definition.get("type", "")).lower() in SECURE
    return {
        key: value
        for key, value in definition.items()
        if not (is_secure and key.lower() == "defaultvalue")
    }


def encode_deployment(
    deployment: Resource, operation: Operation, details: Sequence[Json], now: datetime
) -> Json:
    """Return a deployment as GET shows it."""
    content = deployment.content
    paths = [found for part in content.get("parts", []) if (found := parse_path(part["path"]))]
    properties: Json = {
        "provisioningState": STATES[operation.status],
        "correlationId": operation.id,
        "templateHash": content["hash"],
        "parameters": content.get("parameters", {}),
        "mode": content["mode"],
        "timestamp": (operation.ended_at or now).isoformat(),
        "duration": encode_span((operation.ended_at or now) - operation.started_at),
        "providers": list(_providers(paths)),
        "dependencies": [],
    }
    if operation.status is OperationStatus.SUCCEEDED:
        properties["outputs"] = content["outputs"]
        properties["outputResources"] = [{"id": path.text} for path in paths]
    if operation.failure is not None:
        properties["error"] = encode_failure(operation, details)
    return {
        "id": deployment.path,
        "name": deployment.name,
        "type": DEPLOYMENT_TYPE,
        "properties": properties,
    }


def encode_failure(operation: Operation, details: Sequence[Json]) -> Json:
    """Return why a deployment failed, with the failures of its resources."""
    failure = FAILED if details else operation.failure
    assert failure is not None, "asked only of what failed"
    error: Json = encode_error(failure.code, failure.message)["error"]
    return {**error, "details": list(details)} if details else error


def encode_detail(path: str, code: str, message: str) -> Json:
    """Return the failure of one resource."""
    return {"code": code, "target": path, "message": message}


def encode_part(
    deployment: Resource, path: Path, operation: Operation | None, error: Json, number: int
) -> Json:
    """Return a deployment's work on one resource."""
    state = "Failed" if error else "Succeeded" if operation is None else STATES[operation.status]
    name = f"{number:016X}"
    properties: Json = {
        "provisioningOperation": "Create",
        "provisioningState": state,
        "timestamp": deployment.content["timestamp"],
        "duration": "PT0S",
        "trackingId": deployment.operation,
        "statusCode": CODES[state],
        "targetResource": {
            "id": path.text,
            "resourceType": path.type,
            "resourceName": "/".join(path.names),
        },
    }
    if error:
        properties["statusMessage"] = {"status": "Failed", "error": error}
    return {
        "id": f"{deployment.path}/operations/{name}",
        "operationId": name,
        "properties": properties,
    }


def encode_validation(path: Path, mode: str, ids: Iterable[str]) -> Json:
    """Return that a template could be deployed, and what it would write."""
    return {
        "id": path.text,
        "name": path.name,
        "type": DEPLOYMENT_TYPE,
        "properties": {
            "provisioningState": "Succeeded",
            "mode": mode,
            "validatedResources": [{"id": one} for one in ids],
        },
    }


def encode_span(span: timedelta) -> str:
    """Return how long something took."""
    return f"PT{span.total_seconds():.7f}S"


def _providers(paths: Iterable[Path]) -> Iterable[Json]:
    types: dict[str, dict[str, None]] = {}
    for path in paths:
        namespace, _, kind = path.type.partition("/")
        types.setdefault(namespace, {})[kind] = None
    for namespace, kinds in types.items():
        yield {"namespace": namespace, "resourceTypes": [{"resourceType": kind} for kind in kinds]}
