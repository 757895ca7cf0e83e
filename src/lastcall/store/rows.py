"""Values as rows and back, for every store that speaks SQL."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from lastcall.engine.model import Event, Machine, Scope, ScopeId, ScopeKind, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.resources import Activity, Resource
from lastcall.engine.scale_sets import ScaleSet
from lastcall.engine.step import due_at
from lastcall.ports import Effect, Ended, Recorded

Row = tuple[object, ...]
ScopeRow = tuple[str, str, str | None, int, int | None, int]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

encode: Final = msgspec.json.Encoder().encode
decode_machine: Final = msgspec.json.Decoder(Machine).decode
decode_event: Final = msgspec.json.Decoder(Event).decode
decode_scale_set: Final = msgspec.json.Decoder(ScaleSet).decode
decode_operation: Final = msgspec.json.Decoder(Operation).decode
decode_resource: Final = msgspec.json.Decoder(Resource).decode
decode_activity: Final = msgspec.json.Decoder(Activity).decode
decode_effect: Final = msgspec.json.Decoder(Effect).decode
decode_ended: Final = msgspec.json.Decoder(Ended).decode
decode_recorded: Final = msgspec.json.Decoder(Recorded).decode


def micros(instant: datetime) -> int:
    """Return an instant as the number that is stored."""
    return (instant - EPOCH) // MICROSECOND


def optional_micros(instant: datetime | None) -> int | None:
    """Return an instant that may be missing as the number that is stored."""
    return None if instant is None else micros(instant)


def prunable_from(operation: Operation) -> int | None:
    """Return from when an operation is out of date: never, while something refers to it."""
    return None if operation.is_kept else optional_micros(operation.ended_at)


def instant(stored: int) -> datetime:
    """Return a stored number as an instant."""
    return EPOCH + stored * MICROSECOND


def scope_row(scope: Scope) -> Row:
    """Return the row of a scope, its timer included."""
    return (
        scope.id,
        scope.kind,
        scope.set_id,
        scope.incarnation,
        optional_micros(scope.watched_at),
        scope.version,
        optional_micros(due_at(scope)),
    )


def scope_value(row: ScopeRow, machines: Iterable[bytes], events: Iterable[bytes]) -> Scope:
    """Return the scope of a row and of the bodies that belong to it."""
    scope_id, kind, set_id, incarnation, watched_at, version = row
    return Scope(
        id=ScopeId(scope_id),
        kind=ScopeKind(kind),
        set_id=None if set_id is None else SetId(set_id),
        incarnation=incarnation,
        watched_at=None if watched_at is None else instant(watched_at),
        version=version,
        machines={machine.id: machine for machine in map(decode_machine, machines)},
        events={event.id: event for event in map(decode_event, events)},
    )


class ScopeRows:
    """The rows by which scopes differ from what is on disk; unchanged values are identical."""

    def __init__(self) -> None:
        self.put_machines: list[Row] = []
        self.forget_machines: list[Row] = []
        self.put_events: list[Row] = []
        self.forget_events: list[Row] = []

    def add(self, scope_id: ScopeId, before: Scope | None, after: Scope | None) -> None:
        """Add what distinguishes `after` from `before`."""
        old_machines = {} if before is None else before.machines
        new_machines = {} if after is None else after.machines
        for key, machine in new_machines.items():
            if old_machines.get(key) is not machine:
                self.put_machines.append((scope_id, key, machine.ordinal, encode(machine)))
        gone = (key for key in old_machines if key not in new_machines)
        self.forget_machines.extend((scope_id, key) for key in gone)
        old_events = {} if before is None else before.events
        new_events = {} if after is None else after.events
        for event_key, event in new_events.items():
            if old_events.get(event_key) is not event:
                self.put_events.append((event_key, scope_id, encode(event)))
        self.forget_events.extend((key,) for key in old_events if key not in new_events)


def history_rows(history: Iterable[Recorded]) -> Iterator[Row]:
    """Return the rows of numbered lines of history."""
    for line in history:
        yield (line.seq, line.scope_id, line.event_id, line.machine, encode(line))
