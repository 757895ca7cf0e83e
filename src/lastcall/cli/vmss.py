"""`lastcall vmss`: scale sets, with az's own names for everything."""

# ruff: noqa: PLR0913  (a command has one parameter for each of its flags)

from typing import Annotated, Any

import typer

from lastcall.cli import models, tables
from lastcall.cli.commands import Session, command
from lastcall.cli.connection import Json, Target, group_path, sets_path
from lastcall.cli.failures import NOT_FOUND, CommandError, WrongUsageError
from lastcall.cli.output import Table
from lastcall.cli.places import state_flag
from lastcall.cli.vmss_flags import (
    ActionsProtection,
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
    OnePlacementGroup,
    OrchestrationMode,
    Priority,
    ScaleInPolicy,
    ScaleInProtection,
    Tags,
    UpgradeMode,
    VmSku,
    Zones,
    truth,
)
from lastcall.cli.waiting import Unheld, Work, follow

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
    single_placement_group: OnePlacementGroup = None,
    scale_in_policy: ScaleInPolicy = None,
    tags: Tags = None,
    no_wait: NoWait = False,
) -> None:
    """Create a scale set with its instances."""
    flags = {**locals(), "single_placement_group": truth(single_placement_group)}
    if eviction_policy is not None and priority != "Spot":
        raise WrongUsageError("--eviction-policy needs --priority Spot.")
    body = models.model(flags)
    target = Target(resource_group, name)
    has_group = _has_group(session, target)
    if not has_group:
        session.connection.arm("PUT", group_path(resource_group), {"location": location})
    _write(session, "PUT", body, Work(f"creating {name}", target), no_wait=no_wait)
    if not has_group:
        session.remark(f"Resource group {resource_group} was made in {location}.")


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
    single_placement_group: OnePlacementGroup = None,
    scale_in_policy: ScaleInPolicy = None,
    tags: Tags = None,
    instance_id: InstanceId = None,
    protect_from_scale_in: ScaleInProtection = None,
    protect_from_scale_set_actions: ActionsProtection = None,
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
    _check_update(has_instance=instance_id is not None, protects=protects, changes=bool(body))
    work = Work(f"updating {name}", Target(resource_group, name))
    if instance_id is not None:
        _write(session, "PUT", protection, work, member=instance_id, no_wait=no_wait)
        return
    _write(session, "PATCH", body, work, no_wait=no_wait)
    if not no_wait:
        _remark_old_models(session, work.target)


def _check_update(*, has_instance: bool, protects: bool, changes: bool) -> None:
    """Refuse an update of nothing, or of a set and an instance at once."""
    if has_instance and changes:
        raise WrongUsageError("--instance-id cannot be combined with flags of the set.")
    if protects != has_instance or protects == changes:
        raise WrongUsageError(
            "say what to change: flags of the set, or --instance-id with --protect-from-scale-in"
            " or --protect-from-scale-set-actions."
        )


def _remark_old_models(session: Session, target: Target) -> None:
    first = session.connection.about(target, "GET", "virtualMachines")
    found = session.connection.listed(first)
    old = sum(not each["properties"]["latestModelApplied"] for each in found)
    if old:
        are, them = ("instance still has", "it") if old == 1 else ("instances still have", "them")
        session.remark(
            f"{old} {are} the old model; bring {them} up to date with:"
            f" lastcall vmss update-instances {target.flags} --instance-ids '*'"
            f"{state_flag(session.place.state)}"
        )


def _has_group(session: Session, target: Target) -> bool:
    """Return whether the resource group exists; refuse to create a set that exists.

    A PUT would change the set, and delete what is too many.
    """
    try:
        found = session.connection.about(target, "GET").json()
    except CommandError as missing:
        if missing.exit_code != NOT_FOUND:
            raise
        return missing.code != "ResourceGroupNotFound"
    # The server knows better what to say of one that is on its way out.
    if found["properties"]["provisioningState"] != "Deleting":
        raise CommandError(
            f"error: {target.name} exists already in group {target.group};"
            " change it with: lastcall vmss update / vmss scale",
            code="Conflict",
        )
    return True


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
    target = Target(resource_group, name)
    unheld = Unheld(session, target)
    work = Work(f"scaling {name}", target, "Terminate")
    _write(session, "PATCH", body, work, no_wait=no_wait)
    unheld.remark()


@command(vmss, "show", example="lastcall vmss show -n web --json")
def show(session: Session, *, name: Name, resource_group: Group = "lastcall") -> None:
    """Show a scale set."""
    found = session.connection.about(Target(resource_group, name), "GET").json()
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
    first = session.connection.arm("GET", sets_path(resource_group))
    found = session.connection.listed(first)
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
    unheld = Unheld(session, target)
    answer = session.connection.about(target, "DELETE", params=params)
    if answer.status_code == 204:
        missing = CommandError(
            f"error: there is no scale set {name} in group {resource_group}.",
            NOT_FOUND,
            code="ResourceNotFound",
        )
        missing.hint = session.connection.hint("vmss list")
        raise missing
    work = Work(f"deleting {name}", target, "Terminate")
    conclude(session, answer, work, no_wait=no_wait)
    if not force_deletion:
        unheld.remark()


def conclude(session: Session, answer: Any, work: Work, *, no_wait: bool) -> None:
    """Say how an operation without a result ended, or only that it began."""
    if no_wait:
        began = {"status": "Accepted", "operation": answer.headers.get("azure-asyncoperation")}
        session.say(began, f"Accepted: {work.what}.")
    else:
        session.say(follow(session, answer, work), f"Done: {work.what}.")


def _write(
    session: Session,
    method: str,
    body: Json,
    work: Work,
    *,
    no_wait: bool,
    member: str | None = None,
) -> None:
    more = () if member is None else ("virtualMachines", member)
    answer = session.connection.about(work.target, method, *more, body=body)
    found = answer.json()
    if not no_wait:
        follow(session, answer, work)
        found = session.connection.about(work.target, "GET", *more).json()
    session.answer(found, tables.scale_set(found) if member is None else tables.member(found))
