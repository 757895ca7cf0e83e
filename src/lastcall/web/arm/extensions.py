"""Extensions of a set: they are a part of its model, written one at a time."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from lastcall.app.learning import Moment
from lastcall.app.platform import Platform
from lastcall.app.revisions import Change, apply
from lastcall.app.scale_sets import Written
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    SET,
    accepted,
    api_version,
    arm_route,
    key_of,
    tracking,
    with_body,
)
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list, public, set_extensions
from lastcall.wire.bodies import parse_body, parse_stored
from lastcall.wire.fields import object_at
from lastcall.wire.members import DATE_CHARACTERS
from lastcall.wire.merging import merge
from lastcall.wire.names import SET_TYPE, refuse_child_name, scale_set_path

Json = dict[str, Any]

EXTENSIONS: Final = f"{SET}/extensions"
EXTENSION: Final = f"{EXTENSIONS}/{{extension}}"
TYPE_SINCE: Final = "2020-06-01"


class Extensions:
    """Handlers for `virtualMachineScaleSets/extensions`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def list_all(self, call: Call) -> Response:
        """List the extensions of a set."""
        key = key_of(call)
        scale_set, found = await self._platform.read(lambda r: _extensions(r, key))
        return json(encode_list(_shown(call, scale_set, entry) for entry in found))

    async def show(self, call: Call) -> Response:
        """Show one extension."""
        key = key_of(call)
        scale_set, found = await self._platform.read(lambda r: _extensions(r, key))
        entry = _named(found, call.names["extension"])
        if entry is None:
            raise InstanceNotFoundError
        return json(_shown(call, scale_set, entry))

    async def write(self, call: Call, *, may_create: bool) -> Response:
        """Add an extension to the model, or change it."""
        key, name = key_of(call), call.names["extension"]
        body = parse_body(await call.body())
        object_at(body, "properties")
        refuse_child_name(name)

        def work(tx: Transaction, moment: Moment) -> tuple[Written, Json, bool]:
            _, found = _extensions(tx, key)
            before = _named(found, name)
            if before is None and not may_create:
                raise InstanceNotFoundError
            # A PUT is the whole extension, a PATCH a part of it.
            base = before if before is not None and not may_create else {"name": name}
            after = merge(base, {"properties": body.get("properties") or {}})
            after["name"] = name if before is None else before["name"]
            others = [entry for entry in found if entry is not before]
            written = apply(tx, _change(key, [*others, after]), moment)
            return written, after, before is None

        written, after, is_new = await self._platform.transact(work)
        state = "Creating" if is_new else "Updating"
        shown = _shown(call, written.scale_set, after, state)
        return json(shown, 201 if is_new else 200, tracking(call, written.operation))

    async def delete(self, call: Call) -> Response:
        """Take an extension out of the model."""
        key, name = key_of(call), call.names["extension"]

        def work(tx: Transaction, moment: Moment) -> Written | None:
            _, found = _extensions(tx, key)
            before = _named(found, name)
            if before is None:
                return None
            return apply(tx, _change(key, [e for e in found if e is not before]), moment)

        written = await self._platform.transact(work)
        if written is None:
            return Response(status_code=204)
        return accepted(call, written.operation)


def _extensions(reader: Reader, key: SetKey) -> tuple[ScaleSet, list[Json]]:
    scale_set = known(reader, key)
    document = parse_stored(reader.document(scale_set.id, scale_set.number))
    return scale_set, set_extensions(document)


def _named(found: list[Json], name: str) -> Json | None:
    return next((entry for entry in found if entry["name"].lower() == name.lower()), None)


def _change(key: SetKey, extensions: list[Json]) -> Change:
    profile = {"extensionProfile": {"extensions": extensions}}
    patch = {"properties": {"virtualMachineProfile": profile}}
    return Change(key=key, patch=patch, may_create=False)


def _shown(
    call: Call, scale_set: ScaleSet, entry: Mapping[str, Any], state: str = "Succeeded"
) -> Json:
    shown: Json = {
        "name": entry["name"],
        "id": f"{scale_set_path(scale_set)}/extensions/{entry['name']}",
        "type": f"{SET_TYPE}/extensions",
        "properties": {**public(object_at(entry, "properties")), "provisioningState": state},
    }
    if api_version(call)[:DATE_CHARACTERS] < TYPE_SINCE:
        del shown["type"]
    return shown


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on extensions of a set."""
    extensions = Extensions(platform)
    route = partial(arm_route, account)
    put = partial(extensions.write, may_create=True)
    patch = partial(extensions.write, may_create=False)
    yield route("GET", EXTENSIONS, extensions.list_all, "List the extensions of a set")
    yield route("GET", EXTENSION, extensions.show, "Show an extension of a set")
    yield with_body(route("PUT", EXTENSION, put, "Write an extension of a set", (200, 201)))
    yield with_body(route("PATCH", EXTENSION, patch, "Change an extension of a set"))
    yield route("DELETE", EXTENSION, extensions.delete, "Delete an extension of a set", (202, 204))
