"""Where a scale set lives, and the words for one that is not there, or not for long."""

from msgspec import Struct

from lastcall.app.resources import demand_group
from lastcall.engine.errors import ConflictError, ResourceNotFoundError
from lastcall.engine.model import Provisioning, SetId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader
from lastcall.wire.names import set_id
from lastcall.wire.paths import Path, group_path


class SetKey(Struct, frozen=True, kw_only=True):
    """Where a set lives, in the spelling of its first writer."""

    id: SetId
    subscription: str
    resource_group: str
    name: str


def key_at(path: Path) -> SetKey:
    """Return the key of the set that a path names, or in which it names something."""
    subscription, group, name = path.subscription, path.group, path.names[0]
    return SetKey(
        id=set_id(subscription, group, name),
        subscription=subscription,
        resource_group=group,
        name=name,
    )


def find(reader: Reader, set_id: SetId) -> ScaleSet | None:
    """Return a set, or None where there is none."""
    try:
        return reader.scale_set(set_id)
    except ResourceNotFoundError:
        return None


def known(reader: Reader, key: SetKey) -> ScaleSet:
    """Return a set, or refuse in ARM's words (R109)."""
    found = find(reader, key.id)
    if found is None:
        demand_group(reader, group_path(key.subscription, key.resource_group))
        raise missing(key)
    return found


def staying(reader: Reader, set_id: SetId) -> ScaleSet:
    """Return a set that is not on its way out, or refuse."""
    found = reader.scale_set(set_id)
    if found.provisioning is Provisioning.DELETING:
        raise ConflictError(f"The scale set '{found.name}' is being deleted.")
    return found


def missing(key: SetKey) -> ResourceNotFoundError:
    """Return the refusal for a set that does not exist (R109)."""
    return ResourceNotFoundError(
        f"The Resource 'Microsoft.Compute/virtualMachineScaleSets/{key.name}' under resource group"
        f" '{key.resource_group}' was not found. For more details please go to"
        " https://aka.ms/ARMResourceNotFoundFix"
    )
