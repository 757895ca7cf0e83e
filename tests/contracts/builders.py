"""Values of every shape that a store must give back as it got them."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from lastcall.engine.effects import Failure, Note, Perform, Step
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    Model,
    OperationId,
    Power,
    Protection,
    Provisioning,
    Scope,
    ScopeId,
    ScopeKind,
    SetId,
    Source,
    Status,
)
from lastcall.engine.operations import Operation, OperationStatus
from lastcall.engine.scale_sets import (
    Group,
    Orchestration,
    PastRollout,
    Progress,
    Rollout,
    RolloutCode,
    RolloutKind,
    ScaleInRule,
    ScaleSet,
    Traits,
    UpgradeMode,
)

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


def a_machine(name: str = "web_0", **changes) -> Machine:
    given = {"ordinal": 1, "created_at": NOON}
    return Machine(id=MachineId(name), name=name, **{**given, **changes})


def a_full_machine(name: str = "web_1") -> Machine:
    """Return a machine none of whose fields has its default."""
    return a_machine(
        name,
        ordinal=7,
        set_id=SetId("web"),
        instance_id="1",
        computer_name="web000001",
        zone="2",
        fault_domain=3,
        update_domain=4,
        model=Model(version=3, notice=5 * MINUTE, eviction=Action.DELETE),
        booted=2,
        provisioning=Provisioning.FAILED,
        power=Power.DEALLOCATED,
        protection=Protection(from_scale_in=True, from_scale_set_actions=True),
        failure="no luck — ever",
    )


def an_event(event_id: str = "E", *machines: str, **changes) -> Event:
    names = tuple(MachineId(name) for name in machines or ("web_0",))
    given = {
        "type": EventType.FREEZE,
        "action": Action.FREEZE,
        "source": Source.PLATFORM,
        "status": Status.SCHEDULED,
        "machines": names,
        "remaining": names,
        "announced_at": NOON,
        "not_before": NOON + 15 * MINUTE,
    }
    return Event(id=EventId(event_id), **{**given, **changes})


def a_scope(scope_id: str = "scope", machines=(), events=(), **changes) -> Scope:
    return Scope(
        id=ScopeId(scope_id),
        kind=changes.pop("kind", ScopeKind.PLACEMENT_GROUP),
        machines={machine.id: machine for machine in machines},
        events={event.id: event for event in events},
        **changes,
    )


def created(scope: Scope, **changes) -> Step:
    """Return the decision that makes a scope exist as it stands."""
    return Step(before=None, scope=scope, **changes)


def a_perform(event_id: str = "E", machine: str = "web_0", **changes) -> Perform:
    given = {"action": Action.FREEZE, "since": NOON}
    return Perform(event_id=EventId(event_id), machine=MachineId(machine), **{**given, **changes})


def a_note(text: str = "said", **changes) -> Note:
    return Note(what="note", text=text, **changes)


def a_scale_set(set_id: str = "web", **changes) -> ScaleSet:
    given = {
        "subscription": "s",
        "resource_group": "rg",
        "name": set_id,
        "unique_id": "u",
        "created_at": NOON,
        "location": "westus",
        "traits": Traits(),
    }
    return ScaleSet(id=SetId(set_id), **{**given, **changes})


def a_full_scale_set() -> ScaleSet:
    """Return a set none of whose fields has its default."""
    traits = Traits(
        orchestration=Orchestration.FLEXIBLE,
        zones=("1", "2"),
        single_placement_group=False,
        fault_domains=1,
        own_events_only=True,
        name_prefix="w",
        upgrade_mode=UpgradeMode.ROLLING,
        batch_percent=50,
        batch_pause=90 * SECOND,
        unhealthy_percent_max=5,
        scale_in=ScaleInRule.OLDEST,
        scale_in_force=True,
        notice=7 * MINUTE,
        eviction=Action.DEALLOCATE,
        auto_approve=(EventType.REBOOT, EventType.REDEPLOY),
    )
    rollout = Rollout(
        operation=OperationId("o"),
        started_at=NOON,
        kind=RolloutKind.OS,
        batch=(MachineId("a"),),
        tried=(MachineId("a"), MachineId("b")),
        resume_at=NOON + MINUTE,
    )
    past = PastRollout(
        kind=RolloutKind.MODEL,
        code=RolloutCode.FAULTED,
        started_at=NOON,
        ended_at=NOON + MINUTE,
        progress=Progress(successful=1, failed=2, in_progress=3, pending=4),
        failure="Broken.",
    )
    return a_scale_set(
        traits=traits,
        past_rollouts=(past,),
        repairs_suspended=True,
        number=9,
        model_version=8,
        next_instance=12,
        groups=(Group(ScopeId("g1"), "1"), Group(ScopeId("g2"), "2")),
        provisioning=Provisioning.UPDATING,
        rollout=rollout,
        due_at=NOON + MINUTE,
    )


def an_operation(operation_id: str = "o", **changes) -> Operation:
    given = {"name": "write", "location": "westus", "started_at": NOON, "remaining": 2}
    return Operation(id=OperationId(operation_id), **{**given, **changes})


def an_ended_operation(operation_id: str = "o", **changes) -> Operation:
    given = {
        "remaining": 0,
        "status": OperationStatus.FAILED,
        "ended_at": NOON + MINUTE,
        "failure": Failure("Code", "Because."),
        "set_id": SetId("web"),
        "removes_set": True,
    }
    return an_operation(operation_id, **{**given, **changes})


def with_version(scope: Scope, version: int) -> Scope:
    """Return a scope as it comes back after so many decisions."""
    return replace(scope, version=version)
