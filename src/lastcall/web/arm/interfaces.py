"""Network interfaces and public addresses of instances, as lists and one by one."""

from collections.abc import Callable, Iterator
from functools import partial

from starlette.responses import Response

from lastcall.app.machines import Members
from lastcall.app.platform import Platform
from lastcall.app.scale_sets import member, members
from lastcall.app.set_keys import known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.model import Machine
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import INSTANCE, SET, arm_route, key_of
from lastcall.web.arm.paging import by_ordinal, page
from lastcall.web.arm.views import Json
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.bodies import parse_stored
from lastcall.wire.defaults import completed
from lastcall.wire.interfaces import (
    Interface,
    encode_address,
    encode_interface,
    encode_public_addresses,
    interface_configurations,
    interface_path,
)

INTERFACES = f"{INSTANCE}/networkInterfaces"
ADDRESSES = f"{INTERFACES}/{{interface}}/ipConfigurations"
PUBLIC = f"{ADDRESSES}/{{address}}/publicIPAddresses"

Encode = Callable[[ScaleSet, Machine, Interface], list[Json]]


class Interfaces:
    """Handlers for `networkInterfaces` and `publicIPAddresses` below a set."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call, *, encode: Encode) -> Response:
        """List what all instances of a set have, instance by instance."""
        found, link = await self._platform.read(lambda r: _of_set(r, call, encode))
        return json(encode_list(found, link))

    async def list_some(self, call: Call, *, encode: Encode) -> Response:
        """List what one instance, one interface or one address of it has."""
        return json(encode_list(await self._platform.read(lambda r: _of_one(r, call, encode))))

    async def show(self, call: Call, *, encode: Encode, name: str) -> Response:
        """Show one entry of such a list, by the last name of the path."""
        wanted = call.names[name].lower()
        found = await self._platform.read(lambda r: _of_one(r, call, encode))
        entry = next((each for each in found if each["name"].lower() == wanted), None)
        if entry is None:
            raise InstanceNotFoundError
        return json(entry)


def _of_set(reader: Reader, call: Call, encode: Encode) -> tuple[list[Json], str | None]:
    scale_set = known(reader, key_of(call))
    chosen, link = page(call, members(reader, scale_set), by_ordinal)
    return _encoded(reader, scale_set, chosen, encode), link


def _of_one(reader: Reader, call: Call, encode: Encode) -> list[Json]:
    scale_set = known(reader, key_of(call))
    chosen = [member(reader, scale_set, call.names["instance"])]
    for name, above in (("interface", _interfaces), ("address", _addresses)):
        narrowed = partial(_narrowed, call=call, encode=above)
        if name in call.names and not _encoded(reader, scale_set, chosen, narrowed):
            raise InstanceNotFoundError
    return _encoded(reader, scale_set, chosen, partial(_narrowed, call=call, encode=encode))


def _narrowed(
    scale_set: ScaleSet, machine: Machine, interface: Interface, call: Call, encode: Encode
) -> list[Json]:
    """Encode only what the names in the path lead to, all of it where they do not lead so far."""
    wanted = call.names.get("interface", interface.name)
    if wanted.lower() != interface.name.lower():
        return []
    if "address" not in call.names:
        return encode(scale_set, machine, interface)
    address = call.names["address"].lower()
    addresses = tuple(each for each in interface.addresses if each.name.lower() == address)
    kept = Interface(
        interface.name, interface.number, interface.is_primary, interface.properties, addresses
    )
    return encode(scale_set, machine, kept)


def _encoded(reader: Reader, scale_set: ScaleSet, chosen: Members, encode: Encode) -> list[Json]:
    shown: list[Json] = []
    models: dict[int, Json] = {}
    for _, machine in chosen:
        number = machine.model.version
        if number not in models:
            document = parse_stored(reader.document(scale_set.id, number))
            models[number] = completed(document, scale_set.traits)
        for interface in interface_configurations(models[number]):
            shown += encode(scale_set, machine, interface)
    return shown


def _interfaces(scale_set: ScaleSet, machine: Machine, interface: Interface) -> list[Json]:
    return [encode_interface(scale_set, machine, interface)]


def _addresses(scale_set: ScaleSet, machine: Machine, interface: Interface) -> list[Json]:
    path = interface_path(scale_set, machine, interface)
    return [encode_address(path, machine, address) for address in interface.addresses]


def _public(scale_set: ScaleSet, machine: Machine, interface: Interface) -> list[Json]:
    path = interface_path(scale_set, machine, interface)
    return encode_public_addresses(path, machine, interface.addresses)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on interfaces and public addresses."""
    interfaces = Interfaces(platform)
    route = partial(arm_route, account)
    every = partial(interfaces.list_all, encode=_interfaces)
    yield route("GET", f"{SET}/networkInterfaces", every, "List the interfaces of a set")
    public = partial(interfaces.list_all, encode=_public)
    yield route("GET", f"{SET}/publicIPAddresses", public, "List the public addresses of a set")
    for path, encode, name, what in (
        (INTERFACES, _interfaces, "interface", "interfaces"),
        (ADDRESSES, _addresses, "address", "IP configurations"),
        (PUBLIC, _public, "public", "public addresses"),
    ):
        several = partial(interfaces.list_some, encode=encode)
        yield route("GET", path, several, f"List {what} of an instance")
        one = partial(interfaces.show, encode=encode, name=name)
        yield route("GET", f"{path}/{{{name}}}", one, f"Show one of the {what}")
