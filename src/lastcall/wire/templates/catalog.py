"""The resources of a template by everything that they can be called."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lastcall.wire.templates.context import LookUp
from lastcall.wire.templates.faults import ExpressionError, ShapeError
from lastcall.wire.templates.identifiers import parents, relative_id, shown_id
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.values import LATE, Json

PROVIDERS: Final = "/providers/"


class Head(Struct, frozen=True):
    """A resource as the template calls it, before its body is evaluated."""

    id: str
    type: str
    name: str
    api_version: str
    location: str | None
    # What it is called besides: by its loop, or by its symbol.
    aliases: tuple[str, ...]
    # Whether its condition holds, and it is not only named to be referred to.
    is_wanted: bool
    is_existing: bool
    # Where it stands in the template.
    path: str
    definition: Mapping[str, Json]
    scope: Scope
    dependencies: tuple[str, ...]

    @property
    def key(self) -> str:
        """What its id is compared by."""
        return self.id.lower()


class Catalog:
    """Finds resources of the template by id, name, loop or symbol, in whatever case."""

    def __init__(self, heads: Sequence[Head], outer: "Catalog | None" = None) -> None:
        self._outer = outer
        self._by_key: dict[str, Head] = {}
        self._by_name: dict[str, list[Head]] = defaultdict(list)
        self._by_alias: dict[str, list[Head]] = defaultdict(list)
        # Of definitions with opposite conditions the one that holds counts.
        for head in sorted(heads, key=lambda head: not head.is_wanted):
            self._add(head)

    def _add(self, head: Head) -> None:
        for alias in head.aliases:
            self._by_alias[alias.lower()].append(head)
        if head.key not in self._by_key:
            self._by_key[head.key] = head
            self._by_name[head.name.lower()].append(head)
        elif head.is_wanted:
            raise ShapeError(
                f"The resource '{shown_id(relative_id(head.type, head.name))}' is defined multiple"
                " times in a template"
            ).under(head.path)

    def called(self, text: str, root: str) -> list[Head]:
        """Return the resources that dependsOn may mean by a text, none if it is unknown."""
        wanted = text.lower().rstrip("/")
        if wanted in self._by_alias:
            return self._by_alias[wanted]
        if wanted in self._by_name:
            found = self._by_name[wanted]
            if len(found) > 1:
                raise ShapeError(
                    f"The name '{shown_id(text)}' is ambiguous: {len(found)} resources have it"
                )
            return found
        full = wanted if wanted.startswith("/") else f"{root.lower()}{PROVIDERS}{wanted}"
        if full in self._by_key:
            return [self._by_key[full]]
        return self._outer.called(text, root) if self._outer is not None else []

    def target(self, text: str, root: str) -> tuple[str, Head | None]:
        """Return the id that reference() means, and the resource if the template has it."""
        found = self.called(text, root)
        if len(found) > 1:
            raise ExpressionError(
                f"The reference to '{shown_id(text)}' is ambiguous: {len(found)} resources are"
                " called so."
            )
        if found:
            return found[0].id, found[0]
        if not text.startswith("/"):
            raise ExpressionError(
                f"The resource '{shown_id(text)}' is not defined in the template."
            )
        return text, None

    def nearest(self, resource_id: str) -> Head | None:
        """Return the resource with an id, or the one that it is inside of."""
        for candidate in (resource_id, *parents(resource_id)):
            head = self._by_key.get(candidate.lower())
            if head is not None:
                return head
        return None


class Listener:
    """Stands in for the runtime while planning: notes what is referred to."""

    def __init__(self, catalog: Catalog, root: str) -> None:
        self._catalog = catalog
        self._root = root
        self.heard: list[str] = []

    def state(self, target: str, api_version: str | None, *, full: bool) -> Json:  # noqa: ARG002
        """Note a reference; its value comes later."""
        resource_id, _ = _resolved(self._catalog, self._root, target, api_version)
        self.heard.append(resource_id)
        return LATE


class Live:
    """The runtime while deploying: asks for the state of resources."""

    def __init__(self, catalog: Catalog, root: str, look_up: LookUp) -> None:
        self._catalog = catalog
        self._root = root
        self._look_up = look_up

    def state(self, target: str, api_version: str | None, *, full: bool) -> Json:
        """Return the state of a resource, or refuse."""
        resource_id, version = _resolved(self._catalog, self._root, target, api_version)
        state = self._look_up(resource_id, full=full, api_version=version)
        if state is None:
            raise ExpressionError(f"The resource '{shown_id(resource_id)}' could not be found.")
        return state


def _resolved(catalog: Catalog, root: str, target: str, api_version: str | None) -> tuple[str, str]:
    """Return the id that is referred to and the api-version to ask with."""
    resource_id, head = catalog.target(target, root)
    left_out = head is not None and not (head.is_wanted or head.is_existing)
    if left_out and api_version is None:
        raise ExpressionError(
            f"The resource '{shown_id(target)}' is not deployed, as its condition is false, and"
            " cannot be referred to without an API version."
        )
    version = api_version or (head.api_version if head is not None else None)
    if version is None:
        raise ExpressionError(
            f"The reference to '{shown_id(target)}', which the template does not define, requires"
            " an API version."
        )
    return resource_id, version


def distinct(ids: Iterable[str]) -> tuple[str, ...]:
    """Return ids without those that repeat others in whatever case."""
    return tuple({key.lower(): key for key in ids}.values())
