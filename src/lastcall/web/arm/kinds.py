"""What the resources that have machines share at the control plane: write, show, list, delete."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct
from starlette.responses import Response

from lastcall.app.conditions import refuse_stale
from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.resources import (
    Written,
    demand_group,
    demand_open_group,
    find,
    known,
    number_of,
)
from lastcall.engine.model import OperationId, Provisioning
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import accepted, api_version, force, tracking
from lastcall.web.arm.sizes import show_size
from lastcall.web.arm.views import Json, Manner
from lastcall.web.routing import Call, json
from lastcall.wire.arm import encode_list
from lastcall.wire.bodies import parse_body
from lastcall.wire.catalogue import all_sizes
from lastcall.wire.names import place
from lastcall.wire.paths import Path, group_path

Show = Callable[[Reader, Resource, Manner], Json]


class Write(Protocol):
    """How a resource of some kind is written."""

    def __call__(
        self,
        tx: Transaction,
        path: Path,
        body: Mapping[str, Any],
        api_version: str,
        moment: Moment,
        part_of: OperationId | None = None,
        /,
    ) -> Written:
        """Create it or change it."""
        ...


class Delete(Protocol):
    """How a resource of some kind is deleted."""

    def __call__(
        self,
        tx: Transaction,
        resource: Resource,
        moment: Moment,
        /,
        *,
        force: bool = False,
        part_of: OperationId | None = None,
    ) -> Operation:
        """Begin the deletion."""
        ...


class Kind(Struct, frozen=True, kw_only=True):
    """One type of resource: what is done with it, and what its name is called in paths.

    `is_tracked`: writes and deletions are long-running operations, which clients follow.
    """

    type: str
    name: str
    write: Write
    show: Show
    delete: Delete
    is_tracked: bool = True


class Resources:
    """Handlers for one kind of resource."""

    def __init__(self, platform: Platform, kind: Kind) -> None:
        self._platform = platform
        self._kind = kind

    def path(self, call: Call) -> Path:
        """Return which resource a request is about, in the request's own spelling."""
        names = call.names
        return Path(
            subscription=names["subscription"],
            group=names["group"],
            type=self._kind.type,
            names=(names[self._kind.name],),
        )

    def view(self, call: Call) -> Manner:
        """Return how a request wants to see resources."""
        expand = (call.query("$expand") or "").lower().replace(" ", "").split(",")
        return Manner(
            version=api_version(call), now=self._platform.clock.now(), expanded=frozenset(expand)
        )

    async def write(self, call: Call, *, may_create: bool) -> Response:
        """Create a resource or change it (R95)."""
        path, body = self.path(call), parse_body(await call.body())
        wanted, view = conditions(call), self.view(call)

        def work(tx: Transaction, moment: Moment) -> tuple[Written, Json]:
            demand_open_group(tx, path)
            before = find(tx, path) if may_create else known(tx, path)
            refuse_stale(number_of(before), wanted)
            written = self._kind.write(tx, path, body, view.version, moment)
            return written, self._kind.show(tx, written.resource, view)

        written, shown = await self._platform.transact(work)
        if not self._kind.is_tracked:
            return json(shown)
        state = Provisioning.CREATING if written.is_new else Provisioning.UPDATING
        shown["properties"]["provisioningState"] = state
        return json(shown, 201 if written.is_new else 200, tracking(call, written.operation))

    async def show(self, call: Call) -> Response:
        """Show one resource."""
        path, view = self.path(call), self.view(call)
        return json(
            await self._platform.read(lambda r: self._kind.show(r, known(r, path), view)),
        )

    async def list_all(self, call: Call) -> Response:
        """List the resources of the subscription, of a resource group, or of a location."""
        view = self.view(call)
        return json(encode_list(await self._platform.read(lambda r: self.listed(r, call, view))))

    async def delete(self, call: Call) -> Response:
        """Delete a resource."""
        path, is_forced = self.path(call), force(call)

        def work(tx: Transaction, moment: Moment) -> Operation | None:
            found = find(tx, path)
            if found is None:
                demand_group(tx, path)
                return None
            return self._kind.delete(tx, found, moment, force=is_forced)

        operation = await self._platform.transact(work)
        if operation is None:
            return Response(status_code=204)
        return accepted(call, operation) if self._kind.is_tracked else Response(status_code=200)

    async def list_sizes(self, call: Call) -> Response:
        """List the sizes that machines of a resource can have: all there are."""
        path = self.path(call)
        await self._platform.read(lambda r: known(r, path))
        return json(encode_list(map(show_size, all_sizes())))

    def listed(self, reader: Reader, call: Call, view: Manner) -> list[Json]:
        """Return the resources that a request asks for."""
        group = call.names.get("group")
        if group is not None:
            demand_group(reader, group_path(call.names["subscription"], group))
        location = place(call.names.get("location", ""))
        found = reader.resources(self._kind.type.lower(), None if group is None else group.lower())
        return [
            self._kind.show(reader, one, view)
            for one in found
            if location in ("", one.content["location"])
        ]


async def optional_body(call: Call) -> Json:
    """Return the JSON object that a request carries, an empty one where it carries none."""
    body = await call.body()
    return parse_body(body) if body.strip() else {}
