"""Extensions and run commands of single instances: stored, shown, taken away."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from starlette.responses import Response

from lastcall.app.learning import Moment
from lastcall.app.own_parts import Own, Part, part, rewrite
from lastcall.app.platform import Platform
from lastcall.app.set_keys import SetKey, known
from lastcall.engine.errors import InstanceNotFoundError
from lastcall.engine.operations import Operation
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    INSTANCE,
    accepted,
    arm_route,
    key_of,
    tracking,
    with_body,
)
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list, public
from lastcall.wire.bodies import parse_body, parse_stored
from lastcall.wire.defaults import completed
from lastcall.wire.fields import object_at
from lastcall.wire.instance_filters import VIEW, parse_expand
from lastcall.wire.instances import encode_extensions
from lastcall.wire.merging import merge
from lastcall.wire.names import INSTANCE_TYPE, instance_path, refuse_child_name
from lastcall.wire.own_parts import EXTENSIONS, RUN_COMMANDS, children, with_child

Json = dict[str, Any]

NOT_RUN: Final = {
    "executionState": "Unknown",
    "executionMessage": "It is stored and not run: machines have no guest agent here.",
}


class Kind(Struct, frozen=True):
    """One kind of children: where it is kept, and how all that an instance has is shown."""

    name: str
    encode: Callable[[Reader, Part], list[Json]]


class Children:
    """Handlers for one kind of children of instances."""

    def __init__(self, platform: Platform, kind: Kind) -> None:
        self._platform = platform
        self._kind = kind

    async def list_all(self, call: Call) -> Response:
        """List the children of an instance."""
        found = await self._platform.read(lambda r: self._found(r, call))
        return json(encode_list(found))

    async def show(self, call: Call) -> Response:
        """Show one child of an instance."""
        is_expanded = VIEW in parse_expand(call.query("$expand"))
        found = await self._platform.read(lambda r: self._found(r, call))
        entry = next((e for e in found if e["name"].lower() == call.names["child"].lower()), None)
        if entry is None:
            raise InstanceNotFoundError
        if is_expanded and self._kind.name == RUN_COMMANDS:
            entry["properties"][VIEW] = NOT_RUN
        return json(entry)

    async def write(self, call: Call, *, may_create: bool) -> Response:
        """Add a child to an instance, or change it."""
        name, body = call.names["child"], parse_body(await call.body())
        object_at(body, "properties")
        object_at(body, "tags")
        refuse_child_name(name)
        operation, is_new, found = await self._platform.transact(
            lambda tx, moment: self._written(tx, call, body, moment, may_create=may_create)
        )
        entry = next(each for each in found if each["name"].lower() == name.lower())
        entry["properties"]["provisioningState"] = "Creating" if is_new else "Updating"
        return json(entry, 201 if is_new else 200, tracking(call, operation))

    async def delete(self, call: Call) -> Response:
        """Take a child away from an instance."""
        operation = await self._platform.transact(
            lambda tx, moment: self._deleted(tx, call, moment)
        )
        return Response(status_code=204) if operation is None else accepted(call, operation)

    def _found(self, reader: Reader, call: Call) -> list[Json]:
        return self._kind.encode(reader, _part(reader, key_of(call), call))

    def _written(
        self, tx: Transaction, call: Call, body: Json, moment: Moment, *, may_create: bool
    ) -> tuple[Operation, bool, list[Json]]:
        kind, name = self._kind.name, call.names["child"]
        found = _part(tx, key_of(call), call)
        before = children(found.own, kind).get(name.lower())
        if before is None and not may_create:
            raise InstanceNotFoundError
        base = before if before is not None and not may_create else {}
        after = {**merge(base, body), "name": name if before is None else before["name"]}
        operation = self._rewritten(tx, found, name, after, moment)
        return operation, before is None, self._found(tx, call)

    def _deleted(self, tx: Transaction, call: Call, moment: Moment) -> Operation | None:
        name, found = call.names["child"], _part(tx, key_of(call), call)
        if name.lower() not in children(found.own, self._kind.name):
            return None
        return self._rewritten(tx, found, name, None, moment)

    def _rewritten(
        self, tx: Transaction, found: Part, name: str, child: Json | None, moment: Moment
    ) -> Operation:
        def edit(own: Own) -> Own:
            return with_child(own, self._kind.name, name, child)

        return rewrite(tx, found.scale_set, found.machine.instance_id, edit, moment)


def _part(reader: Reader, key: SetKey, call: Call) -> Part:
    return part(reader, known(reader, key), call.names["instance"])


def _extensions(reader: Reader, found: Part) -> list[Json]:
    scale_set, machine = found.scale_set, found.machine
    document = parse_stored(reader.document(scale_set.id, machine.model.version))
    model = completed(document, scale_set.traits)
    return encode_extensions(scale_set, machine, model, found.own)


def _run_commands(_reader: Reader, found: Part) -> list[Json]:
    path = f"{instance_path(found.scale_set, found.machine)}/{RUN_COMMANDS}"
    return [
        _run_command(f"{path}/{entry['name']}", entry, found)
        for entry in children(found.own, RUN_COMMANDS).values()
    ]


def _run_command(path: str, entry: Mapping[str, Any], found: Part) -> Json:
    shown: Json = {
        "name": entry["name"],
        "id": path,
        "type": f"{INSTANCE_TYPE}/{RUN_COMMANDS}",
        "location": found.scale_set.location,
        "properties": {**public(object_at(entry, "properties")), "provisioningState": "Succeeded"},
    }
    if "tags" in entry:
        shown["tags"] = entry["tags"]
    return shown


KINDS: Final = (Kind(EXTENSIONS, _extensions), Kind(RUN_COMMANDS, _run_commands))


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on extensions and run commands of instances."""
    route = partial(arm_route, account)
    for kind in KINDS:
        handlers = Children(platform, kind)
        several = f"{INSTANCE}/{kind.name}"
        one, what = f"{several}/{{child}}", kind.name
        put = partial(handlers.write, may_create=True)
        patch = partial(handlers.write, may_create=False)
        yield route("GET", several, handlers.list_all, f"List the {what} of an instance")
        yield route("GET", one, handlers.show, f"Show one of the {what} of an instance")
        written = f"Write one of the {what} of an instance"
        yield with_body(route("PUT", one, put, written, (200, 201)))
        yield with_body(route("PATCH", one, patch, f"Change one of the {what} of an instance"))
        deleted = f"Delete one of the {what} of an instance"
        yield route("DELETE", one, handlers.delete, deleted, (202, 204))
