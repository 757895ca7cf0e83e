"""Deployments: a template becomes resources, each written like any other, in the right order.

Everything is written in one transaction, each resource as a part that may fail alone. The
deployment then waits for what takes time: its operation has the resources' operations as parts.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from lastcall.app import resources
from lastcall.app.kinds import Kinds, Wanted
from lastcall.app.learning import Moment, release, remove, settle
from lastcall.engine.effects import Failure
from lastcall.engine.errors import (
    ConflictError,
    DomainError,
    InvalidParameterError,
    ResourceNotFoundError,
)
from lastcall.engine.limits import DEPLOYMENTS_PER_GROUP_MAX
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Resource
from lastcall.engine.value import Value
from lastcall.ports import Reader, Transaction
from lastcall.wire.availability_sets import SET_TYPE as AVAILABILITY_SET_TYPE
from lastcall.wire.deployments import FAILED, masked, without_secrets
from lastcall.wire.names import scale_set_path
from lastcall.wire.paths import DEPLOYMENT_TYPE, Path, parse_path
from lastcall.wire.quoting import shown

if TYPE_CHECKING:
    from lastcall.wire.templates import LookUp, Plan, PlannedResource

Json = dict[str, Any]

COMPLETE: Final = "Complete"
NAME: Final = re.compile(r"[-\w.()]{1,64}", re.ASCII)


class Asked(Value, frozen=True, kw_only=True):
    """A deployment as it was asked for."""

    path: Path
    tenant: str
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    mode: str = "Incremental"


class Part(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one resource of a template."""

    path: str
    operation: OperationId | None = None
    code: str = ""
    message: str = ""


def plan(reader: Reader, asked: Asked, kinds: Kinds, moment: Moment) -> "Plan":
    """Return what a deployment would write, or refuse its template."""
    # Not before the first deployment: it is the largest piece of the package.
    from lastcall.wire.templates import Context, Group, plan_deployment  # noqa: PLC0415

    group = resources.demand_open_group(reader, asked.path)
    assert group is not None, "a deployment is in a group"
    where = Group(
        id=group.path,
        name=group.name,
        location=str(group.content.get("location", "")),
        tags=group.content.get("tags") or {},
    )
    context = Context(
        subscription_id=asked.path.subscription,
        tenant_id=asked.tenant,
        group=where,
        deployment_name=asked.path.name,
        api_versions=kinds.api_versions,
        now=moment.now,
        seed=moment.ids.operation_id(),
        mode=asked.mode,
    )
    return plan_deployment(dict(asked.template), dict(asked.parameters), context)


def deploy(tx: Transaction, asked: Asked, kinds: Kinds, moment: Moment) -> Resource:
    """Write everything that a template asks for; what goes wrong is told by the deployment."""
    resources.demand_open_group(tx, asked.path)
    refuse_deployment_name(asked.path.name)
    _make_room(tx, asked.path)
    content = _content(asked.mode, asked.template, moment)
    try:
        planned = plan(tx, asked, kinds, moment)
    except DomainError as refusal:
        return _refused(tx, asked.path, content, refusal, moment)
    deployment, _ = _Run(tx, kinds, moment).carry_out(asked.path, content, planned)
    return deployment


def refuse_deployment_name(name: str) -> None:
    """Refuse what cannot be the name of a deployment."""
    if not NAME.fullmatch(name):
        raise InvalidParameterError(
            f"The deployment name '{shown(name)}' is not allowed: it has 1 to 64 letters, digits,"
            " '-', '_', '.', '(' or ')'.",
            target="deploymentName",
        )


def operation_of(reader: Reader, deployment: Resource) -> Operation:
    """Return the operation that tells how a deployment stands."""
    assert deployment.operation is not None, "a deployment is written with its operation"
    return reader.operation(deployment.operation)


def parts_of(reader: Reader, deployment: Resource) -> list[Part]:
    """Return what became of each resource, failures that came later included."""
    parts = msgspec.convert(deployment.content.get("parts", []), list[Part])
    return [_told(reader, part) for part in parts]


def forget(tx: Transaction, path: Path) -> None:
    """Forget a deployment that is over; what it wrote stays."""
    _refuse_active(tx, path)
    remove(tx, path.id)


def refuse_cancel(deployment: Resource) -> None:
    """Refuse to cancel: everything is written by the time a deployment can be seen."""
    raise ConflictError(
        f"The deployment '{deployment.name}' cannot be cancelled: all of it has been written."
    )


def foresee(reader: Reader, asked: Asked, kinds: Kinds, moment: Moment) -> list[Json]:
    """Return what a deployment would change, as what-if tells it."""
    from lastcall.wire.templates import what_if  # noqa: PLC0415

    planned = plan(reader, asked, kinds, moment)
    existing = {
        path.text: kinds.of(path).show(reader, path, "") for path in _present(reader, asked.path)
    }
    return masked(what_if(planned, existing, complete=asked.mode == COMPLETE))


def template_hash(template: Mapping[str, Any]) -> str:
    """Return a number that is the same for the same template."""
    text = msgspec.json.encode(template, order="deterministic")
    return str(int.from_bytes(hashlib.sha256(text).digest()[:8]))


class _Run:
    """One deployment, and those inside it, under way in one transaction."""

    def __init__(
        self, tx: Transaction, kinds: Kinds, moment: Moment, named: set[str] | None = None
    ) -> None:
        self._tx = tx
        self._kinds = kinds
        self._moment = moment
        # What the templates name, those inside included: a complete deployment leaves it alone.
        self._named = set() if named is None else named

    def carry_out(
        self, path: Path, content: Json, planned: "Plan", part_of: OperationId | None = None
    ) -> tuple[Resource, Operation]:
        """Write what was planned, and remember how it went."""
        deployment = resources.write(self._tx, path, content, self._moment)
        operation = resources.begin(self._tx, deployment, "deploy", self._moment, part_of=part_of)
        self._named.update(one.id.lower() for one in planned.resources)
        # Counted before the first of them begins: what is over at once must not end the whole.
        count = len(planned.resources) + 1
        self._tx.put_operation(replace(operation, remaining=count, is_kept=True))
        parts = self._write_all(planned, operation.id)
        if content["mode"] == COMPLETE:
            parts += self._delete_all(path, operation.id)
        failure, outputs = self._concluded(parts, planned)
        deployment = replace(
            deployment,
            operation=operation.id,
            content={
                **content,
                "parameters": planned.parameters(),
                "parts": [msgspec.to_builtins(part) for part in parts],
                "outputs": outputs,
            },
        )
        self._tx.put_resource(deployment)
        self._settle(operation.id, failure)
        return deployment, self._tx.operation(operation.id)

    def _concluded(self, parts: Iterable[Part], planned: "Plan") -> tuple[Failure | None, Json]:
        if any(part.code for part in parts):
            return FAILED, {}
        try:
            return None, planned.outputs(self._look_up(self._tx))
        except DomainError as refusal:
            return Failure(refusal.code, str(refusal)), {}

    def _write_all(self, planned: "Plan", operation_id: OperationId) -> list[Part]:
        parts: list[Part] = []
        lost: set[str] = set()
        for one in planned.resources:
            if lost.intersection(one.depends_on):
                lost.add(one.id)
                self._settle(operation_id)
                continue
            part = self._write_one(one, operation_id)
            parts.append(part)
            if part.code:
                lost.add(one.id)
            if part.operation is None:
                self._settle(operation_id)
        return parts

    def _write_one(self, one: "PlannedResource", operation_id: OperationId) -> Part:
        path = parse_path(one.id)
        assert path is not None, "a plan addresses what it writes"

        def write(inner: Transaction) -> Operation | None:
            look_up = self._look_up(inner)
            body = one.resolve(look_up)
            nested = one.nested(look_up)
            if nested is None:
                wanted = Wanted(
                    path=path, body=body, api_version=one.api_version, part_of=operation_id
                )
                return self._kinds.of(path).write(inner, wanted, self._moment)
            refuse_deployment_name(path.name)
            _make_room(inner, path)
            run = _Run(inner, self._kinds, self._moment, self._named)
            # Its template is a part of the whole one, and can be read there.
            content = _content("Incremental", {}, self._moment)
            return run.carry_out(path, content, nested, operation_id)[1]

        try:
            begun = self._tx.attempt(write)
        except DomainError as refusal:
            return Part(path=one.id, code=refusal.code, message=str(refusal))
        return Part(path=one.id, operation=None if begun is None else begun.id)

    def _delete_all(self, path: Path, operation_id: OperationId) -> list[Part]:
        """Delete what a complete deployment does not name; return what could not be deleted."""
        doomed = self._doomed(path)
        operation = self._tx.operation(operation_id)
        # Its own place-holder keeps it open until all are counted.
        more = operation.remaining + len(doomed)
        self._tx.put_operation(replace(operation, remaining=more))
        return [part for one in doomed if (part := self._delete_one(one, operation_id)).code]

    def _doomed(self, path: Path) -> list[Path]:
        above = tuple(f"{one}/" for one in self._named)
        found = [
            found
            for found in _present(self._tx, path)
            if found.id not in self._named
            and not found.id.startswith(above)
            and len(found.names) == 1  # What is inside another one goes with it.
        ]
        # An availability set goes when its machines do.
        return sorted(found, key=lambda one: one.kind == AVAILABILITY_SET_TYPE.lower())

    def _delete_one(self, path: Path, operation_id: OperationId) -> Part:
        delete = self._kinds.of(path).delete
        try:
            begun = self._tx.attempt(lambda tx: delete(tx, path, self._moment, operation_id))
        except DomainError as refusal:
            self._settle(operation_id)
            return Part(path=path.text, code=refusal.code, message=str(refusal))
        if begun is None:
            self._settle(operation_id)
        return Part(path=path.text)

    def _settle(self, operation_id: OperationId, failure: Failure | None = None) -> None:
        settle(self._tx, operation_id, 1, failure, self._moment)

    def _look_up(self, reader: Reader) -> "LookUp":
        def look_up(resource_id: str, *, full: bool, api_version: str) -> Any:
            path = parse_path(resource_id)
            if path is None:
                return None
            try:
                shown = self._kinds.of(path).show(reader, path, api_version)
            except ResourceNotFoundError:
                return None
            return shown if full else shown.get("properties", {})

        return look_up


def _content(mode: str, template: Mapping[str, Any], moment: Moment) -> Json:
    return {
        "mode": mode,
        "template": without_secrets(template),
        "hash": template_hash(template),
        "timestamp": moment.now.isoformat(),
    }


def _present(reader: Reader, path: Path) -> list[Path]:
    """Return everything in the group that a template can name."""
    found = [one.path for one in resources.present_in(reader, path.group)]
    found += [scale_set_path(one) for one in reader.scale_sets(path.group)]
    return [parsed for text in found if (parsed := parse_path(text)) is not None]


def awaited(reader: Reader, part: Part) -> Operation | None:
    """Return the operation of a part, None where it had none or is over for so long."""
    if part.operation is None:
        return None
    try:
        return reader.operation(part.operation)
    except ResourceNotFoundError:
        return None


def _told(reader: Reader, part: Part) -> Part:
    """Return a part with the failure of its operation, where that failed after all."""
    operation = awaited(reader, part)
    failure = None if operation is None else operation.failure
    return part if failure is None else replace(part, code=failure.code, message=failure.message)


def _make_room(tx: Transaction, path: Path) -> None:
    """Refuse to replace what is still active; forget the oldest where there are too many."""
    _refuse_active(tx, path)
    before = resources.find(tx, path)
    if before is not None:
        release(tx, before)
        return
    found = tx.resources(kind=DEPLOYMENT_TYPE.lower(), group=path.group.lower())
    surplus = len(found) - DEPLOYMENTS_PER_GROUP_MAX + 1
    over = [one for one in found if operation_of(tx, one).is_over] if surplus > 0 else []
    for old in sorted(over, key=lambda one: one.created_at)[: max(surplus, 0)]:
        remove(tx, old.id)


def _refuse_active(tx: Transaction, path: Path) -> None:
    before = resources.find(tx, path)
    if before is not None and not operation_of(tx, before).is_over:
        raise ConflictError(
            f"Unable to edit or replace deployment '{path.name}': a previous one is still active."
        )


def _refused(
    tx: Transaction, path: Path, content: Json, refusal: DomainError, moment: Moment
) -> Resource:
    # Not a 400: az cannot read that here, and the status tells it just as well.
    deployment = resources.write(tx, path, content, moment)
    operation = resources.begin(tx, deployment, "deploy", moment)
    deployment = replace(deployment, operation=operation.id)
    tx.put_resource(deployment)
    tx.put_operation(replace(operation, is_kept=True))
    settle(tx, operation.id, 1, Failure(refusal.code, str(refusal)), moment)
    return deployment
