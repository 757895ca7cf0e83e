"""What a request changes of one instance's own model: data disks, user data, tags."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from lastcall.engine.errors import ConflictError, InvalidParameterError
from lastcall.engine.limits import INSTANCE_CHILDREN_MAX
from lastcall.wire.fields import lookup, number_at, object_at, refuse, text_at
from lastcall.wire.own_parts import DATA_DISKS, TAGS, USER_DATA

Json = dict[str, Any]

DISKS: Final = "properties.storageProfile.dataDisks"
ATTACH: Final = "dataDisksToAttach"
DETACH: Final = "dataDisksToDetach"
LUNS: Final = range(INSTANCE_CHILDREN_MAX)
# Of a disk to attach, what the data disk then has under the same name.
KEPT: Final = ("caching", "deleteOption", "writeAcceleratorEnabled")


class Disks(Struct, frozen=True):
    """Data disks to attach, each as it was asked for, and the ids of those to detach."""

    attach: tuple[Json, ...]
    detach: frozenset[str]


def with_own_model(
    shown: Mapping[str, Any], document: Mapping[str, Any], own: Mapping[str, Any]
) -> Json:
    """Return what an instance has of its own after a PUT; `shown` is how it was shown before.

    What is sent back as it was read is no change, and null gives way to the set's model again.
    """
    changed = dict(own)
    _put(changed, USER_DATA, document.get("properties"), "userData", shown["properties"])
    _put(changed, TAGS, document, "tags", shown)
    storage = object_at(document, "properties").get("storageProfile")
    _put(changed, DATA_DISKS, storage, "dataDisks", shown["properties"].get("storageProfile", {}))
    text_at(document, "properties.userData")
    tags = object_at(document, "tags")
    if not all(isinstance(value, str) for value in tags.values()):
        refuse("tags", dict(tags), "an object of strings")
    refuse_disks(document, DISKS)
    return changed


def parse_disks(document: Mapping[str, Any]) -> Disks:
    """Return which disks a request attaches and detaches, or refuse."""
    attach, detach = (_entries(document, name) for name in (ATTACH, DETACH))
    if not attach and not detach:
        raise InvalidParameterError(
            f"Neither '{ATTACH}' nor '{DETACH}' names a disk.", target=ATTACH
        )
    return Disks(tuple(attach), frozenset(disk["diskId"].lower() for disk in detach))


def changed_disks(shown: Mapping[str, Any], disks: Disks, own: Mapping[str, Any]) -> Json:
    """Return what an instance has of its own after disks were attached and detached."""
    storage = shown["properties"].get("storageProfile", {})
    present = list(storage.get("dataDisks", ()))
    known = {_disk_id(disk) for disk in present}
    missing = sorted(disks.detach - known)
    if missing:
        raise InvalidParameterError(
            f"The disk '{missing[0]}' is not attached to the instance.", target=DETACH
        )
    kept = [disk for disk in present if _disk_id(disk) not in disks.detach]
    for wanted in disks.attach:
        kept.append(_attached(wanted, kept))
    return {**own, DATA_DISKS: kept}


def _put(own: Json, name: str, given: Any, member: str, shown: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping) or member not in given or given[member] == shown.get(member):
        return
    if given[member] is None:
        own.pop(name, None)
    else:
        own[name] = given[member]


def _attached(wanted: Json, present: list[Json]) -> Json:
    taken = {disk.get("lun") for disk in present}
    if wanted["diskId"].lower() in {_disk_id(disk) for disk in present}:
        raise ConflictError(f"The disk '{wanted['diskId']}' is attached already.")
    lun = number_at(wanted, "lun", LUNS)
    if lun is None:
        lun = next((free for free in LUNS if free not in taken), None)
    if lun is None or lun in taken:
        raise ConflictError(f"There is no free place for the disk '{wanted['diskId']}'.")
    return {
        "lun": lun,
        "name": wanted["diskId"].rpartition("/")[2],
        "createOption": "Attach",
        **{name: wanted[name] for name in KEPT if name in wanted},
        "managedDisk": {"id": wanted["diskId"]},
    }


def _disk_id(disk: Any) -> str:
    found = lookup(disk, "managedDisk.id") if isinstance(disk, Mapping) else None
    return found.lower() if isinstance(found, str) else ""


def _entries(document: Mapping[str, Any], name: str) -> list[Json]:
    value = document.get(name)
    entries = [] if value is None else value
    if not isinstance(entries, list) or len(entries) > INSTANCE_CHILDREN_MAX:
        refuse(name, value, f"an array of at most {INSTANCE_CHILDREN_MAX} disks")
    for entry in entries:
        if not isinstance(entry, dict) or not text_at(entry, "diskId"):
            refuse(f"{name}.diskId", entry, "the id of a disk")
    return entries


def refuse_disks(document: Mapping[str, Any], path: str) -> None:
    """Refuse what stands at a path if it is no array of data disks."""
    disks = lookup(document, path)
    if disks is None:
        return
    if not isinstance(disks, list) or len(disks) > INSTANCE_CHILDREN_MAX:
        refuse(path, disks, f"an array of at most {INSTANCE_CHILDREN_MAX} disks")
    for disk in disks:
        if not isinstance(disk, Mapping):
            refuse(path, disk, "a disk")
