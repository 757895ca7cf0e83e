"""The one decision of the product: what a fact makes of a scope.

`step` is the only way a scope changes. It refuses with a `DomainError`, and then nothing changes.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from lastcall.engine.draft import (
    APPLIES_MODEL,
    BOOTS,
    POWER_AFTER,
    Draft,
)
from lastcall.engine.effects import Failure, Step
from lastcall.engine.errors import (
    EventNotFoundError,
    IllegalTransitionError,
    InstanceNotFoundError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.facts import (
    ActionDone,
    ActionFailed,
    Announced,
    Approved,
    Fact,
    MachinesAdded,
    Protected,
    Requested,
    TimePassed,
    Watched,
    Withdrawn,
)
from lastcall.engine.limits import IDLE_AFTER, NOTICE_MAX, NOTICE_MIN
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    MachineId,
    Power,
    Provisioning,
    Scope,
    Source,
    Status,
)
from lastcall.engine.policy import Policy
from lastcall.engine.transitions import Trigger

ACTION_OF: Final = {
    EventType.FREEZE: Action.FREEZE,
    EventType.REBOOT: Action.RESTART,
    EventType.REDEPLOY: Action.REDEPLOY,
}
# R85: what a user's request becomes where somebody watches.
TYPE_OF: Final = {Action.RESTART: EventType.REBOOT, Action.REDEPLOY: EventType.REDEPLOY}

# R29, and D2 for Terminate.
MAINTENANCE: Final = "Host server is undergoing maintenance."
FAILURE: Final = "Virtual machine has encountered a failure."
DESCRIPTION: Final = {
    Action.RESTART: "Virtual machine is going to be restarted as requested by authorized user.",
    Action.REDEPLOY: "Virtual machine is going to be redeployed as requested by authorized user.",
    Action.DELETE: "Virtual machine is going to be deleted as requested by authorized user.",
}
FREEZE_DURATION_S: Final = 5  # R31: captures show 5 to 30.

NEEDS_ALLOCATION: Final = frozenset({Action.RESTART, Action.REDEPLOY, Action.POWER_OFF})


def step(scope: Scope, fact: Fact, now: datetime, policy: Policy) -> Step:
    """Decide what `fact` makes of `scope` at `now`, or refuse with a `DomainError`."""
    draft = Draft(scope, now, policy)
    _HANDLERS[type(fact)](draft, fact)
    draft.release()
    return draft.done()


def due_at(scope: Scope) -> datetime | None:
    """Return when `TimePassed` will next matter to the scope: its only timer."""
    due = [event.not_before for event in scope.events.values() if event.is_pending]
    if scope.watched_at is not None:
        due.append(scope.watched_at + IDLE_AFTER)
    return min(due, default=None)


def _added(draft: Draft, fact: MachinesAdded) -> None:
    for machine, event_id in zip(fact.machines, fact.event_ids, strict=True):
        assert machine.id not in draft.machines, "ids are drawn once"
        draft.update(machine)
        draft.begin(_quiet(draft, event_id, Action.CREATE, machine, fact))


def _requested(draft: Draft, fact: Requested) -> None:
    for machine_id, event_id in zip(fact.machines, fact.event_ids, strict=True):
        machine = _member(draft, machine_id)
        if fact.action is Action.DELETE:
            _request_deletion(draft, fact, machine, event_id)
        else:
            _request_other(draft, fact, machine, event_id)


def _request_deletion(draft: Draft, fact: Requested, machine: Machine, event_id: EventId) -> None:
    under_way = next(
        (
            event
            for event in draft.events.values()
            if event.action is Action.DELETE
            and machine.id in event.machines
            # An eviction that may yet be withdrawn is no promise of a deletion.
            and not (event.is_pending and event.source is Source.PLATFORM)
        ),
        None,
    )
    if under_way is not None:
        joined = _join(draft, under_way, fact)
        if fact.force and joined.is_pending:
            started = draft.move(joined, Trigger.FORCED)
            draft.note("started", "Started before NotBefore: forceDeletion.", started)
        return
    draft.update(replace(machine, provisioning=Provisioning.DELETING))
    why_not = _why_no_hold(draft, fact, machine)
    if why_not:
        draft.begin(_quiet(draft, event_id, Action.DELETE, machine, fact))
        draft.note("not-held", why_not, machine=machine.id)
        return
    assert machine.model.notice is not None, "a machine without notice is never held"
    _schedule(draft, fact, machine, event_id, draft.policy.paced(machine.model.notice))


def _why_no_hold(draft: Draft, fact: Requested, machine: Machine) -> str:
    """Say why a deletion is not announced, in words for the history; empty when it is (D5)."""
    if machine.model.notice is None:
        return "Deleted without notice: its model has no terminate notification."
    if fact.force:
        return "Deleted without notice: forceDeletion."
    if not draft.is_watched:
        return (
            "Deleted without notice: nobody in its scope has read scheduledevents in the last"
            " 24 hours, so Scheduled Events is off."
        )
    return ""


def _request_other(draft: Draft, fact: Requested, machine: Machine, event_id: EventId) -> None:
    _refuse_unable(draft, fact.action, machine)
    event_type = TYPE_OF.get(fact.action)
    if event_type is None or not draft.is_watched:
        draft.begin(_quiet(draft, event_id, fact.action, machine, fact))
        return
    for event in draft.pending(machine.id):
        if event.type is event_type and event.source is Source.USER:
            _join(draft, event, fact)
            return
    _schedule(draft, fact, machine, event_id, draft.policy.paced(NOTICE_MIN[event_type]))


def _refuse_unable(draft: Draft, action: Action, machine: Machine) -> None:
    if machine.is_leaving:
        # D8: no half-known states.
        terminate = next(
            (e for e in draft.pending(machine.id) if e.type is EventType.TERMINATE), None
        )
        why = "it is being deleted"
        if terminate is not None:
            why = f"its Terminate event {terminate.id} is pending"
        raise OperationNotAllowedError(
            f"Operation '{action}' is not allowed on '{machine.name}': {why}."
        )
    if action in NEEDS_ALLOCATION and machine.power is Power.DEALLOCATED:
        raise OperationNotAllowedError(
            f"Operation '{action}' is not allowed on '{machine.name}': it is deallocated."
        )


def _schedule(
    draft: Draft, fact: Requested, machine: Machine, event_id: EventId, notice: timedelta
) -> None:
    is_deletion = fact.action is Action.DELETE
    starts_now = fact.auto_approve and not is_deletion
    event = Event(
        id=event_id,
        type=EventType.TERMINATE if is_deletion else TYPE_OF[fact.action],
        action=fact.action,
        source=Source.USER,
        status=Status.STARTED if starts_now else Status.SCHEDULED,
        machines=(machine.id,),
        remaining=(machine.id,),
        announced_at=draft.now,
        not_before=draft.now + notice,
        started_at=draft.now if starts_now else None,
        operations=() if fact.operation is None else (fact.operation,),
        description=DESCRIPTION[fact.action],
    )
    draft.begin(event)
    draft.note("announced", _announcement(event), event)
    if starts_now:
        draft.note("started", "Started at once: the set approves user events itself.", event)


def _quiet(
    draft: Draft,
    event_id: EventId,
    action: Action,
    machine: Machine,
    fact: Requested | MachinesAdded,
) -> Event:
    return Event(
        id=event_id,
        type=None,
        action=action,
        source=Source.USER,
        status=Status.STARTED,
        machines=(machine.id,),
        remaining=(machine.id,),
        announced_at=draft.now,
        not_before=draft.now,
        started_at=draft.now,
        operations=() if fact.operation is None else (fact.operation,),
    )


def _join(draft: Draft, event: Event, fact: Requested) -> Event:
    """Let a second request wait for what the first has brought about already."""
    if fact.operation is None or fact.operation in event.operations:
        return event
    joined = replace(event, operations=(*event.operations, fact.operation))
    draft.events[event.id] = joined
    return joined


def _announced(draft: Draft, fact: Announced) -> None:
    machines = [_member(draft, machine_id) for machine_id in fact.machines]
    _refuse_announcement(fact, machines)
    action = ACTION_OF.get(fact.type) or machines[0].model.eviction
    assert action is not None, "only Spot machines are evicted"
    names = tuple(dict.fromkeys(fact.machines))
    notice = draft.policy.paced(NOTICE_MIN[fact.type] if fact.notice is None else fact.notice)
    event = Event(
        id=fact.event_id,
        type=fact.type,
        action=action,
        source=Source.PLATFORM,
        status=Status.STARTED if fact.has_started else Status.SCHEDULED,
        machines=names,
        remaining=names,
        announced_at=draft.now,
        not_before=draft.now if fact.has_started else draft.now + notice,
        started_at=draft.now if fact.has_started else None,
        description=_description(fact),
        duration_s=_duration_s(fact),
    )
    draft.begin(event)
    if fact.has_started:
        draft.note("started", f"{event.type} without notice: it has started already.", event)
    else:
        draft.note("announced", _announcement(event), event)


def _refuse_announcement(fact: Announced, machines: list[Machine]) -> None:
    if fact.type is EventType.TERMINATE:
        raise InvalidParameterError("Terminate is announced by deleting the instance.")
    if not machines:
        raise InvalidParameterError("An event names at least one machine.")
    if fact.type is EventType.PREEMPT:
        if machines[0].model.eviction is None:
            raise OperationNotAllowedError(
                "Operation 'simulateEviction' is allowed only for Spot Virtual Machines"
            )
        if len(machines) > 1:
            raise InvalidParameterError("A Preempt event names one machine.")
    if fact.notice is not None and not timedelta(0) <= fact.notice <= NOTICE_MAX:
        raise InvalidParameterError(f"The notice must lie between 0 and {NOTICE_MAX.days} days.")


def _description(fact: Announced) -> str:
    if fact.description is not None:
        return fact.description
    if fact.type is EventType.PREEMPT:
        return ""  # R82
    return FAILURE if fact.has_started else MAINTENANCE


def _duration_s(fact: Announced) -> int:
    if fact.duration_s is not None:
        return fact.duration_s
    return FREEZE_DURATION_S if fact.type is EventType.FREEZE else -1


def _announcement(event: Event) -> str:
    notice_s = (event.not_before - event.announced_at).total_seconds()
    return f"{event.type} announced with {notice_s:g} s of notice."


def _approved(draft: Draft, fact: Approved) -> None:
    for event_id in fact.event_ids:
        event = draft.events.get(event_id)
        if event is None or event.type is None:
            if event_id in fact.finished:
                continue  # D3
            raise EventNotFoundError(f"There is no scheduled event '{event_id}'.")
        after = draft.move(event, Trigger.APPROVED)
        if after is not event:
            draft.note("approved", f"Approved by {fact.by}.", after, by=fact.by)


def _withdrawn(draft: Draft, fact: Withdrawn) -> None:
    event = draft.events.get(fact.event_id)
    if event is None or event.type is None:
        raise EventNotFoundError(f"There is no scheduled event '{fact.event_id}'.")
    if event.source is Source.USER:
        raise IllegalTransitionError(
            f"Only the platform's own events can be cancelled; {event.id} was asked for by a user."
        )
    draft.move(event, Trigger.WITHDRAWN)


def _time_passed(draft: Draft, _fact: TimePassed) -> None:
    for event in [e for e in draft.events.values() if e.is_pending and e.not_before <= draft.now]:
        after = draft.move(event, Trigger.DEADLINE)
        draft.note("started", "Started: NotBefore was reached.", after)
    if draft.watched_at is not None and draft.watched_at + IDLE_AFTER <= draft.now:
        draft.watched_at = None
        draft.note("unwatched", "Scheduled Events is off: nobody asked for 24 hours.")


def _watched(draft: Draft, fact: Watched) -> None:
    before = draft.watched_at
    if before is None or before + IDLE_AFTER <= fact.at:
        draft.incarnation = 1  # R22: it starts over.
        draft.note("watched", "Scheduled Events is on: somebody asked for the document.")
        draft.watched_at = fact.at
    else:
        draft.watched_at = max(before, fact.at)


def _action_done(draft: Draft, fact: ActionDone) -> None:
    event = draft.events.get(fact.event_id)
    if event is None or fact.machine not in event.remaining:
        return  # Effects run at least once, so reports may be repeated or late.
    machine = draft.machines[fact.machine]
    draft.finish(event, fact.machine)
    if event.action is Action.DELETE:
        draft.remove(machine)
        draft.note("deleted", f"{machine.name} is gone.", machine=machine.id)
    else:
        after = _performed(machine, event.action, fact)
        draft.update(after if draft.is_changing(machine.id) else _recovered(after, event.action))
        if event.type is None:
            draft.note(event.action, f"{machine.name}: {event.action} done.", machine=machine.id)


def _performed(machine: Machine, action: Action, fact: ActionDone) -> Machine:
    model = machine.model
    if action in APPLIES_MODEL and fact.model is not None:
        model = fact.model
    booted = machine.booted
    if action in BOOTS and fact.number is not None:
        booted = fact.number
    power = POWER_AFTER.get(action, machine.power)
    if machine.power is Power.DEALLOCATED and action in NEEDS_ALLOCATION:
        power = Power.DEALLOCATED  # It was deallocated while the event waited: nothing to restart.
    return replace(machine, model=model, booted=booted, power=power)


def _recovered(machine: Machine, action: Action) -> Machine:
    """Show a machine as well again; a pause heals nothing, and one that leaves stays leaving."""
    if machine.is_leaving or action is Action.FREEZE:
        return machine
    return replace(machine, provisioning=Provisioning.SUCCEEDED, failure="")


def _action_failed(draft: Draft, fact: ActionFailed) -> None:
    event = draft.events.get(fact.event_id)
    if event is None or fact.machine not in event.remaining:
        return
    assert event.action is not Action.DELETE, "a deletion is retried until it succeeds"
    machine = draft.machines[fact.machine]
    draft.finish(event, fact.machine, Failure("InternalExecutionError", fact.reason))
    if not machine.is_leaving:
        machine = replace(machine, provisioning=Provisioning.FAILED)
    draft.update(replace(machine, failure=fact.reason))
    draft.note(
        "failed", f"{machine.name}: {event.action} failed: {fact.reason}", machine=machine.id
    )


def _protected(draft: Draft, fact: Protected) -> None:
    draft.update(replace(_member(draft, fact.machine), protection=fact.protection))


def _member(draft: Draft, machine_id: MachineId) -> Machine:
    machine = draft.machines.get(machine_id)
    if machine is None:
        raise InstanceNotFoundError
    return machine


# One handler per kind of fact; each takes its own kind, which a table cannot say to a type checker.
_HANDLERS: Final[Mapping[type[Fact], Callable[[Draft, Any], None]]] = {
    MachinesAdded: _added,
    Requested: _requested,
    Announced: _announced,
    Approved: _approved,
    Withdrawn: _withdrawn,
    TimePassed: _time_passed,
    Watched: _watched,
    ActionDone: _action_done,
    ActionFailed: _action_failed,
    Protected: _protected,
}
