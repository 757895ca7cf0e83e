"""Small scopes to decide about, and a story that walks one through time."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from lastcall.engine.document import Document, document
from lastcall.engine.effects import Step
from lastcall.engine.facts import (
    ActionDone,
    ActionFailed,
    Announced,
    Approved,
    Fact,
    Requested,
    TimePassed,
    Watched,
    Withdrawn,
)
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    Model,
    OperationId,
    Provisioning,
    Scope,
    ScopeId,
    ScopeKind,
    SetId,
    Source,
    Status,
)
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import ScaleSet, Traits
from lastcall.engine.step import step

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOTICE = 5 * MINUTE

HELD = Model(notice=NOTICE)
UNHELD = Model()
SPOT = Model(eviction=Action.DEALLOCATE)
SPOT_DELETE = Model(eviction=Action.DELETE)
FREEZE, REBOOT, REDEPLOY = EventType.FREEZE, EventType.REBOOT, EventType.REDEPLOY
PREEMPT, TERMINATE = EventType.PREEMPT, EventType.TERMINATE


def a_machine(name: str = "vm_0", **changes) -> Machine:
    """Return a running machine whose id is its name and whose model asks for five minutes."""
    number = name.rpartition("_")[2]
    given = {
        "ordinal": int(number) if number.isdigit() else 0,
        "created_at": NOON - HOUR,
        "instance_id": number,
        "model": HELD,
        "provisioning": Provisioning.SUCCEEDED,
    }
    return Machine(id=MachineId(name), name=name, **{**given, **changes})


def an_event(status: Status = Status.SCHEDULED, **changes) -> Event:
    """Return a Freeze of vm_0, as the platform announces it at noon."""
    given = {
        "id": EventId("E"),
        "type": FREEZE,
        "action": Action.FREEZE,
        "source": Source.PLATFORM,
        "machines": (MachineId("vm_0"),),
        "remaining": (MachineId("vm_0"),),
        "announced_at": NOON,
        "not_before": NOON + 15 * MINUTE,
        "started_at": NOON if status is Status.STARTED else None,
    }
    return Event(status=status, **{**given, **changes})


def a_scope(*machines: Machine, events: Iterable[Event] = (), **changes) -> Scope:
    """Return a scope of these machines (vm_0 and vm_1 by default) that somebody watches."""
    members = machines or (a_machine("vm_0"), a_machine("vm_1"))
    given = {"kind": ScopeKind.PLACEMENT_GROUP, "watched_at": NOON}
    return Scope(
        id=ScopeId("scope"),
        machines={machine.id: machine for machine in members},
        events={event.id: event for event in events},
        **{**given, **changes},
    )


def a_scale_set(traits: Traits | None = None, **changes) -> ScaleSet:
    """Return a scale set called web, without instances."""
    given = {
        "id": SetId("web"),
        "subscription": "s",
        "resource_group": "rg",
        "name": "web",
        "unique_id": "u",
        "created_at": NOON,
        "location": "westus",
        "traits": traits or Traits(),
    }
    return ScaleSet(**{**given, **changes})


class Story:
    """A scope in the course of time. Each verb is one fact; `step` is the last decision."""

    def __init__(self, scope: Scope | None = None, policy: Policy | None = None) -> None:
        self.scope = scope or a_scope()
        self.policy = policy or Policy()
        self.now = NOON
        self.steps: list[Step] = []

    @property
    def step(self) -> Step:
        return self.steps[-1]

    @property
    def document(self) -> Document:
        return document(self.scope)

    @property
    def performed(self) -> list[tuple[str, str]]:
        """Every order to the driver so far, as (machine, action)."""
        return [(p.machine, p.action.value) for step in self.steps for p in step.performs]

    @property
    def settled(self) -> list[tuple[str, str | None]]:
        """Every part of an operation that has ended, with the code of its failure."""
        return [
            (finished.operation, finished.failure and finished.failure.code)
            for step in self.steps
            for finished in step.finished
        ]

    @property
    def history(self) -> list[str]:
        """What every note so far was about."""
        return [note.what for step in self.steps for note in step.notes]

    def status(self, event_id: str) -> Status:
        return self.scope.events[EventId(event_id)].status

    def machine(self, name: str) -> Machine:
        return self.scope.machines[MachineId(name)]

    def learn(self, fact: Fact) -> Step:
        decision = step(self.scope, fact, self.now, self.policy)
        self.scope = decision.scope
        self.steps.append(decision)
        return decision

    def wait(self, duration: timedelta) -> Step:
        self.now += duration
        return self.learn(TimePassed())

    def request(self, action: Action, *names: str, ids: str = "", **changes) -> Step:
        """Ask for an action; event ids are one letter each, the first letters by default."""
        chosen = ids or "ABCDEFGHIJ"[: len(names)]
        given = {
            "machines": tuple(MachineId(name) for name in names),
            "event_ids": tuple(EventId(letter) for letter in chosen),
        }
        if "operation" in changes:
            changes["operation"] = OperationId(changes["operation"])
        return self.learn(Requested(action=action, **given, **changes))

    def delete(self, *names: str, ids: str = "", **changes) -> Step:
        return self.request(Action.DELETE, *names, ids=ids, **changes)

    def announce(self, event_type: EventType, *names: str, event_id: str = "E", **changes) -> Step:
        machines = tuple(MachineId(name) for name in names)
        return self.learn(
            Announced(event_id=EventId(event_id), type=event_type, machines=machines, **changes)
        )

    def approve(self, *event_ids: str, by: str = "vm_0", finished: Iterable[str] = ()) -> Step:
        ids = tuple(EventId(event_id) for event_id in event_ids)
        known = frozenset(EventId(event_id) for event_id in finished)
        return self.learn(Approved(event_ids=ids, by=by, finished=known))

    def withdraw(self, event_id: str) -> Step:
        return self.learn(Withdrawn(event_id=EventId(event_id)))

    def watch(self) -> Step:
        return self.learn(Watched(at=self.now))

    def done(self, event_id: str, name: str, **changes) -> Step:
        return self.learn(
            ActionDone(event_id=EventId(event_id), machine=MachineId(name), **changes)
        )

    def fail(self, event_id: str, name: str, reason: str = "no luck") -> Step:
        return self.learn(
            ActionFailed(event_id=EventId(event_id), machine=MachineId(name), reason=reason)
        )
