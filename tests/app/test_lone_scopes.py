"""Machines that no scale set owns: how they go, and their scope with them."""

from datetime import timedelta

import pytest

from lastcall.app import events
from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.model import Action, Model, ScopeId, ScopeKind

from .builders import HELD, NOON, NOTICE, SECOND, Fleet


async def a_lone_scope(fleet: Fleet, *names: str, notice: timedelta | None = NOTICE) -> ScopeId:
    model = Model(notice=notice)
    scope = await fleet.platform.transact(
        lambda tx, moment: events.create_scope(tx, ScopeKind.AVAILABILITY_SET, names, model, moment)
    )
    await fleet.settle()
    return scope.id


async def delete_scope(fleet: Fleet, scope_id: ScopeId, *, force: bool = False) -> None:
    await fleet.platform.transact(
        lambda tx, moment: events.delete_scope(tx, scope_id, moment, force=force)
    )
    await fleet.settle()


async def test_a_scope_that_no_set_owns_is_deleted_after_its_notices_and_then_forgotten():
    async with Fleet() as fleet:
        scope_id = await a_lone_scope(fleet, "db_a", "db_b")
        await fleet.watch("db_a")

        await delete_scope(fleet, scope_id)
        await delete_scope(fleet, scope_id)  # It joins the first.
        assert [event.type for event in fleet.document("db_a").events] == ["Terminate"] * 2
        await fleet.advance(NOTICE - SECOND)
        assert fleet.driver.times(Action.DELETE) == []
        await fleet.advance(SECOND)

        assert fleet.driver.times(Action.DELETE) == [NOON + NOTICE] * 2
        assert list(fleet.platform.directory.scopes()) == []
        assert await fleet.platform.read(lambda reader: list(reader.scopes())) == []
        assert (await fleet.history())[-1] == "db_b is gone."


@pytest.mark.parametrize(("is_watched", "force"), [(False, False), (True, True)])
async def test_a_scope_without_readers_or_by_force_goes_at_once(is_watched, force):
    async with Fleet() as fleet:
        scope_id = await a_lone_scope(fleet, "db_a")
        if is_watched:
            await fleet.watch("db_a")

        await delete_scope(fleet, scope_id, force=force)

        assert await fleet.platform.read(lambda reader: list(reader.scopes())) == []


async def test_the_scope_of_a_set_is_not_deleted_by_itself():
    async with Fleet() as fleet:
        await fleet.write(1, HELD)
        (published,) = fleet.platform.directory.scopes()

        with pytest.raises(OperationNotAllowedError):
            await delete_scope(fleet, published.scope.id)


async def test_the_scope_of_a_set_without_instances_stays():
    async with Fleet() as fleet:
        await fleet.write(1, HELD)
        await fleet.delete(force=True)

        assert len(list(fleet.platform.directory.scopes())) == 1
