"""The description of our own API, made from the very table that answers it."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import Response

from lastcall import __version__
from lastcall.web.admin.bodies import ROOT
from lastcall.web.routing import Call, Route, json

Json = dict[str, Any]
Schemas = dict[Any, Json]
REFERENCE: Final = "#/components/schemas/{name}"


class ErrorDetail(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    code: str
    message: str
    target: str | None = None


class ErrorEnvelope(msgspec.Struct, frozen=True):
    """How every refusal looks."""

    error: ErrorDetail


def describe(routes: Sequence[Route]) -> Json:
    """Return the OpenAPI description of these routes."""
    bodies = [kind for route in routes for kind in (route.takes, route.gives) if kind is not None]
    kinds = list(dict.fromkeys([*bodies, ErrorEnvelope]))
    references, schemas = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    schema_of = dict(zip(kinds, references, strict=True))
    paths: Json = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "lastcall", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def route(routes: Sequence[Route]) -> Route:
    """Return the route that describes the others and itself."""
    described: list[Route] = [*routes]

    async def show(_call: Call) -> Response:
        return json(describe(described))

    own = Route(
        method="GET", path=f"{ROOT}/openapi.json", handler=show, summary="Describe this API"
    )
    described.append(own)
    return own


def _operation(route: Route, schema_of: Schemas) -> Json:
    operation: Json = {
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": {
            **{str(status): _answer(status, route, schema_of) for status in route.answers},
            "default": {
                "description": "Refused",
                "content": _content(schema_of[ErrorEnvelope]),
            },
        },
    }
    if route.takes is not None:
        operation["requestBody"] = {"required": True, "content": _content(schema_of[route.takes])}
    return operation


def _parameters(route: Route) -> list[Json]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]
    in_query = [
        {"name": p.name, "in": "query", "description": p.text, "schema": {"type": p.type}}
        for p in route.query
    ]
    return in_path + in_query


def _answer(status: int, route: Route, schema_of: Schemas) -> Json:
    answer: Json = {"description": HTTPStatus(status).phrase}
    if route.gives is not None:
        answer["content"] = _content(schema_of[route.gives])
    return answer


def _content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
