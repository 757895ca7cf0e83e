"""What can be left over when things cross each other: reports, timers and parts of operations."""

from msgspec.structs import replace

from lastcall.app.learning import settle
from lastcall.app.reconcile import report
from lastcall.drivers.simulated import Script
from lastcall.engine.model import Action, OperationId
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import Traits
from lastcall.ports import Done, Effect

from .builders import MINUTE, NOON, Fleet


async def test_an_operation_that_belongs_to_no_set_can_end():
    async with Fleet() as fleet:

        def work(tx, moment) -> None:
            operation = Operation(
                id=OperationId("o"), name="x", location="westus", started_at=NOON, remaining=1
            )
            tx.put_operation(operation)
            settle(tx, operation.id, 1, None, moment)

        await fleet.platform.transact(work)

        found = await fleet.platform.read(lambda reader: reader.operation(OperationId("o")))
        assert found.is_over


async def test_a_set_that_is_due_for_nothing_is_looked_at_once():
    async with Fleet() as fleet:
        await fleet.write(1)
        scale_set = await fleet.scale_set()
        await fleet.platform.transact(
            lambda tx, moment: tx.put_scale_set(replace(scale_set, due_at=moment.now))
        )
        await fleet.settle()

        assert (await fleet.scale_set()).due_at is None


async def test_a_report_about_a_set_that_has_gone_is_ignored():
    async with Fleet(Script(delays={Action.UPDATE: MINUTE})) as fleet:
        await fleet.write(1, Traits())
        await fleet.act(Action.UPDATE, "0")
        scope = fleet.platform.directory.scope_of(fleet.vm_id("web_0")).scope
        (event,) = scope.events.values()
        (machine,) = scope.machines.values()
        perform = replace((await claimed(fleet))[0].perform, event_id=event.id, machine=machine.id)
        await fleet.delete_set()

        late = [((Effect(perform=perform, scope_id=scope.id), machine), Done())]
        await fleet.platform.transact(lambda tx, moment: report(tx, late, moment))

        assert list(fleet.platform.directory.scopes()) == []


async def claimed(fleet: Fleet) -> list[Effect]:
    later = NOON + 2 * MINUTE
    return await fleet.platform.transact(lambda tx, _: tx.claim_effects(later, later, 9))


async def test_a_repeated_report_changes_nothing():
    async with Fleet(Script(delays={Action.RESTART: MINUTE})) as fleet:
        await fleet.write(1, Traits())
        operation = await fleet.act(Action.RESTART, "0")
        (effect,) = await claimed(fleet)
        machine = (await fleet.machines())["web_0"]
        done = [((effect, machine), Done())]

        await fleet.platform.transact(lambda tx, moment: report(tx, done, moment))
        await fleet.platform.transact(lambda tx, moment: report(tx, done, moment))

        assert await fleet.status(operation) == "Succeeded"
