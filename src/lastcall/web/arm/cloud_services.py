"""Cloud services: written, shown, started and stopped, and their role instances."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import cloud_services
from lastcall.app.cloud_services import member, provisioning
from lastcall.app.machines import Wish, machines_of
from lastcall.app.platform import Platform
from lastcall.app.resources import known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import Action
from lastcall.engine.resources import Resource
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import COMPUTE, GROUP, SUBSCRIPTION, accepted, arm_route
from lastcall.web.arm.kinds import Kind, Resources, optional_body
from lastcall.web.arm.views import Json, Manner
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.cloud_services import (
    INSTANCES,
    SERVICE_TYPE,
    encode_role,
    encode_role_instance,
    encode_role_instance_view,
    encode_service,
    encode_service_view,
    parse_role_instances,
    parse_roles,
    role_of,
    sizes_of,
)

SERVICES: Final = f"{GROUP}{COMPUTE}/cloudServices"
SERVICE: Final = f"{SERVICES}/{{service}}"
ROLE: Final = f"{SERVICE}/roles/{{role}}"
INSTANCE: Final = f"{SERVICE}/{INSTANCES}/{{roleInstance}}"

# What is done to a service as a whole, to those that a body names, and to one instance.
WHOLE: Final = {"poweroff": Action.POWER_OFF, "start": Action.START}
NAMED: Final = {
    "delete": Action.DELETE,
    "rebuild": Action.REIMAGE,
    "reimage": Action.REIMAGE,
    "restart": Action.RESTART,
}


def show(reader: Reader, service: Resource, _view: Manner) -> Json:
    """Return a cloud service as GET shows it."""
    present = machines_of(reader, service)
    return encode_service(service, present, provisioning(service, present))


KIND: Final = Kind(
    type=SERVICE_TYPE,
    name="service",
    write=cloud_services.write,
    show=show,
    delete=cloud_services.delete,
)


class CloudServices(Resources):
    """Handlers for `cloudServices`."""

    async def show_view(self, call: Call) -> Response:
        """Show how a service is doing."""
        path, now = self.path(call), self._platform.clock.now()

        def work(reader: Reader) -> Json:
            service = known(reader, path)
            present = machines_of(reader, service)
            return encode_service_view(provisioning(service, present), present, now)

        return json(await self._platform.read(work))

    async def list_roles(self, call: Call) -> Response:
        """List the roles of a service."""
        path = self.path(call)
        return json(
            encode_list(await self._platform.read(lambda r: _shown_roles(r, known(r, path))))
        )

    async def show_role(self, call: Call) -> Response:
        """Show one role."""
        path, wanted = self.path(call), call.names["role"].lower()
        roles = await self._platform.read(lambda r: _shown_roles(r, known(r, path)))
        found = next((role for role in roles if role["name"].lower() == wanted), None)
        if found is None:
            raise InstanceNotFoundError
        return json(found)

    async def list_instances(self, call: Call) -> Response:
        """List the role instances of a service."""
        path, view = self.path(call), self.view(call)

        def work(reader: Reader) -> list[Json]:
            service = known(reader, path)
            names = [machine.name for machine in machines_of(reader, service)]
            return [_shown_instance(reader, service, name, view) for name in names]

        return json(encode_list(await self._platform.read(work)))

    async def show_instance(self, call: Call) -> Response:
        """Show one role instance."""
        path, view, name = self.path(call), self.view(call), call.names["roleInstance"]
        return json(
            await self._platform.read(lambda r: _shown_instance(r, known(r, path), name, view))
        )

    async def show_instance_view(self, call: Call) -> Response:
        """Show how a role instance is doing."""
        path, name, now = self.path(call), call.names["roleInstance"], self._platform.clock.now()
        machine = await self._platform.read(lambda r: member(r, known(r, path), name))
        return json(encode_role_instance_view(machine, now))

    async def delete_instance(self, call: Call) -> Response:
        """Delete one role instance."""
        wish = Wish(action=Action.DELETE, force=call.flag("forceDeletion"))
        try:
            return await self._done(call, wish, (call.names["roleInstance"],))
        except InstanceNotFoundError:
            return Response(status_code=204)

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to a service as a whole."""
        await optional_body(call)
        return await self._done(call, Wish(action=action), None)

    async def act_on_named(self, call: Call, *, action: Action) -> Response:
        """Do something to the role instances that the body names."""
        return await self._done(
            call, Wish(action=action), parse_role_instances(await optional_body(call))
        )

    async def act_on_one(self, call: Call, *, action: Action) -> Response:
        """Do something to one role instance."""
        await optional_body(call)
        return await self._done(call, Wish(action=action), (call.names["roleInstance"],))

    async def _done(self, call: Call, wish: Wish, names: tuple[str, ...] | None) -> Response:
        path = self.path(call)
        operation = await self._platform.transact(
            lambda tx, moment: cloud_services.act(tx, known(tx, path), wish, names, moment)
        )
        return accepted(call, operation)


def _shown_roles(reader: Reader, service: Resource) -> list[Json]:
    sizes = sizes_of(machines_of(reader, service))
    return [
        encode_role(service, role, sizes[role.name.lower()])
        for role in parse_roles(service.content)
    ]


def _shown_instance(reader: Reader, service: Resource, name: str, view: Manner) -> Json:
    machine = member(reader, service, name)
    played = role_of(machine).lower()
    roles = parse_roles(service.content)
    role = next((role for role in roles if role.name.lower() == played), None)
    shown = encode_role_instance(service, machine, role)
    if "instanceview" in view.expanded:
        shown["properties"]["instanceView"] = encode_role_instance_view(machine, view.now)
    return shown


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on cloud services."""
    services = CloudServices(platform, KIND)
    route = partial(arm_route, account)
    everywhere = f"{SUBSCRIPTION}{COMPUTE}/cloudServices"
    yield route("GET", everywhere, services.list_all, "List all cloud services")
    yield route("GET", SERVICES, services.list_all, "List those of a resource group")
    put, patch = partial(services.write, may_create=True), partial(services.write, may_create=False)
    yield route("PUT", SERVICE, put, "Create or update a cloud service", (200, 201))
    yield route("PATCH", SERVICE, patch, "Update a cloud service")
    yield route("GET", SERVICE, services.show, "Show a cloud service")
    yield route("DELETE", SERVICE, services.delete, "Delete a cloud service", (202, 204))
    yield route("GET", f"{SERVICE}/instanceView", services.show_view, "Show how it is doing")
    yield route("GET", f"{SERVICE}/roles", services.list_roles, "List the roles of a service")
    yield route("GET", ROLE, services.show_role, "Show a role")
    yield route("GET", f"{SERVICE}/{INSTANCES}", services.list_instances, "List role instances")
    yield route("GET", INSTANCE, services.show_instance, "Show a role instance")
    yield route("DELETE", INSTANCE, services.delete_instance, "Delete it", (202, 204))
    view = f"{INSTANCE}/instanceView"
    yield route("GET", view, services.show_instance_view, "Show how a role instance is doing")
    for name, action in WHOLE.items():
        handler = partial(services.act, action=action)
        yield route("POST", f"{SERVICE}/{name}", handler, f"{name} a cloud service", (202,))
    for name, action in NAMED.items():
        several = partial(services.act_on_named, action=action)
        yield route("POST", f"{SERVICE}/{name}", several, f"{name} role instances", (202,))
        if action is not Action.DELETE:
            one = partial(services.act_on_one, action=action)
            yield route("POST", f"{INSTANCE}/{name}", one, f"{name} a role instance", (202,))
