"""Where new instances go and what they are called (R45-R51, D10)."""

from collections import Counter

import pytest

from lastcall.engine.errors import ConflictError, InvalidParameterError
from lastcall.engine.model import MachineId, Model, Provisioning, ScopeId
from lastcall.engine.placement import Birth, base_36, place, refuse_capacity
from lastcall.engine.scale_sets import Group, Orchestration, Traits

from .builders import MINUTE, NOON, a_machine, a_scale_set


def births(count: int, first: int = 0) -> list[Birth]:
    return [
        Birth(MachineId(f"{n:08x}-abcd-4ef0-8000-000000000000"), n, ScopeId(f"scope-{n}"))
        for n in range(first, first + count)
    ]


def placed(scale_set, count, present=(), first=0):
    return place(scale_set, present, births(count, first), NOON)


@pytest.mark.parametrize(
    ("instance", "text"),
    [(0, "000000"), (13, "00000D"), (35, "00000Z"), (36, "000010"), (36**6 - 1, "ZZZZZZ")],
)
def test_computer_names_count_in_base_36(instance, text):
    assert base_36(instance) == text


def test_uniform_instances_are_named_by_number():
    after = placed(a_scale_set(next_instance=12), 2)

    machines = [machine for _, machine in after.machines]
    assert [machine.name for machine in machines] == ["web_12", "web_13"]
    assert [machine.instance_id for machine in machines] == ["12", "13"]
    assert [machine.computer_name for machine in machines] == ["web00000C", "web00000D"]
    assert after.scale_set.next_instance == 14


def test_flexible_instances_are_named_by_chance():
    traits = Traits(orchestration=Orchestration.FLEXIBLE)

    ((_, machine),) = placed(a_scale_set(traits), 1, first=0xBEEF).machines

    assert machine.name == "web_0000beef"
    assert machine.instance_id == machine.name
    assert machine.computer_name == "webABCD4E"


def test_a_prefix_changes_computer_names_only():
    ((_, machine),) = placed(a_scale_set(Traits(name_prefix="srv")), 1).machines

    assert (machine.name, machine.computer_name) == ("web_0", "srv000000")


def test_a_newcomer_has_the_latest_model_and_remembers_the_write_it_booted_with():
    scale_set = a_scale_set(Traits(notice=7 * MINUTE), number=5, model_version=4)

    ((_, machine),) = placed(scale_set, 1).machines

    assert machine.model == Model(version=4, notice=7 * MINUTE)
    assert (machine.booted, machine.created_at, machine.set_id) == (5, NOON, "web")


def test_one_group_holds_a_small_set():
    after = placed(a_scale_set(), 100)

    assert {scope for scope, _ in after.machines} == {"scope-0"}
    assert after.scale_set.groups == (Group(ScopeId("scope-0")),)


def test_a_full_group_is_followed_by_another():
    after = placed(a_scale_set(Traits(single_placement_group=False)), 205)

    sizes = Counter(scope for scope, _ in after.machines)
    assert sizes == {"scope-0": 100, "scope-100": 100, "scope-200": 5}


def test_gaps_in_known_groups_are_filled_first():
    scale_set = a_scale_set(groups=(Group(ScopeId("old")),), next_instance=3)
    present = [(ScopeId("old"), a_machine("web_0"))]

    after = placed(scale_set, 2, present, first=5)

    assert {scope for scope, _ in after.machines} == {"old"}
    assert after.scale_set.groups == scale_set.groups


def test_each_zone_has_a_group_of_its_own():
    after = placed(a_scale_set(Traits(zones=("1", "2", "3"))), 7)

    assert Counter(machine.zone for _, machine in after.machines) == {"1": 3, "2": 2, "3": 2}
    zone_of = {group.scope_id: group.zone for group in after.scale_set.groups}
    assert sorted(zone_of.values()) == ["1", "2", "3"]
    assert all(zone_of[scope] == machine.zone for scope, machine in after.machines)


def test_the_emptiest_zone_comes_first():
    scale_set = a_scale_set(Traits(zones=("1", "2")), groups=(Group(ScopeId("one"), "1"),))
    present = [(ScopeId("one"), a_machine(f"web_{n}", zone="1")) for n in range(2)]

    after = placed(scale_set, 2, present)

    assert [machine.zone for _, machine in after.machines] == ["2", "2"]


def test_fault_domains_fill_evenly():
    after = placed(a_scale_set(Traits(fault_domains=3)), 7)

    assert Counter(m.fault_domain for _, m in after.machines) == {0: 3, 1: 2, 2: 2}


def test_fault_domains_fill_evenly_in_every_zone():
    after = placed(a_scale_set(Traits(zones=("1", "2"), fault_domains=2)), 8)

    spread = Counter((machine.zone, machine.fault_domain) for _, machine in after.machines)
    assert set(spread.values()) == {2}


def test_update_domains_follow_the_number():
    after = placed(a_scale_set(), 7)

    assert [machine.update_domain for _, machine in after.machines] == [0, 1, 2, 3, 4, 0, 1]


def test_instances_that_see_only_their_own_events_have_a_scope_each():
    traits = Traits(own_events_only=True, fault_domains=1)

    after = placed(a_scale_set(traits), 3)

    assert [scope for scope, _ in after.machines] == ["scope-0", "scope-1", "scope-2"]
    assert {machine.fault_domain for _, machine in after.machines} == {0}


@pytest.mark.parametrize(
    ("traits", "capacity"),
    [
        (Traits(), 0),
        (Traits(), 100),
        (Traits(zones=("1", "2", "3")), 300),
        (Traits(single_placement_group=False), 1000),
        (Traits(own_events_only=True), 101),
    ],
)
def test_a_capacity_that_fits_is_accepted(traits, capacity):
    refuse_capacity(traits, capacity)


@pytest.mark.parametrize(
    ("traits", "capacity"),
    [
        (Traits(), -1),
        (Traits(), 101),
        (Traits(zones=("1", "2")), 201),
        (Traits(single_placement_group=False), 1001),
    ],
)
def test_a_capacity_that_does_not_fit_is_refused(traits, capacity):
    with pytest.raises(InvalidParameterError, match=f"The capacity {capacity}") as refusal:
        refuse_capacity(traits, capacity)

    assert refusal.value.target == "sku.capacity"


def leaving(count, scope="scope-0"):
    gone = Provisioning.DELETING
    return [
        (ScopeId(scope), a_machine(f"old_{n}", provisioning=gone, ordinal=n)) for n in range(count)
    ]


def test_instances_on_their_way_out_make_room_in_a_single_group():
    scale_set = a_scale_set(groups=(Group(ScopeId("scope-0")),))

    after = placed(scale_set, 100, present=leaving(100), first=100)

    assert {scope_id for scope_id, _ in after.machines} == {"scope-0"}


def test_but_only_so_much():
    scale_set = a_scale_set(groups=(Group(ScopeId("scope-0")),))

    with pytest.raises(ConflictError, match="wait until some of them are gone"):
        placed(scale_set, 1, present=leaving(200), first=200)


def test_where_there_may_be_several_groups_they_stay_small():
    several = Traits(single_placement_group=False)
    scale_set = a_scale_set(traits=several, groups=(Group(ScopeId("scope-0")),))

    after = placed(scale_set, 1, present=leaving(100), first=100)

    assert [scope_id for scope_id, _ in after.machines] == ["scope-100"]
