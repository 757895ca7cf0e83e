"""Network interfaces and public addresses of instances, made up from their set's model.

Nothing is connected to them. Addresses follow from a machine's ordinal, so they are its own, the
same in every answer and in its metadata.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from lastcall.engine.model import Machine
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.fields import lookup
from lastcall.wire.names import instance_path

Json = dict[str, Any]

CONFIGURATIONS = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations"
# Passed on as they were given.
OF_INTERFACE = ("enableAcceleratedNetworking", "enableIPForwarding", "networkSecurityGroup")
OF_ADDRESS = (
    "applicationGatewayBackendAddressPools",
    "applicationSecurityGroups",
    "loadBalancerBackendAddressPools",
    "privateIPAddressVersion",
    "subnet",
)


class Address(Struct, frozen=True):
    """One IP configuration of an interface; `number` counts those of the machine."""

    name: str
    number: int
    properties: Mapping[str, Any]

    @property
    def public(self) -> Mapping[str, Any] | None:
        """Return the configuration of its public address, None where it has none."""
        found = self.properties.get("publicIPAddressConfiguration")
        named = isinstance(found, Mapping) and isinstance(found.get("name"), str)
        return found if named else None


class Interface(Struct, frozen=True):
    """One interface that the model gives to each instance."""

    name: str
    number: int
    is_primary: bool
    properties: Mapping[str, Any]
    addresses: tuple[Address, ...]


def private_address(ordinal: int, number: int = 0) -> str:
    """Return the private address of a machine, or a further one of its own."""
    first = "10" if number == 0 else f"{100 + number % 100}"
    return f"{first}.{ordinal >> 16}.{ordinal >> 8 & 255}.{ordinal & 255}"


def hardware_address(ordinal: int, number: int = 0) -> str:
    """Return the MAC address of an interface, as the metadata endpoint writes it."""
    return f"{0x000D3A + number:06X}{ordinal:06X}"


def public_address(ordinal: int) -> str:
    """Return a public address out of the range that is set aside for tests (RFC 2544)."""
    return f"198.{18 + (ordinal >> 16 & 1)}.{ordinal >> 8 & 255}.{ordinal & 255}"


def interface_configurations(model: Mapping[str, Any]) -> Sequence[Interface]:
    """Return the interfaces that a model gives to each instance; those without a name are none."""
    found = [(name, properties) for name, properties in _named(lookup(model, CONFIGURATIONS))]
    has_primary = any(properties.get("primary") is True for _, properties in found)
    interfaces: list[Interface] = []
    counted = 0
    for number, (name, properties) in enumerate(found):
        entries = _named(properties.get("ipConfigurations"))
        addresses = tuple(
            Address(address, counted + place, given)
            for place, (address, given) in enumerate(entries)
        )
        counted += len(addresses)
        is_primary = properties.get("primary") is True or (number == 0 and not has_primary)
        interfaces.append(Interface(name, number, is_primary, properties, addresses))
    return interfaces


def interface_path(scale_set: ScaleSet, machine: Machine, interface: Interface) -> str:
    """Return the resource id of an interface."""
    return f"{instance_path(scale_set, machine)}/networkInterfaces/{interface.name}"


def encode_interface(scale_set: ScaleSet, machine: Machine, interface: Interface) -> Json:
    """Return an interface of an instance as the network provider shows it."""
    path = interface_path(scale_set, machine, interface)
    given = interface.properties
    mac = hardware_address(machine.ordinal, interface.number)
    return {
        "name": interface.name,
        "id": path,
        "properties": {
            "provisioningState": "Succeeded",
            "primary": interface.is_primary,
            "macAddress": "-".join(mac[place : place + 2] for place in range(0, len(mac), 2)),
            "ipConfigurations": [
                encode_address(path, machine, address) for address in interface.addresses
            ],
            **{name: given[name] for name in OF_INTERFACE if name in given},
            "dnsSettings": given.get("dnsSettings") or {"dnsServers": []},
            "virtualMachine": {"id": instance_path(scale_set, machine)},
        },
    }


def encode_address(path: str, machine: Machine, address: Address) -> Json:
    """Return an IP configuration of the interface at a path."""
    given, own = address.properties, f"{path}/ipConfigurations/{address.name}"
    properties: Json = {
        "provisioningState": "Succeeded",
        "privateIPAddress": private_address(machine.ordinal, address.number),
        "privateIPAllocationMethod": "Dynamic",
        "primary": address.number == 0 or given.get("primary") is True,
        **{name: given[name] for name in OF_ADDRESS if name in given},
    }
    if address.public is not None:
        properties["publicIPAddress"] = {"id": f"{own}/publicIPAddresses/{address.public['name']}"}
    return {"name": address.name, "id": own, "properties": properties}


def encode_public_addresses(
    path: str, machine: Machine, addresses: Iterable[Address]
) -> list[Json]:
    """Return the public addresses of some IP configurations of the interface at a path."""
    shown: list[Json] = []
    for address in addresses:
        if address.public is None:
            continue
        own = f"{path}/ipConfigurations/{address.name}"
        given = address.public.get("properties") or {}
        entry: Json = {
            "name": address.public["name"],
            "id": f"{own}/publicIPAddresses/{address.public['name']}",
            "properties": {
                "provisioningState": "Succeeded",
                "ipAddress": public_address(machine.ordinal + address.number),
                "publicIPAddressVersion": given.get("publicIPAddressVersion", "IPv4"),
                "publicIPAllocationMethod": "Dynamic",
                "idleTimeoutInMinutes": given.get("idleTimeoutInMinutes", 4),
                "ipConfiguration": {"id": own},
            },
        }
        if machine.zone:
            entry["zones"] = [machine.zone]
        shown.append(entry)
    return shown


def _named(entries: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return those entries of an array that have a name, with their properties."""
    found = entries if isinstance(entries, list) else []
    return [
        (entry["name"], entry["properties"] if isinstance(entry.get("properties"), Mapping) else {})
        for entry in found
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
    ]
