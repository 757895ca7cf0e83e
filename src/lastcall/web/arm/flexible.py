"""Instances of Flexible sets as virtual machines (R50): shown here, acted on as instances."""

from lastcall.app.flexible import Flexible, flexible_sets
from lastcall.app.machines import Members
from lastcall.app.scale_sets import members
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.web.arm.views import USER_DATA, Json, Manner, models_of, show_instances
from lastcall.web.routing import Call
from lastcall.wire.fields import object_at
from lastcall.wire.flexible import encode_flexible
from lastcall.wire.instances import encode_instance_view
from lastcall.wire.names import place, scale_set_path
from lastcall.wire.traits import PROFILE


def as_instance(call: Call, found: Flexible) -> Call:
    """Return a request about a virtual machine as the same about an instance of its set."""
    return call.renamed(set=found.scale_set.name, instance=found.machine.instance_id)


def show_flexible(reader: Reader, found: Flexible, view: Manner) -> Json:
    """Return one instance as GET of a virtual machine shows it."""
    return _shown(reader, found.scale_set, [(found.scope_id, found.machine)], view)[0]


def view_flexible(found: Flexible, view: Manner) -> Json:
    """Return how an instance is doing; virtual machines are in no placement group."""
    return encode_instance_view(found.machine, None, view.now)


def list_flexible(reader: Reader, call: Call, view: Manner, set_path: str | None) -> list[Json]:
    """Return the instances that a list of virtual machines has, those of one set if it is named."""
    location = place(call.names.get("location", ""))
    wanted = None if set_path is None else set_path.strip("/").lower()
    shown: list[Json] = []
    for scale_set in flexible_sets(reader, call.names.get("group")):
        is_named = wanted in (None, scale_set_path(scale_set).strip("/").lower())
        if is_named and location in ("", scale_set.location):
            shown += _shown(reader, scale_set, members(reader, scale_set), view)
    return shown


def _shown(reader: Reader, scale_set: ScaleSet, chosen: Members, view: Manner) -> list[Json]:
    expanded = frozenset({USER_DATA} if USER_DATA.lower() in view.expanded else ())
    manner = Manner(version=view.version, now=view.now, expanded=expanded)
    model = models_of(reader, scale_set, view.version)
    instances = show_instances(reader, scale_set, chosen, manner)
    shown: list[Json] = []
    for (scope_id, machine), instance in zip(chosen, instances, strict=True):
        profile = object_at(model(machine.model.version), PROFILE)
        vm = encode_flexible(scale_set, instance, profile, view.version)
        if "instanceview" in view.expanded:
            found = Flexible(scale_set, scope_id, machine)
            vm["properties"]["instanceView"] = view_flexible(found, view)
        shown.append(vm)
    return shown
