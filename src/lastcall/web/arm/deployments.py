"""Deployments: accepted, followed, listed, checked beforehand."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from lastcall.app import deployments, resources
from lastcall.app.deployments import Asked, Part
from lastcall.app.kinds import Kinds
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.engine.errors import ResourceNotFoundError
from lastcall.engine.operations import OperationStatus
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import GROUP, SUBSCRIPTION, api_version, arm_route
from lastcall.web.errors import RETRY_AFTER, NotBuiltError
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list, encode_operation
from lastcall.wire.deployments import (
    encode_deployment,
    encode_detail,
    encode_failure,
    encode_part,
    encode_validation,
    parse_deployment,
)
from lastcall.wire.jsonc import parse_lenient
from lastcall.wire.paths import DEPLOYMENT_TYPE, Path, group_path, parse_path
from lastcall.wire.quoting import shown

Json = dict[str, Any]

DEPLOYMENTS: Final = f"{GROUP}/providers/{DEPLOYMENT_TYPE}"
DEPLOYMENT: Final = f"{DEPLOYMENTS}/{{deployment}}"
# Where older clients look for what a deployment has done.
OLD_DEPLOYMENT: Final = f"{GROUP}/deployments/{{deployment}}"


WHOLE: Final = f"{SUBSCRIPTION}/providers/{DEPLOYMENT_TYPE}/{{deployment}}"
NOT_BUILT: Final = (
    ("PUT", WHOLE),
    ("POST", f"{WHOLE}/validate"),
    ("POST", f"{WHOLE}/whatIf"),
    ("POST", f"{GROUP}/exportTemplate"),
)


class Deployments:
    """Handlers for `deployments`."""

    def __init__(self, platform: Platform, account: Account, kinds: Kinds) -> None:
        self._platform = platform
        self._account = account
        self._kinds = kinds

    async def write(self, call: Call) -> Response:
        """Deploy a template; how it went is told by its status."""
        asked = await self._asked(call)
        deployment, told = await self._platform.transact(
            lambda tx, moment: self._deployed(tx, asked, moment)
        )
        url = f"{call.base}{quote(deployment.path)}/operationStatuses/{deployment.operation}"
        headers = {
            "Azure-AsyncOperation": f"{url}?api-version={api_version(call)}",
            **RETRY_AFTER,
        }
        return json(told, 201, headers)

    async def show(self, call: Call) -> Response:
        """Show one deployment."""
        path = _path(call)
        return json(await self._platform.read(lambda r: self._shown(r, resources.known(r, path))))

    async def list_all(self, call: Call) -> Response:
        """List the deployments of a group."""
        subscription, group = call.names["subscription"], call.names["group"]
        found = await self._platform.read(lambda r: self._listed(r, subscription, group))
        return json(encode_list(found))

    async def delete(self, call: Call) -> Response:
        """Forget a deployment; what it wrote stays."""
        path = _path(call)
        await self._platform.transact(lambda tx, _: deployments.forget(tx, path))
        return Response(status_code=204)

    async def cancel(self, call: Call) -> Response:
        """Refuse to cancel: everything has been written when a deployment is first seen."""
        path = _path(call)
        await self._platform.read(lambda r: deployments.refuse_cancel(resources.known(r, path)))
        return Response(status_code=204)

    async def validate(self, call: Call) -> Response:
        """Say whether a template could be deployed."""
        asked = await self._asked(call)
        moment = self._platform.moment()
        planned = await self._platform.read(
            lambda r: deployments.plan(r, asked, self._kinds, moment)
        )
        ids = [one.id for one in planned.resources]
        return json(encode_validation(asked.path, asked.mode, ids))

    async def foresee(self, call: Call) -> Response:
        """Say what a deployment would change."""
        asked = await self._asked(call)
        moment = self._platform.moment()
        changes = await self._platform.read(
            lambda r: deployments.foresee(r, asked, self._kinds, moment)
        )
        return json({"status": "Succeeded", "properties": {"changes": changes}})

    async def export(self, call: Call) -> Response:
        """Give the template back."""
        path = _path(call)
        found = await self._platform.read(lambda r: resources.known(r, path))
        return json({"template": found.content["template"]})

    async def follow(self, call: Call) -> Response:
        """Show how a deployment stands."""
        path, wanted = _path(call), call.names["operation"]
        status = await self._platform.read(lambda r: _status(r, path, wanted))
        is_over = status["status"] != OperationStatus.IN_PROGRESS
        return json(status, headers=None if is_over else RETRY_AFTER)

    async def list_parts(self, call: Call) -> Response:
        """List what a deployment has done to each resource."""
        path = _path(call)
        parts = await self._platform.read(lambda r: _parts(r, resources.known(r, path)))
        return json(encode_list(parts))

    async def show_part(self, call: Call) -> Response:
        """Show what a deployment has done to one resource."""
        path, wanted = _path(call), call.names["part"]
        parts = await self._platform.read(lambda r: _parts(r, resources.known(r, path)))
        for part in parts:
            if part["operationId"] == wanted:
                return json(part)
        raise ResourceNotFoundError(f"The deployment operation '{shown(wanted)}' was not found.")

    async def _asked(self, call: Call) -> Asked:
        # The names in a template are its author's own.
        template, parameters, mode = parse_deployment(parse_lenient(await call.body()))
        return Asked(
            path=_path(call),
            tenant=self._account.tenant,
            template=template,
            parameters=parameters,
            mode=mode,
        )

    def _deployed(self, tx: Transaction, asked: Asked, moment: Moment) -> tuple[Resource, Json]:
        deployment = deployments.deploy(tx, asked, self._kinds, moment)
        told = self._shown(tx, deployment)
        # Clients look at the status next, whatever this says.
        told["properties"] |= {"provisioningState": "Accepted"}
        return deployment, told

    def _shown(self, reader: Reader, deployment: Resource) -> Json:
        operation = deployments.operation_of(reader, deployment)
        details = _details(reader, deployment)
        return encode_deployment(deployment, operation, details, self._platform.clock.now())

    def _listed(self, reader: Reader, subscription: str, group: str) -> list[Json]:
        resources.demand_group(reader, group_path(subscription, group))
        found = reader.resources(kind=DEPLOYMENT_TYPE.lower(), group=group.lower())
        return [self._shown(reader, deployment) for deployment in found]


async def _refuse(call: Call) -> Response:
    body = await call.body()
    if body.strip() or call.method == "PUT":
        parse_lenient(body)
    raise NotBuiltError(
        "Templates are deployed to resource groups only, and groups are not made into templates."
    )


def _path(call: Call) -> Path:
    names = call.names
    return Path(
        subscription=names["subscription"],
        group=names["group"],
        type=DEPLOYMENT_TYPE,
        names=(names["deployment"],),
    )


def _status(reader: Reader, path: Path, wanted: str) -> Json:
    deployment = resources.known(reader, path)
    operation = deployments.operation_of(reader, deployment)
    if operation.id != wanted.lower():
        raise ResourceNotFoundError(f"The deployment operation '{shown(wanted)}' was not found.")
    status = encode_operation(operation)
    if operation.failure is not None and operation.is_over:
        status["error"] = encode_failure(operation, _details(reader, deployment))
    return status


def _details(reader: Reader, deployment: Resource) -> list[Json]:
    return [
        encode_detail(part.path, part.code, part.message)
        for part in deployments.parts_of(reader, deployment)
        if part.code
    ]


def _parts(reader: Reader, deployment: Resource) -> list[Json]:
    return [
        _part(reader, deployment, part, number)
        for number, part in enumerate(deployments.parts_of(reader, deployment))
    ]


def _part(reader: Reader, deployment: Resource, part: Part, number: int) -> Json:
    path = parse_path(part.path)
    assert path is not None, "a part is a resource"
    error = encode_detail(part.path, part.code, part.message) if part.code else {}
    return encode_part(deployment, path, deployments.awaited(reader, part), error, number)


def routes(platform: Platform, account: Account, kinds: Kinds) -> Iterator[Route]:
    """Yield every operation on deployments."""
    handlers = Deployments(platform, account, kinds)
    route = partial(arm_route, account)
    yield route("GET", DEPLOYMENTS, handlers.list_all, "List the deployments of a group")
    yield route("PUT", DEPLOYMENT, handlers.write, "Deploy a template", (201,))
    yield route("GET", DEPLOYMENT, handlers.show, "Show a deployment")
    yield route("DELETE", DEPLOYMENT, handlers.delete, "Forget a deployment", (204,))
    yield route("POST", f"{DEPLOYMENT}/validate", handlers.validate, "Check a template")
    yield route("POST", f"{DEPLOYMENT}/whatIf", handlers.foresee, "Foresee a deployment")
    yield route("POST", f"{DEPLOYMENT}/cancel", handlers.cancel, "Cancel a deployment", (204,))
    export = f"{DEPLOYMENT}/exportTemplate"
    yield route("POST", export, handlers.export, "Give the template of a deployment back")
    status = f"{DEPLOYMENT}/operationStatuses/{{operation}}"
    yield route("GET", status, handlers.follow, "Follow a deployment")
    for method, place in NOT_BUILT:
        yield route(method, place, _refuse, "Not implemented: only groups are deployed to", ())
    for where in (DEPLOYMENT, OLD_DEPLOYMENT):
        parts = f"{where}/operations"
        yield route("GET", parts, handlers.list_parts, "List a deployment's resources")
        yield route("GET", f"{parts}/{{part}}", handlers.show_part, "Show one of them")
