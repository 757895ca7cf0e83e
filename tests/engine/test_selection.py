"""Which instances a scale-in takes (R106, R107)."""

import pytest

from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.model import Protection, Provisioning
from lastcall.engine.scale_sets import ScaleInRule
from lastcall.engine.selection import is_removable, select_for_removal

from .builders import MINUTE, NOON, a_machine


def names(machines, count, rule=ScaleInRule.DEFAULT):
    return [machine.name for machine in select_for_removal(machines, count, rule)]


def test_by_default_the_highest_instance_id_goes_first():
    machines = [a_machine(f"vm_{n}", fault_domain=n % 5) for n in (0, 1, 3, 4, 7)]

    assert names(machines, 1) == ["vm_7"]
    assert names(machines, 2) == ["vm_7", "vm_4"]


@pytest.mark.parametrize("rule", list(ScaleInRule))
def test_zones_are_balanced_first_under_every_rule(rule):
    machines = [
        a_machine("vm_0", zone="1", created_at=NOON),
        a_machine("vm_1", zone="2", created_at=NOON + MINUTE),
        a_machine("vm_2", zone="2", created_at=NOON + 2 * MINUTE),
        a_machine("vm_3", zone="3", created_at=NOON + 3 * MINUTE),
    ]

    (chosen,) = select_for_removal(machines, 1, rule)

    assert chosen.zone == "2"


def test_the_default_balances_fault_domains_within_a_zone():
    machines = [
        a_machine("vm_0", fault_domain=0),
        a_machine("vm_1", fault_domain=0),
        a_machine("vm_2", fault_domain=1),
    ]

    assert names(machines, 1) == ["vm_1"]
    assert names(machines, 2) == ["vm_1", "vm_2"]


def test_the_newest_goes_first_when_asked():
    machines = [a_machine(f"vm_{n}", created_at=NOON - n * MINUTE) for n in range(3)]

    assert names(machines, 2, ScaleInRule.NEWEST) == ["vm_0", "vm_1"]


def test_the_oldest_goes_first_when_asked():
    machines = [a_machine(f"vm_{n}", created_at=NOON - n * MINUTE) for n in range(3)]

    assert names(machines, 2, ScaleInRule.OLDEST) == ["vm_2", "vm_1"]


def test_of_the_same_age_the_number_decides():
    machines = [a_machine(f"vm_{n}", created_at=NOON) for n in range(3)]

    assert names(machines, 1, ScaleInRule.NEWEST) == ["vm_2"]
    assert names(machines, 1, ScaleInRule.OLDEST) == ["vm_0"]


@pytest.mark.parametrize(
    "protection", [Protection(from_scale_in=True), Protection(from_scale_set_actions=True)]
)
def test_protected_instances_are_passed_over(protection):
    machines = [a_machine("vm_0"), a_machine("vm_1", protection=protection)]

    assert not is_removable(machines[1])
    assert names(machines, 1) == ["vm_0"]


def test_a_protected_instance_counts_for_the_balance_of_zones():
    kept = Protection(from_scale_in=True)
    machines = [
        a_machine("vm_0", zone="1", protection=kept),
        a_machine("vm_1", zone="1"),
        a_machine("vm_2", zone="2"),
    ]

    assert names(machines, 1) == ["vm_1"]


def test_one_that_is_leaving_already_is_neither_chosen_nor_counted():
    machines = [
        a_machine("vm_0", zone="1"),
        a_machine("vm_1", zone="2"),
        a_machine("vm_2", zone="1", provisioning=Provisioning.DELETING),
    ]

    assert names(machines, 1) == ["vm_1"]


def test_more_than_there_is_to_take_is_refused():
    machines = [a_machine("vm_0"), a_machine("vm_1", protection=Protection(from_scale_in=True))]

    with pytest.raises(
        OperationNotAllowedError, match="Cannot scale in by 2: only 1 of the instances can go"
    ):
        select_for_removal(machines, 2, ScaleInRule.DEFAULT)


def test_none_is_taken_when_none_is_asked_for():
    assert select_for_removal([], 0, ScaleInRule.DEFAULT) == ()
