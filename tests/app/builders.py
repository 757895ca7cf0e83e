"""A platform in memory whose clock stands still, and the verbs its users would say."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from lastcall.app import events, scale_sets
from lastcall.app.conditions import Conditions
from lastcall.app.platform import Platform, Realism, World
from lastcall.app.scale_sets import Order, Revision, SetKey, Written
from lastcall.clock import VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.document import Document, document
from lastcall.engine.facts import Announced
from lastcall.engine.model import Action, EventId, EventType, Machine, MachineId, Scope, SetId
from lastcall.engine.operations import Operation
from lastcall.engine.policy import Policy
from lastcall.engine.scale_sets import ScaleSet, Traits
from lastcall.ids import RandomIds
from lastcall.ports import HistoryFilter, Recorded, Report
from lastcall.ports import Order as DriverOrder
from lastcall.store.memory import MemoryStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
NOTICE = 5 * MINUTE
HELD = Traits(notice=NOTICE)


class RecordingDriver(SimulatedDriver):
    """A simulated driver that remembers what it was asked, and when."""

    def __init__(self, script: Script | None = None) -> None:
        super().__init__(script)
        self.asked: list[tuple[datetime, str, Action]] = []

    async def perform(self, order: DriverOrder, now: datetime) -> Report:
        self.asked.append((now, order.machine.name, order.perform.action))
        return await super().perform(order, now)

    def times(self, action: Action, name: str | None = None) -> list[datetime]:
        return [at for at, who, what in self.asked if what is action and name in (None, who)]


class Fleet:
    """One platform; its virtual clock starts at noon and moves only when told."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        policy: Policy | None = None,
        realism: Realism | None = None,
        store: MemoryStore | None = None,
    ) -> None:
        self.clock = VirtualClock(NOON)
        self.driver = RecordingDriver(script)
        self.store = store or MemoryStore()
        world = World(store=self.store, driver=self.driver, clock=self.clock, ids=RandomIds(1))
        self.platform = Platform(world, policy or Policy(), realism)

    async def __aenter__(self) -> "Fleet":
        await self.platform.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.platform.stop()

    # What users do

    async def write(
        self,
        capacity: int | None,
        traits: Traits = HELD,
        *,
        name: str = "web",
        changes: bool = False,
        etag: str | None = None,
        group: str = "rg",
    ) -> Written:
        """Create or change a set and let everything that is due happen."""
        key = SetKey(
            id=SetId(f"s/{group}/{name}"), subscription="s", resource_group=group, name=name
        )
        revision = Revision(
            document=b"{}",
            traits=traits,
            location="westus",
            capacity=capacity,
            changes_instances=changes,
        )
        written = await self.platform.transact(
            lambda tx, moment: scale_sets.write(
                tx, key, lambda _old: revision, moment, Conditions(if_match=etag)
            )
        )
        await self.settle()
        return written

    async def act(
        self, action: Action, *instances: str, force: bool = False, name: str = "web"
    ) -> Operation:
        order = Order(action=action, instance_ids=instances or None, force=force)
        operation = await self.platform.transact(
            lambda tx, moment: scale_sets.act(tx, self.set_id(name), order, moment)
        )
        await self.settle()
        return operation

    async def delete(self, *instances: str, force: bool = False, name: str = "web") -> Operation:
        return await self.act(Action.DELETE, *instances, force=force, name=name)

    async def delete_set(self, name: str = "web", *, force: bool = False) -> Operation:
        operation = await self.platform.transact(
            lambda tx, moment: scale_sets.delete(tx, self.set_id(name), moment, force=force)
        )
        await self.settle()
        return operation

    # What the platform does

    async def announce(self, kind: EventType, *names: str, **changes) -> EventId:
        event_id = EventId(f"P{len(self.driver.asked)}-{kind}")
        machines = tuple(self.platform.directory.named(name) for name in names)
        published = self.platform.directory.scope_of(machines[0])
        await self.platform.announce(
            published.scope.id,
            Announced(event_id=event_id, type=kind, machines=machines, **changes),
        )
        return event_id

    # What guests do

    async def watch(self, machine: str = "web_0") -> Scope:
        published = self.platform.directory.scope_of(self.platform.directory.named(machine))
        await self.platform.watch(published)
        return published.scope

    async def watch_all(self) -> None:
        for published in self.platform.directory.scopes():
            await self.platform.watch(published)

    async def approve(self, *event_ids: EventId, by: str = "web_0") -> None:
        scope = self.platform.directory.scope_of(self.platform.directory.named(by)).scope
        await self.platform.approve(events.Approval(scope.id, event_ids, by))
        await self.settle()

    # What happens meanwhile, and what there is to see

    async def settle(self) -> None:
        await self.platform.advance(timedelta(0))

    async def advance(self, by: timedelta) -> None:
        await self.platform.advance(by)

    def set_id(self, name: str = "web") -> SetId:
        return SetId(f"s/rg/{name}")

    async def operation(self, operation: Operation) -> Operation:
        return await self.platform.read(lambda reader: reader.operation(operation.id))

    async def status(self, operation: Operation) -> str:
        return (await self.operation(operation)).status.value

    async def scale_set(self, name: str = "web") -> ScaleSet:
        return await self.platform.read(lambda reader: reader.scale_set(self.set_id(name)))

    async def machines(self, name: str = "web") -> dict[str, Machine]:
        def work(reader):
            return scale_sets.members(reader, reader.scale_set(self.set_id(name)))

        return {machine.name: machine for _, machine in await self.platform.read(work)}

    async def capacity(self, name: str = "web") -> int:
        def work(reader):
            found = scale_sets.members(reader, reader.scale_set(self.set_id(name)))
            return scale_sets.capacity_of(found)

        return await self.platform.read(work)

    def document(self, machine: str = "web_0") -> Document:
        published = self.platform.directory.scope_of(self.platform.directory.named(machine))
        return document(published.scope)

    def event(self, name: str) -> EventId:
        """Return the id of the one event that names a machine."""
        (found,) = [e.id for e in self.document(name).events if name in e.resources]
        return found

    async def history(self, wanted: Callable[[Recorded], bool] = lambda _line: True) -> list[str]:
        lines = await self.platform.read(lambda reader: reader.history(HistoryFilter(limit=1000)))
        return [line.text for line in lines if wanted(line)]

    def vm_id(self, name: str) -> MachineId:
        return self.platform.directory.named(name)
