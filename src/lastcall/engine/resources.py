"""What the control plane keeps as it was given: groups, networks, deployments, settings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NewType

from lastcall.engine.model import OperationId, ScopeId
from lastcall.engine.value import Value

ResourceId = NewType("ResourceId", str)


class Resource(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One resource that is not a scale set.

    `id` is its path in lower case, `path` as its first writer spelled it; `kind` is its type and
    `group` its resource group, both in lower case; `content` is its document. `number` counts the
    writes, `due_at` is when it wants to be looked at again, and `scope_id` is the scope that is
    its own, if it has one: it goes with the resource. `operation` tells how it stands, and is
    remembered as long as the resource. `state` is what the platform remembers about it and shows
    nobody.
    """

    id: ResourceId
    path: str
    kind: str
    group: str
    content: Mapping[str, Any]
    created_at: datetime
    number: int = 1
    due_at: datetime | None = None
    scope_id: ScopeId | None = None
    operation: OperationId | None = None
    state: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition("/")[2]

    def is_at_or_below(self, resource_id: ResourceId) -> bool:
        """Whether it is that resource, a child of it, or in it if it is a resource group."""
        return self.id == resource_id or self.id.startswith(f"{resource_id}/")


class Asked(Value, frozen=True, kw_only=True):
    """What somebody asks for: an operation, in the control plane's words, on what is at a path.

    `group` is the resource group in lower case, empty outside of any.
    """

    operation: str
    path: str
    group: str
    caller: str


class Activity(Asked, frozen=True, kw_only=True, omit_defaults=True):
    """Who asked for what, and what came of it.

    `code` is the HTTP status of a refusal, `reason` its code and `message` its sentence.
    """

    at: datetime
    status: str
    code: int = 0
    reason: str = ""
    message: str = ""
    correlation: str = ""
    seq: int = 0


class ActivityFilter(Value, frozen=True, kw_only=True):
    """Which activities are wanted: the newest `limit` in a span of time, before the `before`-th."""

    limit: int
    before: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    group: str | None = None
