"""When a changed model reaches the instances that exist already (R69, R77, R105)."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from lastcall.engine.model import Machine, Provisioning
from lastcall.engine.scale_sets import Rollout, ScaleSet
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
    behind = (
        machine
        for machine in machines
        if machine.model.version != scale_set.model_version
        and not machine.is_leaving
        and not machine.protection.from_scale_set_actions
    )
    return tuple(sorted(behind, key=lambda machine: machine.ordinal))


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
    behind = [m for m in outdated(scale_set, machines) if m.id not in rollout.tried]
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
