"""Autoscale settings: written, changed, shown, deleted (R114)."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import autoscale
from lastcall.app.learning import Moment, remove
from lastcall.app.platform import Platform
from lastcall.app.resources import demand_group, find, known
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import AUTOSCALE_NAME_CHARACTERS_MAX
from lastcall.engine.resources import Resource
from lastcall.ports import Reader, Transaction
from lastcall.web.account import Account
from lastcall.web.arm.conditions import conditions
from lastcall.web.arm.front_door import GROUP, INSIGHTS, SUBSCRIPTION, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire import versions
from lastcall.wire.arm import encode_list
from lastcall.wire.autoscale import SETTING_TYPE
from lastcall.wire.autoscale_documents import changed, created, encode_setting
from lastcall.wire.bodies import parse_body
from lastcall.wire.names import refuse_resource_group_name
from lastcall.wire.paths import Path, group_path
from lastcall.wire.quoting import shown

SETTINGS: Final = f"{GROUP}{INSIGHTS}/autoscaleSettings"
SETTING: Final = f"{SETTINGS}/{{setting}}"
NAME: Final = re.compile(r"[^<>*%&:?#+/\\\x00-\x1f]+(?<![. ])")


class Settings:
    """Handlers for `autoscaleSettings`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def create(self, call: Call) -> Response:
        """Create a setting, or replace it."""
        path, wanted = _path(call), conditions(call)
        document = created(parse_body(await call.body()), path.name)

        def work(tx: Transaction, moment: Moment) -> tuple[Resource, bool]:
            is_new = find(tx, path) is None
            return autoscale.write(tx, path, document, moment, wanted), is_new

        setting, is_new = await self._platform.transact(work)
        return json(encode_setting(setting), 201 if is_new else 200)

    async def change(self, call: Call) -> Response:
        """Change some members of a setting."""
        path, body, wanted = _path(call), parse_body(await call.body()), conditions(call)

        def work(tx: Transaction, moment: Moment) -> Resource:
            document = changed(known(tx, path).content, body, path.name)
            return autoscale.write(tx, path, document, moment, wanted)

        setting = await self._platform.transact(work)
        return json(encode_setting(setting))

    async def show(self, call: Call) -> Response:
        """Show one setting."""
        path = _path(call)
        return json(encode_setting(await self._platform.read(lambda r: known(r, path))))

    async def list_all(self, call: Call) -> Response:
        """List the settings of the subscription, or of a resource group."""
        group = call.names.get("group")
        found = await self._platform.read(lambda r: _listed(r, call.names["subscription"], group))
        return json(encode_list(map(encode_setting, found)))

    async def delete(self, call: Call) -> Response:
        """Delete a setting; its target stays as it is."""
        path = _path(call)
        was_there = await self._platform.transact(lambda tx, _moment: _deleted(tx, path))
        return Response(status_code=200 if was_there else 204)


def _path(call: Call) -> Path:
    names = call.names
    refuse_resource_group_name(names["group"])
    name = names["setting"]
    if len(name) > AUTOSCALE_NAME_CHARACTERS_MAX or not NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The autoscale setting name '{shown(name)}' is not allowed: it has 1 to"
            f" {AUTOSCALE_NAME_CHARACTERS_MAX} characters, none of <>*%&:?#+/\\, and does not end"
            " with '.' or a space.",
            target="autoscaleSettingName",
        )
    return Path(
        subscription=names["subscription"], group=names["group"], type=SETTING_TYPE, names=(name,)
    )


def _listed(reader: Reader, subscription: str, group: str | None) -> Sequence[Resource]:
    if group is None:
        return reader.resources(autoscale.KIND)
    demand_group(reader, group_path(subscription, group))
    return reader.resources(autoscale.KIND, group.lower())


def _deleted(tx: Transaction, path: Path) -> bool:
    demand_group(tx, path)
    was_there = find(tx, path) is not None
    remove(tx, path.id)
    return was_there


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on autoscale settings."""
    settings = Settings(platform)
    route = partial(arm_route, account, versions=versions.INSIGHTS)
    everywhere = f"{SUBSCRIPTION}{INSIGHTS}/autoscaleSettings"
    yield route("GET", everywhere, settings.list_all, "List all autoscale settings")
    yield route("GET", SETTINGS, settings.list_all, "List the autoscale settings of a group")
    yield route(
        "PUT", SETTING, settings.create, "Create or replace an autoscale setting", (200, 201)
    )
    yield route("PATCH", SETTING, settings.change, "Change an autoscale setting")
    yield route("GET", SETTING, settings.show, "Show an autoscale setting")
    yield route("DELETE", SETTING, settings.delete, "Delete an autoscale setting", (200, 204))
