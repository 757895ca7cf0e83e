"""Which types of resources there are for deployments, and how each is written and shown."""

from typing import Any, Final

from msgspec.structs import replace

from lastcall.app import autoscale, generic, resources, scale_sets
from lastcall.app.kinds import Kind, Kinds, Wanted
from lastcall.app.learning import Moment, remove
from lastcall.app.revisions import Change, apply, checked
from lastcall.app.set_keys import key_at, known
from lastcall.engine.errors import InvalidTemplateDeploymentError, ResourceNotFoundError
from lastcall.engine.model import OperationId, Provisioning
from lastcall.engine.operations import Operation
from lastcall.ports import Reader, Transaction
from lastcall.web.arm import availability_sets, cloud_services, virtual_machines
from lastcall.web.arm.groups import encode_group
from lastcall.web.arm.kinds import Kind as ResourceKind
from lastcall.web.arm.views import Manner, show_set
from lastcall.wire.autoscale_documents import created, encode_setting
from lastcall.wire.catalogue import provider
from lastcall.wire.children import show
from lastcall.wire.defaults import NEWEST
from lastcall.wire.names import SET_TYPE
from lastcall.wire.paths import DEPLOYMENT_TYPE, GROUP_TYPE, Path
from lastcall.wire.spelling import with_known_names

Json = dict[str, Any]

# What says where a resource is and what comes before it; it is not a part of the resource.
ADDRESS: Final = frozenset({"apiVersion", "comments", "condition", "dependsOn", "name", "type"})

OTHERS: Final = (virtual_machines.KIND, availability_sets.KIND, cloud_services.KIND)


def kinds() -> Kinds:
    """Return every type."""
    others = Kind(write=_write_generic, show=_show_generic, delete=_delete_generic)
    return Kinds(
        known={
            SET_TYPE.lower(): Kind(write=_write_set, show=_show_set, delete=_delete_set),
            autoscale.KIND: Kind(write=_write_setting, show=_show_setting, delete=_delete_setting),
            GROUP_TYPE.lower(): replace(others, show=_show_group),
            DEPLOYMENT_TYPE.lower(): replace(others, show=_show_deployment),
            **{one.type.lower(): _with_machines(one) for one in OTHERS},
        },
        other=others,
        api_versions=_api_versions,
    )


def _api_versions(namespace: str, _type: str) -> list[str]:
    found = provider(namespace)
    return [] if found is None else list(found.versions)


def _document(wanted: Wanted) -> Json:
    return {key: item for key, item in wanted.body.items() if key not in ADDRESS}


def _write_set(tx: Transaction, wanted: Wanted, moment: Moment) -> Operation | None:
    key = key_at(wanted.path)
    # What templates spell as they like has one spelling from here on.
    patch = checked(key, with_known_names(_document(wanted)), wanted.api_version)
    return apply(tx, Change(key=key, patch=patch, part_of=wanted.part_of), moment).operation


def _show_set(reader: Reader, path: Path, version: str) -> Json:
    scale_set = known(reader, key_at(path))
    manner = Manner(version=version or NEWEST, now=scale_set.created_at)
    # What is written is there when the deployment is over, and nobody sees it before.
    return show_set(reader, scale_set, manner, Provisioning.SUCCEEDED)


def _delete_set(
    tx: Transaction, path: Path, moment: Moment, part_of: OperationId
) -> Operation | None:
    return scale_sets.delete(tx, known(tx, key_at(path)).id, moment, part_of=part_of)


def _write_setting(tx: Transaction, wanted: Wanted, moment: Moment) -> Operation | None:
    document = created(_document(wanted), wanted.path.name)
    autoscale.write(tx, wanted.path, document, moment)
    return None


def _show_setting(reader: Reader, path: Path, _version: str) -> Json:
    return encode_setting(resources.known(reader, path))


def _delete_setting(
    tx: Transaction, path: Path, _moment: Moment, _part_of: OperationId
) -> Operation | None:
    remove(tx, path.id)
    return None


def _with_machines(kind: ResourceKind) -> Kind:
    """Return how deployments deal with a resource that has machines and is no scale set."""

    def write(tx: Transaction, wanted: Wanted, moment: Moment) -> Operation | None:
        resources.demand_open_group(tx, wanted.path)
        body, version = _document(wanted), wanted.api_version
        return kind.write(tx, wanted.path, body, version, moment, wanted.part_of).operation

    def show(reader: Reader, path: Path, version: str) -> Json:
        found = resources.known(reader, path)
        # Nothing that a template can refer to depends on when it is asked for.
        view = Manner(version=version or NEWEST, now=found.created_at)
        shown = kind.show(reader, found, view)
        shown["properties"]["provisioningState"] = Provisioning.SUCCEEDED
        return shown

    def delete(
        tx: Transaction, path: Path, moment: Moment, part_of: OperationId
    ) -> Operation | None:
        return kind.delete(tx, resources.known(tx, path), moment, part_of=part_of)

    return Kind(write=write, show=show, delete=delete)


def _write_generic(tx: Transaction, wanted: Wanted, moment: Moment) -> Operation | None:
    if not generic.is_generic(wanted.path):
        raise InvalidTemplateDeploymentError(
            f"Resources of the type '{wanted.path.type}' cannot be deployed by a template here."
        )
    generic.put(tx, wanted.path, _document(wanted), moment)
    return None


def _show_generic(reader: Reader, path: Path, _version: str) -> Json:
    found = generic.find(reader, path) if generic.is_generic(path) else None
    if found is None:
        raise ResourceNotFoundError
    return show(found)


def _show_group(reader: Reader, path: Path, _version: str) -> Json:
    return encode_group(resources.known(reader, path))


def _show_deployment(reader: Reader, path: Path, _version: str) -> Json:
    """Return a deployment inside the one under way: what is written of it is all there is."""
    found = resources.known(reader, path)
    outputs = found.content.get("outputs", {})
    properties = {"provisioningState": Provisioning.SUCCEEDED, "outputs": outputs}
    return {"id": found.path, "name": found.name, "type": path.type, "properties": properties}


def _delete_generic(
    tx: Transaction, path: Path, moment: Moment, _part_of: OperationId
) -> Operation | None:
    generic.delete(tx, path, replace(moment, asked=None))  # It is the deployment that is asked for.
    return None
