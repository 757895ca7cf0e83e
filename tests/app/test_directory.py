"""Who is who: look-ups by name, vmId, address and default, as commits change them."""

import pytest

from lastcall.app.directory import Directory
from lastcall.engine.errors import ConflictError, InstanceNotFoundError
from lastcall.engine.model import MachineId, Scope, ScopeId, ScopeKind
from lastcall.engine.scale_sets import Traits
from lastcall.ports import Commit

from .builders import Fleet


async def test_an_instance_is_found_by_name_vm_id_and_address_in_any_case():
    async with Fleet() as fleet:
        await fleet.write(2)
        directory = fleet.platform.directory
        machine = (await fleet.machines())["web_1"]

        assert directory.named("WEB_1") == machine.id
        assert directory.named(machine.id.upper()) == machine.id
        assert directory.at_ordinal(machine.ordinal) == machine.id
        assert directory.machine(machine.id) == machine
        published = directory.scope_of(machine.id)
        assert directory.scope(published.scope.id) is published


async def test_what_is_unknown_is_not_found():
    directory = Directory()

    with pytest.raises(InstanceNotFoundError, match="no instance 'web_0'"):
        directory.named("web_0")
    with pytest.raises(InstanceNotFoundError):
        directory.machine(MachineId("nobody"))
    assert directory.default() is None
    assert directory.at_ordinal(1) is None
    assert directory.scope_of(MachineId("nobody")) is None
    assert directory.scope(ScopeId("nowhere")) is None


async def test_a_name_that_two_groups_share_is_refused_naming_both():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.write(1, group="other")

        with pytest.raises(ConflictError, match="2 instances are called 'web_0'") as refusal:
            fleet.platform.directory.named("web_0")
        both = {fleet.platform.directory.at_ordinal(n) for n in (1, 2)}
        assert all(vm_id in str(refusal.value) for vm_id in both)


async def test_a_shared_name_is_clear_again_when_one_of_them_has_gone():
    async with Fleet() as fleet:
        await fleet.write(1)
        await fleet.write(1, group="other")
        await fleet.delete_set()

        assert fleet.platform.directory.named("web_0") == fleet.platform.directory.at_ordinal(2)


async def test_the_default_is_the_first_and_then_the_next():
    async with Fleet() as fleet:
        await fleet.write(3, Traits())
        directory = fleet.platform.directory
        assert directory.machine(directory.default()).name == "web_0"
        assert directory.machine(directory.default()).name == "web_0"

        await fleet.delete("0")
        assert directory.machine(directory.default()).name == "web_1"
        await fleet.delete_set()
        assert directory.default() is None


async def test_an_instance_with_a_lower_number_becomes_the_default():
    async with Fleet() as fleet:
        await fleet.write(2, Traits())
        scope = fleet.platform.directory.scope_of(fleet.vm_id("web_0")).scope
        first, second = scope.machines.values()
        directory = Directory()
        directory.load([lone("b", second)])
        assert directory.default() == second.id

        directory.load([lone("a", first)])
        assert directory.default() == first.id


def lone(scope_id: str, machine) -> Scope:
    return Scope(
        id=ScopeId(scope_id),
        kind=ScopeKind.VIRTUAL_MACHINE,
        machines={machine.id: machine},
        events={},
    )


async def test_those_who_wait_for_a_document_are_told_of_each_change():
    async with Fleet() as fleet:
        await fleet.write(2)
        await fleet.watch()
        published = fleet.platform.directory.scope_of(fleet.vm_id("web_0"))
        told: list[int] = []
        published.listeners.append(lambda changed: told.append(changed.scope.incarnation))

        await fleet.delete("1")

        assert told[0] == 2


async def test_forgetting_an_unknown_scope_is_harmless():
    directory = Directory()
    directory.apply(Commit(forgotten=(ScopeId("nowhere"),)))

    assert list(directory.scopes()) == []


async def test_a_change_that_moves_nobody_keeps_the_index():
    async with Fleet() as fleet:
        await fleet.write(1)
        directory = fleet.platform.directory
        scope = directory.scope_of(fleet.vm_id("web_0")).scope

        directory.apply(Commit(scopes=(scope,)))

        assert directory.named("web_0") == fleet.vm_id("web_0")
