"""The one decision of the product: what a fact makes of a scope.

`step` is the only way a scope changes. It refuses with a `DomainError`, and then nothing changes.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from lastcall.engine.announcements import announced
from lastcall.engine.draft import (
    BOOTS,
    POWER_AFTER,
    Draft,
)
from lastcall.engine.effects import Failure, Step
from lastcall.engine.errors import (
    EventNotFoundError,
    IllegalTransitionError,
)
from lastcall.engine.facts import (
    ActionDelayed,
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
from lastcall.engine.model import (
    Action,
    Event,
    Machine,
    Power,
    Provisioning,
    Scope,
    Source,
)
from lastcall.engine.policy import Policy
from lastcall.engine.requests import NEEDS_ALLOCATION, added, requested
from lastcall.engine.transitions import Trigger
from lastcall.engine.watching import is_on, off_at


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
        due.append(off_at(scope.watched_at))
    return min(due, default=None)


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
    if draft.watched_at is not None and not is_on(draft.watched_at, draft.now):
        draft.watched_at = None
        draft.note("unwatched", "Scheduled Events is off: nobody asked for 24 hours.")


def _watched(draft: Draft, fact: Watched) -> None:
    before = draft.watched_at
    if before is None or not is_on(before, fact.at):
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
        after = _performed(machine, event, fact)
        draft.update(after if draft.is_changing(machine.id) else _recovered(after, event.action))
        if event.type is None:
            draft.note(event.action, f"{machine.name}: {event.action} done.", machine=machine.id)


def _performed(machine: Machine, event: Event, fact: ActionDone) -> Machine:
    action, model = event.action, machine.model
    # Of two updates, the later request wins, whichever is finished last.
    if event.model is not None and event.model.version >= model.version:
        model = event.model
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


def _action_delayed(draft: Draft, fact: ActionDelayed) -> None:
    event = draft.events.get(fact.event_id)
    if event is not None and fact.machine in event.remaining:
        machine = draft.machines[fact.machine]
        draft.note(
            "delayed",
            f"{machine.name}: {event.action} is tried again: {fact.reason}",
            machine=machine.id,
        )


def _protected(draft: Draft, fact: Protected) -> None:
    draft.update(replace(draft.member(fact.machine), protection=fact.protection))


# One handler per kind of fact; each takes its own kind, which a table cannot say to a type checker.
_HANDLERS: Final[Mapping[type[Fact], Callable[[Draft, Any], None]]] = {
    MachinesAdded: added,
    Requested: requested,
    Announced: announced,
    Approved: _approved,
    Withdrawn: _withdrawn,
    TimePassed: _time_passed,
    Watched: _watched,
    ActionDone: _action_done,
    ActionFailed: _action_failed,
    ActionDelayed: _action_delayed,
    Protected: _protected,
}
