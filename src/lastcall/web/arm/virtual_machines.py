"""Virtual machines: written, shown, acted on, evicted, deleted.

The instances of Flexible sets are some too: whatever is done to one is done to the instance.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import flexible, virtual_machines
from lastcall.app.flexible import Flexible
from lastcall.app.platform import Platform
from lastcall.app.resources import known
from lastcall.app.virtual_machines import machine_of
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.model import Action
from lastcall.engine.resources import Resource
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.flexible import (
    as_instance,
    list_flexible,
    show_flexible,
    view_flexible,
)
from lastcall.web.arm.front_door import (
    COMPUTE,
    LOCATION,
    SUBSCRIPTION,
    accepted,
    api_version,
    arm_route,
)
from lastcall.web.arm.instances import Instances
from lastcall.web.arm.kinds import Kind, Resources, optional_body
from lastcall.web.arm.sizes import show_size
from lastcall.web.arm.views import Json, Manner
from lastcall.web.errors import NotBuiltError
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.catalogue import all_sizes
from lastcall.wire.quoting import shown
from lastcall.wire.versions import refuse_api_version
from lastcall.wire.virtual_machines import (
    VM_TYPE,
    encode_machine,
    encode_machine_view,
    without_user_data,
)

VMS: Final = f"{SUBSCRIPTION}/resourceGroups/{{group}}{COMPUTE}/virtualMachines"
VM: Final = f"{VMS}/{{vm}}"
EVICTION_SINCE: Final = "2020-06-01"

ACTIONS: Final = {
    "deallocate": Action.DEALLOCATE,
    # The owner does not wait for the host's maintenance: the machine moves to another host now.
    "performMaintenance": Action.REDEPLOY,
    "powerOff": Action.POWER_OFF,
    "reapply": Action.UPDATE,
    "redeploy": Action.REDEPLOY,
    "reimage": Action.REIMAGE,
    "restart": Action.RESTART,
    "start": Action.START,
}
NO_AGENT: Final = "Machines have no guest agent."
NO_DISKS: Final = "Disks are kept as they were given, and nothing is on them."
UNBUILT: Final = {
    "assessPatches": NO_AGENT,
    "attachDetachDataDisks": NO_DISKS,
    "capture": NO_DISKS,
    "convertToManagedDisks": NO_DISKS,
    "generalize": NO_DISKS,
    "installPatches": NO_AGENT,
    "migrateToVMScaleSet": "Machines do not move between scopes.",
    "retrieveBootDiagnosticsData": "Machines have no screen and no serial console to read.",
    "runCommand": NO_AGENT,
}
# What az asks for the virtual machines of a set with.
OF_SET: Final = re.compile(r"'virtualMachineScaleSet/id' eq '([^']+)'", re.IGNORECASE)


def show(reader: Reader, vm: Resource, view: Manner) -> Json:
    """Return a virtual machine as GET shows it."""
    _, machine = machine_of(reader, vm)
    shown = encode_machine(vm, machine, view.version)
    if "instanceview" in view.expanded:
        shown["properties"]["instanceView"] = encode_machine_view(vm, machine, view.now)
    return shown if "userdata" in view.expanded else without_user_data(shown)


KIND: Final = Kind(
    type=VM_TYPE,
    name="vm",
    write=virtual_machines.write,
    show=show,
    delete=virtual_machines.delete,
)


class VirtualMachines(Resources):
    """Handlers for `virtualMachines`."""

    def __init__(self, platform: Platform, kind: Kind) -> None:
        super().__init__(platform, kind)
        self._instances = Instances(platform)

    async def list_some(self, call: Call) -> Response:
        """List virtual machines, those of one Flexible set if a filter names it."""
        view, filtered = self.view(call), call.query("$filter")
        wanted = None if filtered is None else _set_named_in(filtered)

        def work(reader: Reader) -> list[Json]:
            alone = self.listed(reader, call, view)  # It demands the group, too.
            found = list_flexible(reader, call, view, wanted)
            return sorted(alone + found, key=_id) if wanted is None else found

        return json(encode_list(await self._platform.read(work)))

    async def write(self, call: Call, *, may_create: bool) -> Response:
        """Create a virtual machine or change it; instances are written by their set."""
        path = self.path(call)
        await self._platform.read(lambda r: flexible.refuse_write(r, path))
        return await super().write(call, may_create=may_create)

    async def show(self, call: Call) -> Response:
        """Show one virtual machine."""
        path, view = self.path(call), self.view(call)

        def work(reader: Reader) -> Json:
            found = flexible.find(reader, path)
            if found is None:
                return show(reader, known(reader, path), view)
            return show_flexible(reader, found, view)

        return json(await self._platform.read(work))

    async def show_view(self, call: Call) -> Response:
        """Show how a virtual machine is doing (R103)."""
        path, view = self.path(call), self.view(call)

        def work(reader: Reader) -> Json:
            found = flexible.find(reader, path)
            if found is not None:
                return view_flexible(found, view)
            vm = known(reader, path)
            return encode_machine_view(vm, machine_of(reader, vm)[1], view.now)

        return json(await self._platform.read(work))

    async def list_sizes(self, call: Call) -> Response:
        """List the sizes that a virtual machine can have: all there are."""
        if await self._instance(call) is None:
            return await super().list_sizes(call)
        return json(encode_list(map(show_size, all_sizes())))

    async def delete(self, call: Call) -> Response:
        """Delete a virtual machine."""
        found = await self._instance(call)
        if found is not None:
            return await self._instances.delete(as_instance(call, found))
        return await super().delete(call)

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to a virtual machine."""
        await optional_body(call)
        path = self.path(call)
        if call.flag("hibernate"):
            raise NotBuiltError("Hibernation is not implemented.")
        found = await self._instance(call)
        if found is not None:
            _refuse_reapply(found, action)
            return await self._instances.act(as_instance(call, found), action=action)
        operation = await self._platform.transact(
            lambda tx, moment: virtual_machines.act(tx, known(tx, path), action, moment)
        )
        return accepted(call, operation)

    async def evict(self, call: Call) -> Response:
        """Evict a Spot virtual machine (R83)."""
        await optional_body(call)
        refuse_api_version(api_version(call), EVICTION_SINCE)
        path, found = self.path(call), await self._instance(call)
        if found is not None:
            return await self._instances.evict(as_instance(call, found))
        await self._platform.transact(
            lambda tx, moment: virtual_machines.evict(tx, known(tx, path), moment)
        )
        return Response(status_code=204)

    async def refuse(self, call: Call, *, name: str) -> Response:
        """Say that an operation is not built; what it would refuse is refused first."""
        await optional_body(call)
        path = self.path(call)
        if await self._instance(call) is None:
            await self._platform.read(lambda r: known(r, path))
        raise NotBuiltError(f"The operation '{name}' is not implemented. {UNBUILT[name]}")

    async def _instance(self, call: Call) -> Flexible | None:
        path = self.path(call)
        return await self._platform.read(lambda r: flexible.find(r, path))


def _set_named_in(filtered: str) -> str:
    found = OF_SET.fullmatch(filtered.strip())
    if found is None:
        raise InvalidParameterError(
            f"The $filter '{shown(filtered)}' is not supported; only"
            " 'virtualMachineScaleSet/id' eq '...' is.",
            target="$filter",
        )
    return found[1]


def _refuse_reapply(found: Flexible, action: Action) -> None:
    """Refuse what would bring an instance its set's latest model, which nobody asked for."""
    if action is Action.UPDATE:
        raise NotBuiltError(
            "The operation 'reapply' is not implemented for an instance of a scale set: upgrade"
            f" the instances of '{found.scale_set.name}' instead."
        )


def _id(shown: Json) -> str:
    return str(shown["id"]).lower()


def routes(platform: Platform, account: Account) -> Iterator[Route]:
    """Yield every operation on virtual machines."""
    vms = VirtualMachines(platform, KIND)
    route = partial(arm_route, account)
    everywhere = f"{SUBSCRIPTION}{COMPUTE}/virtualMachines"
    yield route("GET", everywhere, vms.list_some, "List all virtual machines")
    yield route("GET", f"{LOCATION}/virtualMachines", vms.list_some, "List those of a location")
    yield route("GET", VMS, vms.list_some, "List those of a resource group")
    put, patch = partial(vms.write, may_create=True), partial(vms.write, may_create=False)
    yield route("PUT", VM, put, "Create or update a virtual machine", (200, 201))
    yield route("PATCH", VM, patch, "Update a virtual machine")
    yield route("GET", VM, vms.show, "Show a virtual machine")
    yield route("DELETE", VM, vms.delete, "Delete a virtual machine", (202, 204))
    yield route("GET", f"{VM}/instanceView", vms.show_view, "Show how it is doing")
    yield route("GET", f"{VM}/vmSizes", vms.list_sizes, "List the sizes that it can have")
    yield route("POST", f"{VM}/simulateEviction", vms.evict, "Evict a Spot machine", (204,))
    for name, action in ACTIONS.items():
        handler = partial(vms.act, action=action)
        yield route("POST", f"{VM}/{name}", handler, f"{name} a virtual machine", (202,))
    for name, why in UNBUILT.items():
        refusal = partial(vms.refuse, name=name)
        yield route("POST", f"{VM}/{name}", refusal, f"Not implemented: {why}", ())
