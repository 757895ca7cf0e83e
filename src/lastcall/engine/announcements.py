"""What the platform does to machines: maintenance, failures, evictions."""

from datetime import timedelta
from typing import Final

from lastcall.engine.draft import Draft, announcement
from lastcall.engine.errors import (
    ConflictError,
    InvalidParameterError,
    OperationNotAllowedError,
)
from lastcall.engine.facts import Announced
from lastcall.engine.limits import EVENTS_PER_SCOPE_MAX, NOTICE_MAX, NOTICE_MIN
from lastcall.engine.model import (
    Action,
    Event,
    EventType,
    Machine,
    Power,
    Source,
    Status,
)

ACTION_OF: Final = {
    EventType.FREEZE: Action.FREEZE,
    EventType.REBOOT: Action.RESTART,
    EventType.REDEPLOY: Action.REDEPLOY,
}

# R29
MAINTENANCE: Final = "Host server is undergoing maintenance."
FAILURE: Final = "Virtual machine has encountered a failure."
FREEZE_DURATION_S: Final = 5  # R31: captures show 5 to 30.


def announced(draft: Draft, fact: Announced) -> None:
    """Begin an event of the platform's own, whether anybody watches or not (ADR 5)."""
    machines = [draft.member(machine_id) for machine_id in fact.machines]
    _refuse_announcement(fact, machines)
    _refuse_more(draft, fact)
    action = ACTION_OF.get(fact.type) or machines[0].model.eviction
    assert action is not None, "only Spot machines are evicted"
    machine_ids = tuple(dict.fromkeys(fact.machines))
    notice = draft.policy.paced(NOTICE_MIN[fact.type] if fact.notice is None else fact.notice)
    event = Event(
        id=fact.event_id,
        type=fact.type,
        action=action,
        source=Source.PLATFORM,
        status=Status.STARTED if fact.has_started else Status.SCHEDULED,
        machines=machine_ids,
        remaining=machine_ids,
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
        draft.note("announced", announcement(event), event)


def _refuse_announcement(fact: Announced, machines: list[Machine]) -> None:
    if fact.type is EventType.TERMINATE:
        raise InvalidParameterError("Terminate is announced by deleting the instance.")
    if not machines:
        raise InvalidParameterError("An event names at least one machine.")
    unallocated = next((m for m in machines if m.power is Power.DEALLOCATED), None)
    if unallocated is not None:
        raise OperationNotAllowedError(f"'{unallocated.name}' is deallocated: it has no host.")
    if fact.type is EventType.PREEMPT:
        if machines[0].model.eviction is None:
            raise OperationNotAllowedError(
                "Operation 'simulateEviction' is allowed only for Spot Virtual Machines"
            )
        if len(machines) > 1:
            raise InvalidParameterError("A Preempt event names one machine.")
    if fact.notice is not None and not timedelta(0) <= fact.notice <= NOTICE_MAX:
        raise InvalidParameterError(f"The notice must lie between 0 and {NOTICE_MAX.days} days.")


def _refuse_more(draft: Draft, fact: Announced) -> None:
    if len(draft.events) >= EVENTS_PER_SCOPE_MAX:
        raise ConflictError(f"The scope has {EVENTS_PER_SCOPE_MAX} events already.")
    for event in draft.events.values():
        if event.type is fact.type is EventType.PREEMPT and event.machines == fact.machines:
            raise ConflictError(f"It is being evicted already: event {event.id}.")


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
