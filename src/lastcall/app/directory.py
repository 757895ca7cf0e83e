"""Who is who, for readers: every scope as last committed, found by name, vmId, address or default.

It is a copy, never the truth: commits refresh it, and it can be rebuilt from the store at any time.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from lastcall.engine.errors import ConflictError, InstanceNotFoundError
from lastcall.engine.model import Machine, MachineId, Scope, ScopeId
from lastcall.engine.watching import is_on
from lastcall.ports import Commit

Listener = Callable[["Published"], None]


class Published:
    """One scope as readers see it. `ready` belongs to whoever renders it.

    `touched` says that somebody read the document since the mark was last written.
    """

    __slots__ = ("listeners", "ready", "scope", "touched")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.ready: dict[str, bytes] = {}
        self.listeners: list[Listener] = []
        self.touched = False


class Directory:
    """Every machine and scope, looked up in constant time.

    `generation` changes with who is where, so that what was looked up can be kept until then.
    """

    def __init__(self) -> None:
        self._scopes: dict[ScopeId, Published] = {}
        self._scope_of: dict[MachineId, Published] = {}
        self._by_name: dict[str, tuple[MachineId, ...]] = {}
        self._by_ordinal: dict[int, MachineId] = {}
        self._first: Machine | None = None
        self.generation = 0
        self.on_change: Listener = lambda _published: None

    def load(self, scopes: Iterable[Scope]) -> None:
        """Start over from what the store has."""
        for scope in scopes:
            self._refresh(scope)

    def apply(self, commit: Commit) -> None:
        """Take over what a commit changed, and tell those who wait for it."""
        for scope in commit.scopes:
            self._refresh(scope)
        for scope_id in commit.forgotten:
            published = self._scopes.pop(scope_id, None)
            if published is not None:
                self._index(published, published.scope.machines, {})
                self._tell(published)

    def scopes(self) -> Iterable[Published]:
        """Return every scope."""
        return self._scopes.values()

    def scope(self, scope_id: ScopeId) -> Published | None:
        """Return one scope."""
        return self._scopes.get(scope_id)

    def scope_of(self, machine_id: MachineId) -> Published | None:
        """Return the scope of a machine that exists."""
        return self._scope_of.get(machine_id)

    def at_ordinal(self, ordinal: int) -> MachineId | None:
        """Return the machine that has this address."""
        return self._by_ordinal.get(ordinal)

    def default(self) -> MachineId | None:
        """Return the machine that the bare address speaks for: the only or first one."""
        if self._first is None and self._by_ordinal:
            self._first = self.machine(self._by_ordinal[min(self._by_ordinal)])
        return None if self._first is None else self._first.id

    def machine(self, machine_id: MachineId) -> Machine:
        """Return a machine, or raise `InstanceNotFoundError`."""
        published = self._scope_of.get(machine_id)
        if published is None:
            raise InstanceNotFoundError
        return published.scope.machines[machine_id]

    def named(self, text: str) -> MachineId:
        """Return the machine with this name or vmId; refuse a name that two machines share."""
        wanted = text.lower()
        if MachineId(wanted) in self._scope_of:
            return MachineId(wanted)
        found = self._by_name.get(wanted, ())
        if not found:
            raise InstanceNotFoundError(f"There is no instance '{text}'.")
        if len(found) > 1:
            raise ConflictError(
                f"{len(found)} instances are called '{text}'; ask for one by its vmId:"
                f" {', '.join(found[:10])}."
            )
        return found[0]

    def _refresh(self, scope: Scope) -> None:
        published = self._scopes.get(scope.id)
        if published is None:
            published = self._scopes[scope.id] = Published(scope)
            self._index(published, {}, scope.machines)
        else:
            before = published.scope
            published.scope = scope
            if before.machines.keys() != scope.machines.keys():
                self._index(published, before.machines, scope.machines)
            if _looks_the_same(before, scope):
                return
        self.on_change(published)
        self._tell(published)

    def _tell(self, published: Published) -> None:
        for listener in tuple(published.listeners):
            listener(published)

    def _index(
        self,
        published: Published,
        before: Mapping[MachineId, Machine],
        after: Mapping[MachineId, Machine],
    ) -> None:
        self.generation += 1
        for machine_id in before.keys() - after.keys():
            self._forget(before[machine_id])
        for machine_id in after.keys() - before.keys():
            machine = after[machine_id]
            self._scope_of[machine_id] = published
            self._by_ordinal[machine.ordinal] = machine_id
            name = machine.name.lower()
            self._by_name[name] = (*self._by_name.get(name, ()), machine_id)
            if self._first is not None and machine.ordinal < self._first.ordinal:
                self._first = machine

    def _forget(self, machine: Machine) -> None:
        del self._scope_of[machine.id]
        del self._by_ordinal[machine.ordinal]
        name = machine.name.lower()
        left = tuple(other for other in self._by_name[name] if other != machine.id)
        if left:
            self._by_name[name] = left
        else:
            del self._by_name[name]
        if self._first is not None and self._first.id == machine.id:
            self._first = None


def _looks_the_same(before: Scope, after: Scope) -> bool:
    """Whether readers have nothing new to see: the incarnation rises with every change (R21)."""
    return (
        before.incarnation == after.incarnation
        and before.machines.keys() == after.machines.keys()
        and not _was_turned_on_or_off(before.watched_at, after.watched_at)
    )


def _was_turned_on_or_off(before: datetime | None, after: datetime | None) -> bool:
    if before is None or after is None:
        return before is not after
    return not is_on(before, after)  # Off and on again, and the incarnation started over.
