"""Rolling upgrades as the control plane shows them."""

from collections.abc import Mapping
from typing import Any

from lastcall.engine.scale_sets import PastRollout, Progress, RolloutCode, RolloutKind, ScaleSet
from lastcall.wire.fields import object_at
from lastcall.wire.names import SET_TYPE, scale_set_path

Json = dict[str, Any]

POLICY = "properties.upgradePolicy.rollingUpgradePolicy"
IMAGE = "properties.virtualMachineProfile.storageProfile.imageReference"


def encode_latest(
    scale_set: ScaleSet, document: Mapping[str, Any], progress: Progress | None
) -> Json | None:
    """Return the latest rolling upgrade, or None; `progress` is that of one under way."""
    rollout = scale_set.rollout
    if rollout is not None and progress is not None:
        status = _status(RolloutCode.ROLLING, "Start", rollout.started_at.isoformat())
        properties: Json = {"runningStatus": status, "progress": _counts(progress)}
    elif scale_set.past_rollouts:
        properties = _past(scale_set.past_rollouts[-1])
    else:
        return None
    policy = object_at(document, POLICY)
    if policy:
        properties = {"policy": dict(policy), **properties}
    return {
        "name": "latest",
        "id": f"{scale_set_path(scale_set)}/rollingUpgrades/latest",
        "type": f"{SET_TYPE}/rollingUpgrades",
        "location": scale_set.location,
        "properties": properties,
    }


def encode_os_history(
    scale_set: ScaleSet, document: Mapping[str, Any], progress: Progress | None
) -> list[Json]:
    """Return the OS upgrades of a set, newest first."""
    shown = [
        _historical(past.code, past.started_at.isoformat(), past.ended_at.isoformat(), past)
        for past in reversed(scale_set.past_rollouts)
        if past.kind is RolloutKind.OS
    ]
    rollout = scale_set.rollout
    if rollout is not None and rollout.kind is RolloutKind.OS and progress is not None:
        status = {"code": RolloutCode.ROLLING, "startTime": rollout.started_at.isoformat()}
        shown.insert(0, {"runningStatus": status, "progress": _counts(progress)})
    image = object_at(document, IMAGE)
    added: Json = {"startedBy": "User"}
    if image:
        added["targetImageReference"] = dict(image)
    return [
        {
            "type": f"{SET_TYPE}/rollingUpgrades",
            "location": scale_set.location,
            "properties": {**properties, **added},
        }
        for properties in shown
    ]


def _historical(code: RolloutCode, start: str, end: str, past: PastRollout) -> Json:
    shown: Json = {
        "runningStatus": {"code": code, "startTime": start, "endTime": end},
        "progress": _counts(past.progress),
    }
    return shown | _failure(past)


def _past(past: PastRollout) -> Json:
    action = "Cancel" if past.code is RolloutCode.CANCELLED else "Start"
    at = past.ended_at if past.code is RolloutCode.CANCELLED else past.started_at
    status = _status(past.code, action, past.started_at.isoformat())
    status["lastActionTime"] = at.isoformat()
    return {"runningStatus": status, "progress": _counts(past.progress)} | _failure(past)


def _status(code: RolloutCode, action: str, start: str) -> Json:
    return {"code": code, "startTime": start, "lastAction": action, "lastActionTime": start}


def _counts(progress: Progress) -> Json:
    return {
        "successfulInstanceCount": progress.successful,
        "failedInstanceCount": progress.failed,
        "inProgressInstanceCount": progress.in_progress,
        "pendingInstanceCount": progress.pending,
    }


def _failure(past: PastRollout) -> Json:
    if not past.failure:
        return {}
    return {"error": {"code": "RollingUpgradeFailed", "message": past.failure}}
