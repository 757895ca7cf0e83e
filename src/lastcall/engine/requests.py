"""What users ask of machines: a deletion, which gives its notice, or anything else."""

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from lastcall.engine.draft import Draft, announcement
from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.facts import MachinesAdded, Requested
from lastcall.engine.limits import NOTICE_MIN
from lastcall.engine.model import (
    Action,
    Event,
    EventId,
    EventType,
    Machine,
    Power,
    Provisioning,
    Source,
    Status,
)
from lastcall.engine.transitions import Trigger

# R85: what a user's request becomes where somebody watches.
TYPE_OF: Final = {Action.RESTART: EventType.REBOOT, Action.REDEPLOY: EventType.REDEPLOY}

# R29, and D2 for Terminate.
DESCRIPTION: Final = {
    Action.RESTART: "Virtual machine is going to be restarted as requested by authorized user.",
    Action.REDEPLOY: "Virtual machine is going to be redeployed as requested by authorized user.",
    Action.DELETE: "Virtual machine is going to be deleted as requested by authorized user.",
}
NEEDS_ALLOCATION: Final = frozenset({Action.RESTART, Action.REDEPLOY, Action.POWER_OFF})


def added(draft: Draft, fact: MachinesAdded) -> None:
    """Take machines into the scope and have them created."""
    for machine, event_id in zip(fact.machines, fact.event_ids, strict=True):
        assert machine.id not in draft.machines, "ids are drawn once"
        draft.update(machine)
        draft.begin(_quiet(draft, event_id, Action.CREATE, machine, fact))


def requested(draft: Draft, fact: Requested) -> None:
    """Begin what a user asked for: announced where that is due, otherwise at once."""
    for machine_id, event_id in zip(fact.machines, fact.event_ids, strict=True):
        machine = draft.member(machine_id)
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
    draft.note("announced", announcement(event), event)
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
        model=fact.model if isinstance(fact, Requested) else None,
    )


def _join(draft: Draft, event: Event, fact: Requested) -> Event:
    """Let a second request wait for what the first has brought about already."""
    if fact.operation is None or fact.operation in event.operations:
        return event
    joined = replace(event, operations=(*event.operations, fact.operation))
    draft.events[event.id] = joined
    return joined
