"""Rolling upgrades as they are shown."""

from datetime import timedelta

from lastcall.engine.scale_sets import PastRollout, Progress, RolloutCode, RolloutKind
from lastcall.wire.upgrades import encode_latest, encode_os_history

from .builders import NOW, a_model, a_scale_set

FAULTED = PastRollout(
    kind=RolloutKind.OS,
    code=RolloutCode.FAULTED,
    started_at=NOW,
    ended_at=NOW + timedelta(minutes=1),
    progress=Progress(failed=1),
    failure="Too many are unhealthy.",
)
ERROR = {"code": "RollingUpgradeFailed", "message": "Too many are unhealthy."}


def test_without_an_upgrade_there_is_nothing_to_show():
    assert encode_latest(a_scale_set(), a_model(), None) is None
    assert encode_os_history(a_scale_set(), a_model(), None) == []


def test_an_upgrade_that_stopped_says_why():
    scale_set = a_scale_set(past_rollouts=(FAULTED,))

    latest = encode_latest(scale_set, a_model(), None)["properties"]
    (historical,) = encode_os_history(scale_set, a_model(), None)

    assert latest["error"] == historical["properties"]["error"] == ERROR
    assert latest["runningStatus"]["code"] == "Faulted"
    assert "policy" not in latest
    assert "targetImageReference" not in historical["properties"]
