"""When a changed model reaches the instances that exist already (R69, R77, R105)."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from lastcall.engine.limits import ROLLOUTS_KEPT
from lastcall.engine.model import Machine, Provisioning
from lastcall.engine.scale_sets import (
    PastRollout,
    Progress,
    Rollout,
    RolloutCode,
    RolloutKind,
    ScaleSet,
)
from lastcall.engine.value import Value


class Batch(Value, frozen=True, kw_only=True):
    """What a rolling upgrade does next: `upgrade` these; no `rollout` left means it has ended.

    `failure` says why it stopped early.
    """

    upgrade: tuple[Machine, ...] = ()
    rollout: Rollout | None = None
    failure: str = ""


def outdated(scale_set: ScaleSet, machines: Sequence[Machine]) -> tuple[Machine, ...]:
    """Return the instances that do not have the latest model, in a stable order."""
    version = scale_set.model_version
    return _upgradable(machine for machine in machines if machine.model.version != version)


def waiting(scale_set: ScaleSet, machines: Sequence[Machine]) -> tuple[Machine, ...]:
    """Return the instances that a rolling upgrade under way has not come to yet.

    There is no catalogue of image versions, so an OS upgrade takes every instance to be behind;
    and none of extensions, so that of extensions finds nothing to do.
    """
    rollout = scale_set.rollout
    assert rollout is not None, "only a set that is rolling has instances that wait for it"
    behind: tuple[Machine, ...] = ()
    if rollout.kind is RolloutKind.MODEL:
        behind = outdated(scale_set, machines)
    elif rollout.kind is RolloutKind.OS:
        behind = _upgradable(machines)
    return tuple(machine for machine in behind if machine.id not in rollout.tried)


def progress(scale_set: ScaleSet, machines: Sequence[Machine]) -> Progress:
    """Count the instances of a set by how far its rolling upgrade has come with them."""
    rollout = scale_set.rollout
    assert rollout is not None, "only a set that is rolling makes progress"
    staying = [machine for machine in machines if not machine.is_leaving]
    tried = [machine for machine in staying if machine.id in rollout.tried]
    failed = sum(machine.provisioning is Provisioning.FAILED for machine in tried)
    in_progress = sum(machine.provisioning is Provisioning.UPDATING for machine in tried)
    pending = len(waiting(scale_set, machines))
    return Progress(
        successful=len(staying) - failed - in_progress - pending,
        failed=failed,
        in_progress=in_progress,
        pending=pending,
    )


def ended(
    scale_set: ScaleSet,
    machines: Sequence[Machine],
    code: RolloutCode,
    now: datetime,
    failure: str = "",
) -> ScaleSet:
    """Return the set without its rolling upgrade, which it remembers as it stood at the end."""
    rollout = scale_set.rollout
    assert rollout is not None, "only a rolling upgrade that is under way ends"
    past = PastRollout(
        kind=rollout.kind,
        code=code,
        started_at=rollout.started_at,
        ended_at=now,
        progress=progress(scale_set, machines),
        failure=failure,
    )
    kept = (*scale_set.past_rollouts, past)[-ROLLOUTS_KEPT:]
    return replace(scale_set, rollout=None, due_at=None, past_rollouts=kept)


def _upgradable(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    able = (
        machine
        for machine in machines
        if not machine.is_leaving and not machine.protection.from_scale_set_actions
    )
    return tuple(sorted(able, key=lambda machine: machine.ordinal))


def next_batch(scale_set: ScaleSet, machines: Sequence[Machine], now: datetime) -> Batch:
    """Decide how a rolling upgrade goes on: wait for the batch, pause, take the next, or end."""
    rollout = scale_set.rollout
    assert rollout is not None, "only a set that is rolling has a next batch"
    in_batch = [machine for machine in machines if machine.id in rollout.batch]
    if any(machine.provisioning is Provisioning.UPDATING for machine in in_batch):
        return Batch(rollout=rollout)
    failure = _unhealthy(scale_set, machines)
    if failure:
        return Batch(failure=failure)
    behind = waiting(scale_set, machines)
    if not behind:
        return Batch()
    pause = scale_set.traits.batch_pause
    if rollout.batch and pause:
        return Batch(rollout=replace(rollout, batch=(), resume_at=now + pause))
    if rollout.resume_at is not None and now < rollout.resume_at:
        return Batch(rollout=rollout)
    size = max(1, len(machines) * scale_set.traits.batch_percent // 100)
    upgrade = tuple(behind[:size])
    ids = tuple(machine.id for machine in upgrade)
    after = replace(rollout, batch=ids, tried=(*rollout.tried, *ids), resume_at=None)
    return Batch(upgrade=upgrade, rollout=after)


def _unhealthy(scale_set: ScaleSet, machines: Sequence[Machine]) -> str:
    failed = sum(machine.provisioning is Provisioning.FAILED for machine in machines)
    most = scale_set.traits.unhealthy_percent_max
    if failed * 100 <= most * len(machines):
        return ""
    return (
        f"Rolling upgrade stopped: {failed} of {len(machines)} instances are unhealthy,"
        f" more than maxUnhealthyInstancePercent ({most})."
    )
