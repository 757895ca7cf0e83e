"""Images of machines: the known ones are listed, and any that a client asks for exists."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import LIST_PAGE_MAX
from lastcall.web.account import Account
from lastcall.web.arm.front_door import LOCATION, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire.catalogue import Image, alias_document, known_images, region
from lastcall.wire.quoting import shown

Json = dict[str, Any]
PUBLISHERS: Final = f"{LOCATION}/publishers"
OFFERS: Final = f"{PUBLISHERS}/{{publisher}}/artifacttypes/vmimage/offers"
SKUS: Final = f"{OFFERS}/{{offer}}/skus"
VERSIONS: Final = f"{SKUS}/{{sku}}/versions"
GIBIBYTE: Final = 1024**3
# Ours has one version of every image, in the shape that the publisher uses.
UBUNTU_RELEASES: Final = ("24.04", "22.04", "20.04", "18.04", "16.04")


async def _list_publishers(call: Call) -> Response:
    return _listed(call, (image.publisher for image in known_images()))


async def _list_offers(call: Call) -> Response:
    return _listed(call, (image.offer for image in known_images() if _is_of(image, call)))


async def _list_skus(call: Call) -> Response:
    return _listed(call, (image.sku for image in known_images() if _is_of(image, call)))


async def _list_versions(call: Call) -> Response:
    expanded = (call.query("$expand") or "").lower() == "properties"
    return _listed(call, [_version(call)], _properties(call) if expanded else {})


async def _show_version(call: Call) -> Response:
    wanted = shown(call.names["version"])
    version = _version(call) if wanted.lower() == "latest" else wanted
    return json(_item(call, version, call.path.rpartition("/")[0]) | _properties(call))


async def _show_aliases(_call: Call) -> Response:
    return json(alias_document())


def _is_of(image: Image, call: Call) -> bool:
    names = call.names
    return (
        image.publisher.lower() == names["publisher"].lower()
        and names.get("offer", image.offer).lower() == image.offer.lower()
    )


def _listed(call: Call, names: Iterable[str], more: Json | None = None) -> Response:
    """Answer with the names, ordered and cut as wanted: a bare array, as these lists are."""
    found = sorted(set(names), reverse=_is_descending(call))
    found = found[: call.number("$top", LIST_PAGE_MAX, range(1, LIST_PAGE_MAX + 1))]
    return json([_item(call, name, call.path) | (more or {}) for name in found])


def _is_descending(call: Call) -> bool:
    order = (call.query("$orderby") or "name").lower().split()
    if order in (["name"], ["name", "asc"]):
        return False
    if order != ["name", "desc"]:
        raise InvalidParameterError(
            "The value of '$orderby' is not 'name', 'name asc' or 'name desc'.", target="$orderby"
        )
    return True


def _item(call: Call, name: str, parent: str) -> Json:
    where = region(call.names["location"]).name
    return {"id": f"{parent.rstrip('/')}/{name}", "name": name, "location": where}


def _version(call: Call) -> str:
    offer, sku = call.names["offer"], call.names["sku"]
    if call.names["publisher"].lower() != "canonical":
        return "1.0.20240701"
    text = f"{offer} {sku}".replace("_", ".")
    release = next((known for known in UBUNTU_RELEASES if known in text), UBUNTU_RELEASES[0])
    return f"{release}.202407010"


def _properties(call: Call) -> Json:
    """Return what an image is. Without hyperVGeneration: clients would warn of Trusted Launch."""
    is_windows = "windows" in call.names["publisher"].lower()
    gibibytes = 127 if is_windows else 30
    return {
        "properties": {
            "architecture": "x64",
            "automaticOSUpgradeProperties": {"automaticOSUpgradeSupported": True},
            "dataDiskImages": [],
            "osDiskImage": {
                "operatingSystem": "Windows" if is_windows else "Linux",
                "sizeInGb": gibibytes,
                "sizeInBytes": gibibytes * GIBIBYTE + 512,
            },
        }
    }


def routes(account: Account) -> Iterator[Route]:
    """Yield every operation on images."""
    route = partial(arm_route, account)
    yield route("GET", PUBLISHERS, _list_publishers, "List the publishers of images")
    yield route("GET", OFFERS, _list_offers, "List the offers of a publisher")
    yield route("GET", SKUS, _list_skus, "List the skus of an offer")
    yield route("GET", VERSIONS, _list_versions, "List the versions of a sku")
    yield route("GET", f"{VERSIONS}/{{version}}", _show_version, "Show an image")
    yield Route(
        method="GET",
        path="/aliases.json",
        handler=_show_aliases,
        summary="List names of images",
        is_open=True,  # The CLI fetches it without a token.
    )
