"""What `lastcall vmss` can do to instances."""

from typing import Annotated, Final

import typer

from lastcall.cli import tables
from lastcall.cli.commands import Session, command
from lastcall.cli.connection import Target
from lastcall.cli.output import Table
from lastcall.cli.vmss import conclude, vmss
from lastcall.cli.vmss_flags import ForceDeletion, Group, InstanceId, InstanceIds, Name, NoWait
from lastcall.cli.waiting import EventKind, Unheld, Work

SomeInstanceIds = Annotated[
    list[str],
    typer.Option("--instance-ids", metavar="ID ...", help="Which instances; * means all."),
]
OneInstanceId = Annotated[str, typer.Option("--instance-id", help="Which instance.")]

EVENTS: Final[dict[str, EventKind]] = {"restart": "Reboot", "redeploy": "Redeploy"}
# az's command, the control plane's name for it, and what it does.
ACTIONS: Final = (
    ("restart", "restart", "Restart instances; a Reboot event tells them before."),
    ("redeploy", "redeploy", "Move instances to other hosts; a Redeploy event tells them before."),
    ("start", "start", "Start instances."),
    ("stop", "poweroff", "Power instances off; they keep their place."),
    ("deallocate", "deallocate", "Power instances off and give up their place."),
    ("reimage", "reimage", "Give instances a new disk from their image."),
)


def _add_action(own_name: str, verb: str, promise: str) -> None:
    def action(
        session: Session,
        *,
        name: Name,
        resource_group: Group = "lastcall",
        instance_ids: InstanceIds = None,
        no_wait: NoWait = False,
    ) -> None:
        target = Target(resource_group, name)
        body = {"instanceIds": instance_ids or ["*"]}
        answer = session.connection.about(target, "POST", verb, body=body)
        work = Work(f"{own_name} of {name}", target, EVENTS.get(own_name))
        conclude(session, answer, work, no_wait=no_wait)

    action.__doc__ = promise
    command(vmss, own_name, example=f"lastcall vmss {own_name} -n web --instance-ids 0")(action)


for _name, _verb, _promise in ACTIONS:
    _add_action(_name, _verb, _promise)


@command(
    vmss, "update-instances", example="lastcall vmss update-instances -n web --instance-ids '*'"
)
def update_instances(
    session: Session,
    *,
    name: Name,
    instance_ids: SomeInstanceIds,
    resource_group: Group = "lastcall",
    no_wait: NoWait = False,
) -> None:
    """Bring instances up to the set's latest model."""
    target = Target(resource_group, name)
    body = {"instanceIds": instance_ids}
    answer = session.connection.about(target, "POST", "manualupgrade", body=body)
    conclude(session, answer, Work(f"updating instances of {name}", target), no_wait=no_wait)


@command(
    vmss, "delete-instances", example="lastcall vmss delete-instances -n web --instance-ids 0 1"
)
def delete_instances(
    session: Session,
    *,
    name: Name,
    instance_ids: SomeInstanceIds,
    resource_group: Group = "lastcall",
    force_deletion: ForceDeletion = False,
    no_wait: NoWait = False,
) -> None:
    """Delete instances; a Terminate event gives them their notice before."""
    params = {"forceDeletion": "true"} if force_deletion else {}
    target = Target(resource_group, name)
    body = {"instanceIds": instance_ids}
    unheld = Unheld(session, target)
    answer = session.connection.about(target, "POST", "delete", body=body, params=params)
    work = Work(f"deleting instances of {name}", target, "Terminate")
    conclude(session, answer, work, no_wait=no_wait)
    if not force_deletion:
        unheld.remark()


@command(vmss, "list-instances", example="lastcall vmss list-instances -n web")
def list_instances(session: Session, *, name: Name, resource_group: Group = "lastcall") -> None:
    """List the instances of a set."""
    target, expand = Target(resource_group, name), {"$expand": "instanceView"}
    answer = session.connection.about(target, "GET", "virtualMachines", params=expand)
    found = session.connection.listed(answer)
    rows = [tables.member_row(each) for each in found]
    session.answer(found, Table(tables.MEMBER_HEAD, rows, f"{name} has no instances."))


@command(
    vmss, "get-instance-view", example="lastcall vmss get-instance-view -n web --instance-id 0"
)
def get_instance_view(
    session: Session,
    *,
    name: Name,
    resource_group: Group = "lastcall",
    instance_id: InstanceId = None,
) -> None:
    """Show how a set is doing, or one of its instances."""
    more = () if instance_id is None else ("virtualMachines", instance_id)
    target = Target(resource_group, name)
    found = session.connection.about(target, "GET", *more, "instanceView").json()
    session.answer(found, tables.view(found))


@command(
    vmss, "simulate-eviction", example="lastcall vmss simulate-eviction -n web --instance-id 0"
)
def simulate_eviction(
    session: Session, *, name: Name, instance_id: OneInstanceId, resource_group: Group = "lastcall"
) -> None:
    """Evict a Spot instance; a Preempt event tells it 30 seconds before."""
    path = ("virtualMachines", instance_id, "simulateEviction")
    session.connection.about(Target(resource_group, name), "POST", *path)
    session.say({"status": "Succeeded"}, f"{name} {instance_id} will be evicted in 30 seconds.")
