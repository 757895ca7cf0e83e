"""The document that the machines of a scope read."""

from datetime import datetime

from lastcall.engine.model import EventId, EventType, Scope, Source
from lastcall.engine.value import Value


class VisibleEvent(Value, frozen=True, kw_only=True):
    """An event as guests see it. `not_before` is None once it has started (R28)."""

    id: EventId
    type: EventType
    has_started: bool
    resources: tuple[str, ...]
    not_before: datetime | None
    description: str
    source: Source
    duration_s: int


class Document(Value, frozen=True, kw_only=True):
    """What the scheduledevents endpoint shows, before any api-version has had its say."""

    incarnation: int
    events: tuple[VisibleEvent, ...]


def document(scope: Scope) -> Document:
    """Return what the members of the scope see now."""
    return Document(
        incarnation=scope.incarnation,
        events=tuple(
            VisibleEvent(
                id=event.id,
                type=event.type,
                has_started=not event.is_pending,
                resources=tuple(scope.machines[machine].name for machine in event.machines),
                not_before=event.not_before if event.is_pending else None,
                description=event.description,
                source=event.source,
                duration_s=event.duration_s,
            )
            for event in scope.events.values()
            if event.type is not None
        ),
    )
