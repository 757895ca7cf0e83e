"""Addresses that the platform gives: public ones for documentation, private ones of a subnet."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Final

from lastcall.app.resources import find
from lastcall.engine.errors import QuotaExceededError
from lastcall.engine.resources import Resource
from lastcall.ports import Reader
from lastcall.wire.children import child, collection_of, parent_of
from lastcall.wire.documents import Document
from lastcall.wire.paths import Path, parse_path

PUBLIC_KIND: Final = "microsoft.network/publicipaddresses"
INTERFACE_KIND: Final = "microsoft.network/networkinterfaces"
# RFC 5737 and RFC 3849: no machine anywhere has one of these.
PUBLIC_RANGES: Final = {
    "IPv4": ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
    "IPv6": ("2001:db8::/118",),
}
# The first four addresses of a subnet are the platform's own.
SUBNET_RESERVED: Final = 4
SUBNET_ADDRESSES_MAX: Final = 65_536

Claim = tuple[str, str]


def with_addresses(
    reader: Reader, path: Path, document: Document, before: Resource | None
) -> Document:
    """Return a document with the addresses that its resource has; it keeps those that it had."""
    if path.kind == PUBLIC_KIND:
        return _with_public_address(reader, document, before)
    if path.kind == INTERFACE_KIND:
        return _with_private_addresses(reader, path, document, before)
    return document


def _with_public_address(reader: Reader, document: Document, before: Resource | None) -> Document:
    properties = dict(document["properties"])
    version = properties.get("publicIPAddressVersion", "IPv4")
    ranges = PUBLIC_RANGES.get(version, PUBLIC_RANGES["IPv4"]) if isinstance(version, str) else ()
    old = None if before is None else before.content["properties"].get("ipAddress")
    properties["ipAddress"] = old or _free_public(reader, ranges or PUBLIC_RANGES["IPv4"])
    settings = properties.get("dnsSettings")
    label = settings.get("domainNameLabel") if isinstance(settings, Mapping) else None
    if isinstance(label, str):
        fqdn = f"{label}.{document.get('location', 'global')}.cloudapp.azure.com"
        properties["dnsSettings"] = {**dict(settings or {}), "fqdn": fqdn}
    return {**document, "properties": properties}


def _free_public(reader: Reader, ranges: tuple[str, ...]) -> str:
    taken = {
        found.content["properties"].get("ipAddress") for found in reader.resources(kind=PUBLIC_KIND)
    }
    hosts = (str(host) for each in ranges for host in ipaddress.ip_network(each).hosts())
    free = next((host for host in hosts if host not in taken), None)
    if free is None:
        raise QuotaExceededError("There is no public address left to give.")
    return free


def _with_private_addresses(
    reader: Reader, path: Path, document: Document, before: Resource | None
) -> Document:
    old = {item["name"].lower(): item for item in _configurations(before)}
    others = (found for found in reader.resources(kind=INTERFACE_KIND) if found.id != path.id)
    taken = {_claim(item) for found in others for item in _configurations(found)}
    items = []
    for item in document["properties"].get("ipConfigurations", []):
        given = _with_private_address(reader, item, old.get(item["name"].lower()), taken)
        taken.add(_claim(given))
        items.append(given)
    return {**document, "properties": {**document["properties"], "ipConfigurations": items}}


def _with_private_address(
    reader: Reader, item: Document, old: Document | None, taken: set[Claim]
) -> Document:
    properties = {"privateIPAllocationMethod": "Dynamic", **item["properties"]}
    subnet, address = _claim(item)
    if str(properties["privateIPAllocationMethod"]).lower() != "static" or not address:
        was_in, had = _claim(old) if old is not None else ("", "")
        hosts = _hosts(reader, subnet)
        free = next((host for host in hosts if (subnet, host) not in taken), "")
        address = had if had and was_in == subnet else free
    properties["privateIPAddress"] = address
    if not address:
        del properties["privateIPAddress"]
    return {**item, "properties": properties}


def _configurations(interface: Resource | None) -> list[Document]:
    if interface is None:
        return []
    return list(interface.content["properties"].get("ipConfigurations", []))


def _claim(item: Document) -> Claim:
    """Return which subnet a configuration is in, and its address there; empty where unknown."""
    subnet = item["properties"].get("subnet")
    place = subnet.get("id") if isinstance(subnet, Mapping) else None
    address = item["properties"].get("privateIPAddress")
    return (
        place.lower() if isinstance(place, str) else "",
        address if isinstance(address, str) else "",
    )


def _hosts(reader: Reader, subnet_id: str) -> Iterator[str]:
    """Yield the addresses that a subnet can give, none where it is unknown."""
    path = parse_path(subnet_id)
    collection = None if path is None else collection_of(path)
    if path is None or collection is None:
        return
    network = find(reader, parent_of(path))
    subnet = None if network is None else child(network, path, collection)
    properties = {} if subnet is None else subnet.content["properties"]
    prefixes = properties.get("addressPrefixes")
    prefix = prefixes[0] if isinstance(prefixes, list) and prefixes else None
    try:
        hosts = ipaddress.ip_network(str(properties.get("addressPrefix", prefix)), strict=False)
    except ValueError:
        return
    last = min(hosts.num_addresses - 1, SUBNET_ADDRESSES_MAX)
    yield from (str(hosts[index]) for index in range(SUBNET_RESERVED, last))
