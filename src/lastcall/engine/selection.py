"""Which instances a scale-in removes (R106, R107)."""

from collections import Counter
from collections.abc import Callable, Sequence

from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.model import Machine
from lastcall.engine.scale_sets import ScaleInRule

Preference = Callable[[Machine], tuple[object, ...]]


def select_for_removal(
    machines: Sequence[Machine], count: int, rule: ScaleInRule
) -> tuple[Machine, ...]:
    """Choose `count` of the machines, most dispensable first, or refuse.

    Zones are kept in balance first; the default rule then balances fault domains and takes the
    highest instance id, the others take the newest or the oldest.
    """
    candidates = [machine for machine in machines if is_removable(machine)]
    if len(candidates) < count:
        raise OperationNotAllowedError(
            f"Cannot scale in by {count}: only {len(candidates)} of the instances can go, the"
            " others are protected from scale-in."
        )
    remaining = [machine for machine in machines if not machine.is_leaving]
    zones = Counter(machine.zone for machine in remaining)
    domains = Counter((machine.zone, machine.fault_domain) for machine in remaining)
    chosen: list[Machine] = []
    for _ in range(count):
        machine = max(candidates, key=_preference(rule, zones, domains))
        candidates.remove(machine)
        zones[machine.zone] -= 1
        domains[machine.zone, machine.fault_domain] -= 1
        chosen.append(machine)
    return tuple(chosen)


def is_removable(machine: Machine) -> bool:
    """Whether a scale-in may take the machine."""
    protection = machine.protection
    return not (machine.is_leaving or protection.from_scale_in or protection.from_scale_set_actions)


def _preference(
    rule: ScaleInRule, zones: Counter[str], domains: Counter[tuple[str, int]]
) -> Preference:
    if rule is ScaleInRule.OLDEST:
        return lambda m: (zones[m.zone], -m.created_at.timestamp(), -m.ordinal)
    if rule is ScaleInRule.NEWEST:
        return lambda m: (zones[m.zone], m.created_at.timestamp(), m.ordinal)
    return lambda m: (zones[m.zone], domains[m.zone, m.fault_domain], m.ordinal)
