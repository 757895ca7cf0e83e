"""Virtual machines that no scale set owns: written, shown, acted on, evicted, deleted."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from starlette.responses import Response

from lastcall.app import virtual_machines
from lastcall.app.platform import Platform
from lastcall.app.resources import known
from lastcall.app.virtual_machines import machine_of
from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.model import Action
from lastcall.engine.resources import Resource
from lastcall.ports import Reader
from lastcall.web.account import Account
from lastcall.web.arm.front_door import (
    COMPUTE,
    LOCATION,
    SUBSCRIPTION,
    accepted,
    api_version,
    arm_route,
)
from lastcall.web.arm.kinds import Kind, Resources, optional_body
from lastcall.web.arm.views import Json, Manner
from lastcall.web.errors import NotBuiltError
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
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
OF_SET: Final = re.compile(r"'virtualMachineScaleSet/id' eq '[^']+'", re.IGNORECASE)


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

    async def list_some(self, call: Call) -> Response:
        """List virtual machines; none of them is in a scale set."""
        filtered = call.query("$filter")
        if filtered is None:
            return await self.list_all(call)
        if not OF_SET.fullmatch(filtered.strip()):
            raise InvalidParameterError(
                f"The $filter '{shown(filtered)}' is not supported; only"
                " 'virtualMachineScaleSet/id' eq '...' is.",
                target="$filter",
            )
        return json(encode_list([]))

    async def show_view(self, call: Call) -> Response:
        """Show how a virtual machine is doing (R103)."""
        path, view = self.path(call), self.view(call)

        def work(reader: Reader) -> Json:
            vm = known(reader, path)
            return encode_machine_view(vm, machine_of(reader, vm)[1], view.now)

        return json(await self._platform.read(work))

    async def act(self, call: Call, *, action: Action) -> Response:
        """Do something to a virtual machine."""
        await optional_body(call)
        path = self.path(call)
        if call.flag("hibernate"):
            raise NotBuiltError("Hibernation is not implemented.")
        operation = await self._platform.transact(
            lambda tx, moment: virtual_machines.act(tx, known(tx, path), action, moment)
        )
        return accepted(call, operation)

    async def evict(self, call: Call) -> Response:
        """Evict a Spot virtual machine (R83)."""
        await optional_body(call)
        refuse_api_version(api_version(call), EVICTION_SINCE)
        path = self.path(call)
        await self._platform.transact(
            lambda tx, moment: virtual_machines.evict(tx, known(tx, path), moment)
        )
        return Response(status_code=204)

    async def refuse(self, call: Call, *, name: str) -> Response:
        """Say that an operation is not built; what it would refuse is refused first."""
        await optional_body(call)
        path = self.path(call)
        await self._platform.read(lambda r: known(r, path))
        raise NotBuiltError(f"The operation '{name}' is not implemented. {UNBUILT[name]}")


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
