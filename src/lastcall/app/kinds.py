"""What can be done with a resource, whatever its type: one table for all that need to know.

Deployments write, read and remove resources by it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from lastcall.app.learning import Moment
from lastcall.engine.model import OperationId
from lastcall.engine.operations import Operation
from lastcall.ports import Reader, Transaction
from lastcall.wire.paths import Path


class Wanted(Struct, frozen=True, kw_only=True):
    """A resource as somebody wants it to be, as a part of something larger."""

    path: Path
    body: Mapping[str, Any]
    api_version: str
    part_of: OperationId


# Returns what has to be waited for: it counts as a part of the larger operation by itself.
Write = Callable[[Transaction, Wanted, Moment], Operation | None]
# Returns the resource as a GET of that api-version shows it, or raises `ResourceNotFoundError`.
Show = Callable[[Reader, Path, str], dict[str, Any]]
# Deletes as a part of something larger, and returns what has to be waited for.
Delete = Callable[[Transaction, Path, Moment, OperationId], Operation | None]


class Kind(Struct, frozen=True, kw_only=True):
    """One type of resource."""

    write: Write
    show: Show
    delete: Delete


class Kinds(Struct, frozen=True, kw_only=True):
    """Every type; `other` is for those without rules of their own.

    `api_versions` tells those of a namespace and type, the newest first.
    """

    known: Mapping[str, Kind]
    other: Kind
    api_versions: Callable[[str, str], Sequence[str]]

    def of(self, path: Path) -> Kind:
        """Return what can be done with the resource at a path."""
        return self.known.get(path.kind, self.other)
