"""What Azure offers, as data: regions, sizes, images and resource providers."""

from functools import cache
from importlib import resources
from typing import Any

import msgspec

from lastcall.engine.errors import NoRegisteredProviderFoundError
from lastcall.engine.value import Value
from lastcall.wire.names import place
from lastcall.wire.quoting import shown


class Region(msgspec.Struct, frozen=True, array_like=True):
    """A place, with `zones` availability zones; `paired` is empty where it has no partner."""

    name: str
    display: str
    geography_group: str
    geography: str
    latitude: str
    longitude: str
    physical: str
    category: str
    zones: int
    paired: str


class Size(msgspec.Struct, frozen=True, array_like=True):
    """What a machine can have."""

    name: str
    cores: int
    memory_mb: int
    temporary_mb: int
    disks: int
    is_premium: bool
    family: str


class Family(msgspec.Struct, frozen=True, rename="camel"):
    """Sizes that differ in nothing but their number of cores; the rest is per core."""

    name: str
    cores: tuple[int, ...]
    memory_mb: int
    temporary_mb: int
    disks: int
    premium: bool
    family: str

    def sizes(self) -> list[Size]:
        """Return each of them."""
        return [
            Size(
                self.name.format(n=cores),
                cores,
                cores * self.memory_mb,
                cores * self.temporary_mb,
                min(cores * self.disks, 64),
                self.premium,
                self.family,
            )
            for cores in self.cores
        ]


class Provider(msgspec.Struct, frozen=True):
    """A namespace with its api-versions, newest first, and its types."""

    namespace: str
    versions: tuple[str, ...]
    types: tuple[str, ...]


class Image(Value, frozen=True):
    """Which image an alias stands for."""

    publisher: str
    offer: str
    sku: str


class Catalogue(msgspec.Struct, frozen=True):
    """The whole file."""

    regions: tuple[Region, ...]
    families: tuple[Family, ...]
    sizes: tuple[Size, ...]
    aliases: dict[str, dict[str, tuple[str, str, str]]]
    providers: tuple[Provider, ...]


@cache
def catalogue() -> Catalogue:
    """Return the data, read when it is first wanted."""
    text = resources.files(__package__).joinpath("catalogue.json").read_bytes()
    # Numbers stand for truth in the tables.
    return msgspec.convert(msgspec.json.decode(text), Catalogue, strict=False)


@cache
def region_names() -> tuple[str, ...]:
    """Return the name of every region."""
    return tuple(region.name for region in catalogue().regions)


def region(location: str) -> Region:
    """Return a region by its name in whatever spelling, or refuse."""
    wanted = place(location)
    found = next((each for each in catalogue().regions if each.name == wanted), None)
    if found is None:
        raise NoRegisteredProviderFoundError(
            f"No registered resource provider found for location '{shown(location)}'."
            f" The supported locations are '{', '.join(region_names())}'."
        )
    return found


@cache
def all_sizes() -> tuple[Size, ...]:
    """Return every size, by name."""
    data = catalogue()
    sizes = [*data.sizes, *(size for family in data.families for size in family.sizes())]
    return tuple(sorted(sizes, key=lambda size: size.name))


@cache
def _sizes_by_name() -> dict[str, Size]:
    return {size.name.lower(): size for size in all_sizes()}


def cores_of(name: str) -> int:
    """Return how many cores a size has, one where nobody knows."""
    size = _sizes_by_name().get(name.lower())
    return 1 if size is None else size.cores


def disk_of(name: str) -> str:
    """Return what kind of disk a machine of a size boots from, unless its owner says."""
    size = _sizes_by_name().get(name.lower())
    return "Premium_LRS" if size is not None and size.is_premium else "Standard_LRS"


def provider(namespace: str) -> Provider | None:
    """Return a resource provider by its namespace in whatever case, None where there is none."""
    wanted = namespace.lower()
    return next((each for each in catalogue().providers if each.namespace.lower() == wanted), None)


def alias_document() -> dict[str, Any]:
    """Return the names that stand for images, as the document that the Azure CLI reads."""
    aliases = {
        system: {
            alias: {
                "publisher": publisher,
                "offer": offer,
                "sku": sku,
                "version": "latest",
                "architecture": "x64",
            }
            for alias, (publisher, offer, sku) in images.items()
        }
        for system, images in catalogue().aliases.items()
    }
    return {
        "$schema": "http://schema.management.azure.com/schemas/2015-01-01/deploymentTemplate.json",
        "contentVersion": "1.0.0.0",
        "parameters": {},
        "variables": {},
        "resources": [],
        "outputs": {"aliases": {"type": "object", "value": aliases}},
    }


def known_images() -> list[Image]:
    """Return the images that aliases stand for."""
    aliases = catalogue().aliases.values()
    return [Image(*parts) for images in aliases for parts in images.values()]
