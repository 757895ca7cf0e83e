"""Who is there: instances, and the scopes that they share events in."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Annotated, Final

from msgspec import Meta, Struct
from starlette.responses import Response

from lastcall.app import events
from lastcall.app.platform import Platform
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import GROUP_MACHINES_MAX, NAME_CHARACTERS_MAX
from lastcall.engine.model import Machine, Model, ScopeId, ScopeKind
from lastcall.web.admin.bodies import PAGING, ROOT, page, parse
from lastcall.web.admin.views import (
    InstanceList,
    ScopeList,
    ScopeView,
    show_instance,
    show_scope,
)
from lastcall.web.routing import Call, Parameter, Route, json
from lastcall.wire.names import SET_NAME

MetadataUrl = Callable[[Machine], str | None]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
MACHINES_MAX: Final = {
    ScopeKind.AVAILABILITY_SET: GROUP_MACHINES_MAX,
    ScopeKind.CLOUD_SERVICE: GROUP_MACHINES_MAX,
    ScopeKind.VIRTUAL_MACHINE: 1,
}

FORCE: Final = Parameter(name="forceDeletion", type="boolean", text="Without notice.")


class NewScope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Machines that no scale set owns: an availability set, a cloud service, a lone VM."""

    kind: ScopeKind
    names: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=GROUP_MACHINES_MAX)]


class Fleet:
    """Handlers for instances and scopes."""

    def __init__(self, platform: Platform, metadata_url: MetadataUrl) -> None:
        self._platform = platform
        self._metadata_url = metadata_url

    async def list_instances(self, call: Call) -> Response:
        """List instances, oldest first."""
        found, following = page(call, sorted(self._machines(), key=lambda pair: pair[1].ordinal))
        value = [show_instance(m, scope_id, self._metadata_url(m)) for scope_id, m in found]
        return json(InstanceList(value, following))

    async def list_scopes(self, call: Call) -> Response:
        """List scopes."""
        scopes = [published.scope for published in self._platform.directory.scopes()]
        found, following = page(call, sorted(scopes, key=attrgetter("id")))
        return json(ScopeList([show_scope(scope) for scope in found], following))

    async def create_scope(self, call: Call) -> Response:
        """Make a scope with its machines."""
        wanted = await parse(call, NewScope)
        _refuse_scope(wanted)
        scope = await self._platform.transact(
            lambda tx, moment: events.create_scope(tx, wanted.kind, wanted.names, Model(), moment)
        )
        return json(show_scope(scope), 201)

    async def delete_scope(self, call: Call) -> Response:
        """Delete a scope, each machine with its notice; it goes with the last of them."""
        scope_id, force = ScopeId(call.names["scope"].lower()), call.flag(FORCE.name)
        scope = await self._platform.transact(
            lambda tx, moment: events.delete_scope(tx, scope_id, moment, force=force)
        )
        return json(show_scope(scope), 202)

    def _machines(self) -> Iterator[tuple[ScopeId, Machine]]:
        for published in self._platform.directory.scopes():
            for machine in published.scope.machines.values():
                yield published.scope.id, machine


def _refuse_scope(wanted: NewScope) -> None:
    most = MACHINES_MAX.get(wanted.kind)
    if most is None:
        raise InvalidParameterError(
            "A placement group is made by making a scale set.", target="kind"
        )
    if len(wanted.names) > most:
        raise InvalidParameterError(f"A {wanted.kind} has at most {most} names.", target="names")
    if len({name.lower() for name in wanted.names}) < len(wanted.names):
        raise InvalidParameterError("The names are not all different.", target="names")
    for name in wanted.names:
        if not SET_NAME.fullmatch(name):
            raise InvalidParameterError(f"'{name}' cannot be a machine's name.", target="names")


def routes(platform: Platform, metadata_url: MetadataUrl) -> Iterator[Route]:
    """Yield the operations on instances and scopes."""
    fleet = Fleet(platform, metadata_url)
    yield Route(
        method="GET",
        path=f"{ROOT}/instances",
        handler=fleet.list_instances,
        summary="List instances",
        gives=InstanceList,
        query=PAGING,
    )
    yield Route(
        method="GET",
        path=f"{ROOT}/scopes",
        handler=fleet.list_scopes,
        summary="List the groups of machines that share an events document",
        gives=ScopeList,
        query=PAGING,
    )
    yield Route(
        method="POST",
        path=f"{ROOT}/scopes",
        handler=fleet.create_scope,
        summary="Make machines that no scale set owns",
        answers=(201,),
        takes=NewScope,
        gives=ScopeView,
    )
    yield Route(
        method="DELETE",
        path=f"{ROOT}/scopes/{{scope}}",
        handler=fleet.delete_scope,
        summary="Delete machines that no scale set owns, and their scope with them",
        answers=(202,),
        gives=ScopeView,
        query=(FORCE,),
    )
