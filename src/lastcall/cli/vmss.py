"""`lastcall vmss`: scale sets, with az's own names for everything."""

# ruff: noqa: PLR0913  (a command has one parameter for each of its flags)

from typing import Annotated, Any

import typer

from lastcall.cli import models, tables
from lastcall.cli.commands import Session, command
from lastcall.cli.connection import Json, Target, sets_path
from lastcall.cli.output import Table
from lastcall.cli.vmss_flags import (
    EvictionPolicy,
    FaultDomains,
    ForceDeletion,
    Group,
    Image,
    InstanceCount,
    InstanceId,
    Location,
    Name,
    NoticeMinutes,
    NoticeSwitch,
    NoWait,
    OrchestrationMode,
    Priority,
    ScaleInPolicy,
    Switch,
    Tags,
    UpgradeMode,
    VmSku,
    Zones,
    truth,
)
from lastcall.cli.waiting import follow

vmss = typer.Typer(no_args_is_help=True, help="Scale sets, with az's own names.")


def register(app: typer.Typer) -> None:
    """Add the noun."""
    from lastcall.cli import vmss_actions  # noqa: F401, PLC0415  # it adds its commands to ours

    app.add_typer(vmss, name="vmss", epilog="Example: lastcall vmss list")


@command(
    vmss,
    "create",
    example="lastcall vmss create -n web --instance-count 3 --terminate-notification-time 10",
)
def create(
    session: Session,
    *,
    name: Name,
    resource_group: Group = "lastcall",
    location: Location = "westus",
    instance_count: InstanceCount = 2,
    vm_sku: VmSku = "Standard_D2s_v5",
    image: Image = None,
    terminate_notification_time: NoticeMinutes = None,
    upgrade_policy_mode: UpgradeMode = None,
    orchestration_mode: OrchestrationMode = None,
    zones: Zones = None,
    priority: Priority = None,
    eviction_policy: EvictionPolicy = None,
    platform_fault_domain_count: FaultDomains = None,
    single_placement_group: Switch = None,
    scale_in_policy: ScaleInPolicy = None,
    tags: Tags = None,
    no_wait: NoWait = False,
) -> None:
    """Create a scale set with its instances."""
    flags = {**locals(), "single_placement_group": truth(single_placement_group)}
    _write(session, "PUT", Target(resource_group, name), models.model(flags), no_wait=no_wait)


@command(
    vmss,
    "update",
    example="lastcall vmss update -n web --enable-terminate-notification true"
    " --terminate-notification-time 10",
)
def update(
    session: Session,
    *,
    name: Name,
    resource_group: Group = "lastcall",
    enable_terminate_notification: NoticeSwitch = None,
    terminate_notification_time: NoticeMinutes = None,
    upgrade_policy_mode: UpgradeMode = None,
    vm_sku: VmSku = None,
    image: Image = None,
    priority: Priority = None,
    eviction_policy: EvictionPolicy = None,
    single_placement_group: Switch = None,
    scale_in_policy: ScaleInPolicy = None,
    tags: Tags = None,
    instance_id: InstanceId = None,
    protect_from_scale_in: Switch = None,
    protect_from_scale_set_actions: Switch = None,
    no_wait: NoWait = False,
) -> None:
    """Change a scale set, or with --instance-id the protection of one instance."""
    flags = {
        **locals(),
        "enable_terminate_notification": truth(enable_terminate_notification),
        "single_placement_group": truth(single_placement_group),
    }
    body = models.model(flags)
    protection = models.protection(
        scale_in=truth(protect_from_scale_in),
        scale_set_actions=truth(protect_from_scale_set_actions),
    )
    protects = bool(protection["properties"]["protectionPolicy"])
    if protects != (instance_id is not None) or protects == bool(body):
        raise typer.BadParameter(
            "say what to change: flags of the set, or --instance-id with --protect-from-scale-in"
            " or --protect-from-scale-set-actions."
        )
    target = Target(resource_group, name)
    if instance_id is None:
        _write(session, "PATCH", target, body, no_wait=no_wait)
        return
    _write(session, "PUT", target, protection, member=instance_id, no_wait=no_wait)


@command(vmss, "scale", example="lastcall vmss scale -n web --new-capacity 1 --no-wait")
def scale(
    session: Session,
    *,
    name: Name,
    new_capacity: Annotated[int, typer.Option(min=0, max=1000, help="How many instances.")],
    resource_group: Group = "lastcall",
    no_wait: NoWait = False,
) -> None:
    """Change how many instances there are; the ones that go get their notice."""
    body = {"sku": {"capacity": new_capacity}}
    _write(session, "PATCH", Target(resource_group, name), body, no_wait=no_wait)


@command(vmss, "show", example="lastcall vmss show -n web --json")
def show(session: Session, *, name: Name, resource_group: Group = "lastcall") -> None:
    """Show a scale set."""
    found = session.connection.arm("GET", Target(resource_group, name).path()).json()
    session.answer(found, tables.scale_set(found))


@command(vmss, "list", example="lastcall vmss list")
def list_sets(
    session: Session,
    *,
    resource_group: Annotated[
        str | None, typer.Option("--resource-group", "-g", help="Only those of this group.")
    ] = None,
) -> None:
    """List the scale sets of a resource group, or all."""
    found = session.connection.arm("GET", sets_path(resource_group)).json()["value"]
    rows = [tables.scale_set_row(each) for each in found]
    nothing = "No scale sets; create one with: lastcall vmss create --name web"
    session.answer(found, Table(tables.SCALE_SET_HEAD, rows, nothing))


@command(vmss, "delete", example="lastcall vmss delete -n web")
def delete(
    session: Session,
    *,
    name: Name,
    resource_group: Group = "lastcall",
    force_deletion: ForceDeletion = False,
    no_wait: NoWait = False,
) -> None:
    """Delete a scale set; its instances get their notice."""
    params = {"forceDeletion": "true"} if force_deletion else {}
    target = Target(resource_group, name)
    answer = session.connection.arm("DELETE", target.path(), None, params)
    if answer.status_code == 204:
        session.say({"status": "Succeeded"}, f"There is no scale set {name}.")
        return
    conclude(session, answer, f"deleting {name}", target, no_wait=no_wait)


def conclude(session: Session, answer: Any, what: str, target: Target, *, no_wait: bool) -> None:
    """Say how an operation without a result ended, or only that it began."""
    if no_wait:
        began = {"status": "Accepted", "operation": answer.headers.get("azure-asyncoperation")}
        session.say(began, f"Accepted: {what}.")
    else:
        session.say(follow(session, answer, what, target), f"Done: {what}.")


def _write(
    session: Session,
    method: str,
    target: Target,
    body: Json,
    *,
    no_wait: bool,
    member: str | None = None,
) -> None:
    path = target.path() if member is None else target.path("virtualMachines", member)
    answer = session.connection.arm(method, path, body)
    found = answer.json()
    if not no_wait:
        verb = "creating" if answer.status_code == 201 else "updating"
        follow(session, answer, f"{verb} {target.name}", target)
        found = session.connection.arm("GET", path).json()
    session.answer(found, tables.scale_set(found) if member is None else tables.member(found))
