"""Long-running operations, followed by their status or by their outcome (R96-R99)."""

from collections.abc import Iterator

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.engine.errors import InstanceNotFoundError, ResourceNotFoundError
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import SUBSCRIPTION, accepted, arm_route
from lastcall.web.errors import JSON, RETRY_AFTER
from lastcall.web.routing import Call, Route
from lastcall.wire.arm import encode_operation
from lastcall.wire.bodies import encode_pretty
from lastcall.wire.envelope import encode_error


class Operations:
    """Handlers for `locations/operations`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def follow(self, call: Call) -> Response:
        """Show how an operation stands, or with `monitor=true` answer as its request would."""
        is_monitor, names = call.flag("monitor"), call.names
        operation = await self._platform.read(
            lambda r: _operation(r, names["operation"], names["location"])
        )
        return _outcome(call, operation) if is_monitor else _status(operation)


def known_operation(reader: Reader, operation_id: str) -> Operation:
    """Return an operation, or refuse one that never was or is no longer known."""
    try:
        return reader.operation(OperationId(operation_id.lower()))
    except ResourceNotFoundError:
        raise InstanceNotFoundError from None


def _operation(reader: Reader, operation_id: str, location: str) -> Operation:
    operation = known_operation(reader, operation_id)
    if operation.location.lower() != location.lower():
        raise InstanceNotFoundError
    return operation


def _status(operation: Operation) -> Response:
    headers = None if operation.is_over else RETRY_AFTER
    return Response(encode_pretty(encode_operation(operation)), 200, headers, JSON)


def _outcome(call: Call, operation: Operation) -> Response:
    if not operation.is_over:
        return accepted(call, operation, call.names["namespace"])
    failure = operation.failure
    if failure is None:
        return Response(status_code=200)
    return Response(
        encode_pretty(encode_error(failure.code, failure.message)), 409, media_type=JSON
    )


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield the one operation on operations."""
    path = f"{SUBSCRIPTION}/providers/{{namespace}}/locations/{{location}}/operations/{{operation}}"
    follow = Operations(platform).follow
    yield arm_route(account, "GET", path, follow, "Follow a long-running operation", (200, 202))
