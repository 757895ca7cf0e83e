"""The instances of sets with orchestrationMode Flexible, which are virtual machines too (R50)."""

from collections.abc import Iterator

from msgspec import Struct

from lastcall.app import resources
from lastcall.app.scale_sets import members
from lastcall.engine.errors import ConflictError
from lastcall.engine.model import Machine, ScopeId
from lastcall.engine.scale_sets import Orchestration, ScaleSet
from lastcall.ports import Reader
from lastcall.wire.paths import Path


class Flexible(Struct, frozen=True):
    """An instance with its set and its scope."""

    scale_set: ScaleSet
    scope_id: ScopeId
    machine: Machine


def flexible_sets(reader: Reader, group: str | None = None) -> Iterator[ScaleSet]:
    """Yield the Flexible sets of a resource group, or all."""
    for scale_set in reader.scale_sets(group):
        if scale_set.traits.orchestration is Orchestration.FLEXIBLE:
            yield scale_set


def find(reader: Reader, path: Path) -> Flexible | None:
    """Return the instance that the path of a virtual machine means, or None.

    A virtual machine that no set owns goes before an instance of its name.
    """
    if resources.find(reader, path) is not None:
        return None
    wanted = path.name.lower()
    for scale_set in flexible_sets(reader, path.group):
        # Each instance is called after its set (R50): no other set need be read.
        if wanted.startswith(f"{scale_set.name.lower()}_"):
            for scope_id, machine in members(reader, scale_set):
                if machine.name.lower() == wanted:
                    return Flexible(scale_set, scope_id, machine)
    return None


def refuse_write(reader: Reader, path: Path) -> None:
    """Refuse to write an instance as if it were a virtual machine of its own."""
    found = find(reader, path)
    if found is not None:
        raise ConflictError(
            f"The virtual machine '{found.machine.name}' is an instance of the scale set"
            f" '{found.scale_set.name}': write the scale set instead."
        )
