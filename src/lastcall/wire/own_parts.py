"""What single instances have of their own: extensions, run commands, disks, data, tags.

Until resources have a table of their own, the set's document keeps it, under a name that no
client can write. Instances are known by their vmId: a new one never inherits from an old one.
"""

from collections.abc import Collection, Mapping
from typing import Any

from lastcall.engine.errors import ConflictError
from lastcall.engine.limits import INSTANCE_CHILDREN_MAX
from lastcall.engine.model import MachineId
from lastcall.wire.spelling import INSTANCES

Json = dict[str, Any]

EXTENSIONS = "extensions"
RUN_COMMANDS = "runCommands"
WRITES = "writes"
# Parts of the model that an instance has in place of its set's.
DATA_DISKS = "dataDisks"
USER_DATA = "userData"
TAGS = "tags"
OWN_MODEL = frozenset({DATA_DISKS, USER_DATA})


def of_instance(document: Mapping[str, Any], machine: MachineId) -> Json:
    """Return what an instance has of its own; empty where it has nothing."""
    own: Json = document.get(INSTANCES, {}).get(machine, {})
    return own


def with_own(
    document: Mapping[str, Any], machine: MachineId, own: Mapping[str, Any], alive: Collection[str]
) -> Json:
    """Return the document after a write to what an instance has; the dead are forgotten."""
    counted = {**own, WRITES: own.get(WRITES, 0) + 1}
    others = {vm: kept for vm, kept in document.get(INSTANCES, {}).items() if vm in alive}
    return {**document, INSTANCES: {**others, machine: counted}}


def children(own: Mapping[str, Any], kind: str) -> Json:
    """Return the extensions or the run commands of an instance, by their names in lower case."""
    found: Json = own.get(kind, {})
    return found


def with_child(own: Mapping[str, Any], kind: str, name: str, child: Json | None) -> Json:
    """Return what an instance has after one of its children was written, or taken away."""
    kept = {key: value for key, value in children(own, kind).items() if key != name.lower()}
    if child is not None:
        kept[name.lower()] = child
    if len(kept) > INSTANCE_CHILDREN_MAX:
        raise ConflictError(f"An instance has at most {INSTANCE_CHILDREN_MAX} {kind}.")
    return {**own, kind: kept}
