"""How many decisions the engine makes, against what a simulation of thousands of seeds needs."""

import time
from datetime import UTC, datetime, timedelta

from bench.report import Row
from lastcall.engine.facts import ActionDone, Approved, MachinesAdded, Requested, Watched
from lastcall.engine.model import Action, Machine, Model, Scope, ScopeId, ScopeKind
from lastcall.engine.policy import Policy
from lastcall.engine.step import step
from lastcall.ids import RandomIds

ROUNDS = 4_000
MEMBERS = 20
PER_MINUTE = 1_000_000


def measure() -> list[Row]:
    """Announce, approve and perform deletions, over and over."""
    ids, policy, now = RandomIds(1), Policy(), datetime(2026, 1, 1, tzinfo=UTC)
    steps = 0
    started = time.perf_counter()
    for _ in range(ROUNDS // MEMBERS):
        scope = Scope(id=ScopeId("s"), kind=ScopeKind.PLACEMENT_GROUP, machines={}, events={})
        machines = tuple(
            Machine(
                id=ids.machine_id(),
                name=f"web_{number}",
                ordinal=number,
                created_at=now,
                model=Model(notice=timedelta(minutes=5)),
            )
            for number in range(MEMBERS)
        )
        event_ids = tuple(ids.event_id() for _ in machines)
        scope = step(
            scope, MachinesAdded(machines=machines, event_ids=event_ids), now, policy
        ).scope
        scope = step(scope, Watched(at=now), now, policy).scope
        steps += 2
        for machine, created in zip(machines, event_ids, strict=True):
            event_id = ids.event_id()
            facts = (
                ActionDone(event_id=created, machine=machine.id),
                Requested(action=Action.DELETE, machines=(machine.id,), event_ids=(event_id,)),
                Approved(event_ids=(event_id,), by=machine.name),
                ActionDone(event_id=event_id, machine=machine.id),
            )
            for fact in facts:
                scope = step(scope, fact, now, policy).scope
                steps += 1
    rate = steps / (time.perf_counter() - started) * 60
    return [
        Row(
            f"decisions of the engine, scopes of {MEMBERS} machines, one core",
            f"{rate:,.0f}/min",
            f"{PER_MINUTE:,}/min",
            rate / PER_MINUTE,
            ">= 1",
            rate >= PER_MINUTE,
        )
    ]
