"""When a changed model reaches existing instances (R69, R77, R105)."""

from datetime import timedelta

from msgspec.structs import replace

from lastcall.engine.limits import ROLLOUTS_KEPT
from lastcall.engine.model import Model, OperationId, Protection, Provisioning
from lastcall.engine.scale_sets import Progress, Rollout, RolloutCode, RolloutKind, Traits
from lastcall.engine.upgrade import Batch, ended, next_batch, outdated, progress, waiting

from .builders import MINUTE, NOON, SECOND, a_machine, a_scale_set

OLD, NEW = Model(version=1), Model(version=2)


def a_rollout(**changes) -> Rollout:
    return Rollout(operation=OperationId("op"), started_at=NOON, **changes)


def a_rolling_set(rollout: Rollout | None = None, **traits):
    return a_scale_set(Traits(**traits), model_version=2, rollout=rollout or a_rollout())


def some_machines(count: int, **changes):
    return [a_machine(f"web_{n}", **{"model": OLD, **changes}) for n in range(count)]


def ids(machines) -> list[str]:
    return [machine.id for machine in machines]


def test_instances_with_another_version_are_outdated_in_order_of_age():
    machines = [a_machine("web_3", model=OLD), a_machine("web_1", model=OLD)]
    machines.append(a_machine("web_2", model=NEW))

    assert ids(outdated(a_rolling_set(), machines)) == ["web_1", "web_3"]


def test_leaving_and_protected_instances_are_left_alone():
    machines = [
        a_machine("web_0", model=OLD, provisioning=Provisioning.DELETING),
        a_machine("web_1", model=OLD, protection=Protection(from_scale_set_actions=True)),
        a_machine("web_2", model=OLD, protection=Protection(from_scale_in=True)),
    ]

    assert ids(outdated(a_rolling_set(), machines)) == ["web_2"]


def test_a_batch_is_a_share_of_the_set():
    batch = next_batch(a_rolling_set(batch_percent=20), some_machines(10), NOON)

    assert ids(batch.upgrade) == ["web_0", "web_1"]
    assert batch.rollout.batch == ("web_0", "web_1")
    assert batch.rollout.operation == "op"


def test_a_batch_is_at_least_one_instance():
    batch = next_batch(a_rolling_set(batch_percent=20), some_machines(2), NOON)

    assert ids(batch.upgrade) == ["web_0"]


def test_the_next_batch_waits_for_this_one():
    rollout = a_rollout(batch=("web_0",))
    machines = some_machines(2)
    machines[0] = replace(machines[0], provisioning=Provisioning.UPDATING)

    assert next_batch(a_rolling_set(rollout), machines, NOON) == Batch(rollout=rollout)


def test_without_a_pause_the_next_batch_follows_at_once():
    rollout = a_rollout(batch=("web_0",), tried=("web_0",))
    machines = [a_machine("web_0", model=NEW), a_machine("web_1", model=OLD)]

    assert ids(next_batch(a_rolling_set(rollout), machines, NOON).upgrade) == ["web_1"]


def test_between_batches_there_is_a_pause():
    rollout = a_rollout(batch=("web_0",), tried=("web_0",))
    machines = [a_machine("web_0", model=NEW), a_machine("web_1", model=OLD)]
    pausing = a_rolling_set(rollout, batch_pause=MINUTE)

    paused = next_batch(pausing, machines, NOON)
    assert paused.upgrade == ()
    assert paused.rollout.resume_at == NOON + MINUTE

    waiting = replace(pausing, rollout=paused.rollout)
    early = next_batch(waiting, machines, NOON + MINUTE - SECOND)
    assert early == Batch(rollout=paused.rollout)
    due = next_batch(waiting, machines, NOON + MINUTE)
    assert ids(due.upgrade) == ["web_1"]
    assert due.rollout.resume_at is None


def test_it_ends_when_nobody_is_outdated():
    machines = [a_machine("web_0", model=NEW)]

    assert next_batch(a_rolling_set(), machines, NOON) == Batch()


def test_it_ends_in_an_empty_set():
    assert next_batch(a_rolling_set(), [], NOON) == Batch()


def test_it_stops_when_too_many_are_unhealthy():
    machines = some_machines(4)
    machines[0] = replace(machines[0], provisioning=Provisioning.FAILED)

    batch = next_batch(a_rolling_set(unhealthy_percent_max=20), machines, NOON)

    assert batch.rollout is None
    assert "1 of 4 instances are unhealthy" in batch.failure
    assert "(20)" in batch.failure


def test_as_many_unhealthy_as_allowed_do_not_stop_it():
    machines = some_machines(5)
    machines[0] = replace(machines[0], provisioning=Provisioning.FAILED)

    batch = next_batch(a_rolling_set(unhealthy_percent_max=20), machines, NOON)

    assert batch.failure == ""
    assert ids(batch.upgrade) == ["web_0"]


def test_an_instance_that_cannot_be_upgraded_does_not_keep_the_others_waiting():
    scale_set = a_rolling_set(batch_percent=20)
    machines = some_machines(5)
    order = []

    batch = next_batch(scale_set, machines, NOON)
    for _ in machines:
        order += ids(batch.upgrade)
        machines = [
            upgraded(machine) if machine in batch.upgrade else machine for machine in machines
        ]
        scale_set = replace(scale_set, rollout=batch.rollout)
        batch = next_batch(scale_set, machines, NOON)

    assert order == ["web_0", "web_1", "web_2", "web_3", "web_4"]
    assert batch == Batch()


def upgraded(machine):
    """Upgrade it, except web_0, which never succeeds."""
    if machine.id == "web_0":
        return replace(machine, provisioning=Provisioning.FAILED)
    return replace(machine, model=NEW)


def test_no_pause_is_no_time_at_all():
    assert Traits().batch_pause == timedelta(0)


def test_an_os_upgrade_takes_every_instance_to_be_behind():
    machines = [
        *some_machines(2, model=NEW),
        a_machine("web_9", provisioning=Provisioning.DELETING),
    ]
    rollout = a_rollout(kind=RolloutKind.OS, tried=("web_0",))

    assert ids(waiting(a_rolling_set(rollout), machines)) == ["web_1"]


def test_an_upgrade_of_extensions_has_nothing_to_do():
    scale_set = a_rolling_set(a_rollout(kind=RolloutKind.EXTENSIONS))

    assert next_batch(scale_set, some_machines(3), NOON) == Batch()


def test_progress_counts_every_instance_that_stays_once():
    machines = [
        a_machine("web_0", model=NEW),
        a_machine("web_1", model=OLD, provisioning=Provisioning.FAILED),
        a_machine("web_2", model=OLD, provisioning=Provisioning.UPDATING),
        a_machine("web_3", model=OLD),
        a_machine("web_4", model=OLD, provisioning=Provisioning.DELETING),
    ]
    scale_set = a_rolling_set(a_rollout(tried=("web_0", "web_1", "web_2")))

    assert progress(scale_set, machines) == Progress(
        successful=1, failed=1, in_progress=1, pending=1
    )


def test_an_upgrade_that_ends_is_remembered_as_it_stood():
    scale_set = replace(a_rolling_set(a_rollout(kind=RolloutKind.OS)), due_at=NOON)

    after = ended(scale_set, some_machines(2), RolloutCode.FAULTED, NOON + MINUTE, "Broken.")

    assert after.rollout is None
    assert after.due_at is None
    (past,) = after.past_rollouts
    assert (past.kind, past.code, past.failure) == (RolloutKind.OS, RolloutCode.FAULTED, "Broken.")
    assert (past.started_at, past.ended_at) == (NOON, NOON + MINUTE)
    assert past.progress == Progress(pending=2)


def test_only_the_last_upgrades_are_remembered():
    scale_set = a_rolling_set()
    for minute in range(ROLLOUTS_KEPT + 2):
        rolling = replace(scale_set, rollout=a_rollout())
        scale_set = ended(rolling, (), RolloutCode.COMPLETED, NOON + minute * MINUTE)

    assert len(scale_set.past_rollouts) == ROLLOUTS_KEPT
    assert scale_set.past_rollouts[0].ended_at == NOON + 2 * MINUTE
