"""Sizes of machines, what each can do, and how much is in use."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from lastcall.app.platform import Platform
from lastcall.app.scale_sets import capacity_of, members
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import COMPUTE, LOCATION, SUBSCRIPTION, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.bodies import parse_body
from lastcall.wire.catalogue import Region, Size, all_sizes, catalogue, cores_of, region
from lastcall.wire.filters import parse_filter

Json = dict[str, Any]
OS_DISK_MB: Final = 1_047_552
LIMITS: Final = {
    "availabilitySets": ("Availability Sets", 2_500),
    "cores": ("Total Regional vCPUs", 100_000),
    "virtualMachines": ("Virtual Machines", 25_000),
    "virtualMachineScaleSets": ("Virtual Machine Scale Sets", 2_500),
}


class Sizes:
    """Handlers for `vmSizes`, `skus` and `usages`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_sizes(self, call: Call) -> Response:
        """List the sizes of a region."""
        region(call.names["location"])
        return json(encode_list(map(show_size, all_sizes())))

    async def list_skus(self, call: Call) -> Response:
        """List the sizes with what they can do, of one region or of all."""
        wanted = parse_filter(call.query("$filter"), frozenset({"location"}))
        chosen = [
            each
            for each in catalogue().regions
            if all(clause.holds(each.name) for clause in wanted)
        ]
        return json(encode_list(_sku(size, each) for each in chosen for size in all_sizes()))

    async def list_usages(self, call: Call) -> Response:
        """Show how much of a region is in use."""
        where = region(call.names["location"]).name
        used = await self._platform.read(lambda r: _used(r, where))
        return json(encode_list(_usage(name, used.get(name, 0)) for name in LIMITS))


def show_size(size: Size) -> Json:
    """Return a size as lists show it."""
    return {
        "name": size.name,
        "numberOfCores": size.cores,
        "osDiskSizeInMB": OS_DISK_MB,
        "resourceDiskSizeInMB": size.temporary_mb,
        "memoryInMB": size.memory_mb,
        "maxDataDiskCount": size.disks,
    }


def _sku(size: Size, where: Region) -> Json:
    zones = [str(zone) for zone in range(1, where.zones + 1)]
    capabilities = {
        "MaxResourceVolumeMB": size.temporary_mb,
        "OSVhdSizeMB": OS_DISK_MB,
        "vCPUs": size.cores,
        "MemoryGB": f"{size.memory_mb / 1024:g}",
        "MaxDataDiskCount": size.disks,
        "PremiumIO": size.is_premium,
        "vCPUsAvailable": size.cores,
        "EncryptionAtHostSupported": True,
        "AcceleratedNetworkingEnabled": size.cores > 1,
        "MaxNetworkInterfaces": min(max(2, size.cores // 2), 8),
    }
    return {
        "resourceType": "virtualMachines",
        "name": size.name,
        "tier": "Standard",
        "size": size.name.removeprefix("Standard_"),
        "family": size.family,
        "locations": [where.name],
        "locationInfo": [{"location": where.name, "zones": zones, "zoneDetails": []}],
        "capabilities": [
            {"name": name, "value": str(value)} for name, value in capabilities.items()
        ],
        "restrictions": [],
    }


def _used(reader: Reader, location: str) -> dict[str, int]:
    here = [found for found in reader.scale_sets() if found.location == location]
    counts = [(found, capacity_of(members(reader, found))) for found in here]
    return {
        "cores": sum(_cores(reader, found) * count for found, count in counts),
        "virtualMachines": sum(count for _, count in counts),
        "virtualMachineScaleSets": len(here),
    }


def _cores(reader: Reader, scale_set: ScaleSet) -> int:
    model = parse_body(reader.document(scale_set.id, scale_set.number))
    return cores_of(str(model.get("sku", {}).get("name", "")))


def _usage(name: str, used: int) -> Json:
    text, limit = LIMITS[name]
    return {
        "limit": limit,
        "unit": "Count",
        "currentValue": used,
        "name": {"value": name, "localizedValue": text},
    }


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on sizes."""
    handlers = Sizes(platform)
    route = partial(arm_route, account)
    skus = f"{SUBSCRIPTION}{COMPUTE}/skus"
    yield route("GET", f"{LOCATION}/vmSizes", handlers.list_sizes, "List the sizes of a region")
    yield route("GET", skus, handlers.list_skus, "List sizes with what they can do")
    yield route("GET", f"{LOCATION}/usages", handlers.list_usages, "Show what is in use")
