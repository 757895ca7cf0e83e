"""Availability sets: written, shown, deleted when they are empty."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from lastcall.app import availability_sets
from lastcall.app.machines import machines_of
from lastcall.app.platform import Platform
from lastcall.engine.resources import Resource
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import COMPUTE, GROUP, SUBSCRIPTION, arm_route
from lastcall.web.arm.kinds import Kind, Resources
from lastcall.web.arm.views import Json, Manner
from lastcall.web.routing import Route
from lastcall.wire.availability_sets import SET_TYPE, encode_set

SETS: Final = f"{GROUP}{COMPUTE}/availabilitySets"
SET: Final = f"{SETS}/{{availabilitySet}}"


def show(reader: Reader, found: Resource, _view: Manner) -> Json:
    """Return an availability set as GET shows it."""
    return encode_set(found, machines_of(reader, found))


KIND: Final = Kind(
    type=SET_TYPE,
    name="availabilitySet",
    write=availability_sets.write,
    show=show,
    delete=availability_sets.delete,
    is_tracked=False,
)


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on availability sets."""
    sets = Resources(platform, KIND)
    route = partial(arm_route, account)
    everywhere = f"{SUBSCRIPTION}{COMPUTE}/availabilitySets"
    yield route("GET", everywhere, sets.list_all, "List all availability sets")
    yield route("GET", SETS, sets.list_all, "List those of a resource group")
    put, patch = partial(sets.write, may_create=True), partial(sets.write, may_create=False)
    yield route("PUT", SET, put, "Create or update an availability set")
    yield route("PATCH", SET, patch, "Update an availability set")
    yield route("GET", SET, sets.show, "Show an availability set")
    yield route("GET", f"{SET}/vmSizes", sets.list_sizes, "List the sizes of its machines")
    yield route("DELETE", SET, sets.delete, "Delete an empty availability set", (200, 204))
