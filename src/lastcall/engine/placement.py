"""Where new instances go and what they are called (R45-R51, D10)."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from lastcall.engine.errors import ConflictError, InvalidParameterError
from lastcall.engine.limits import (
    GROUP_MACHINES_MAX,
    SCOPE_MACHINES_MAX,
    SET_MACHINES_MAX,
    UPDATE_DOMAINS,
)
from lastcall.engine.model import Machine, MachineId, ScopeId
from lastcall.engine.scale_sets import Group, Orchestration, ScaleSet, Traits
from lastcall.engine.value import Value

BASE_36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Birth(Value, frozen=True):
    """What chance and the counters contribute to a new instance."""

    machine_id: MachineId
    ordinal: int
    spare_scope: ScopeId  # used where a further placement group is needed


class Placed(Value, frozen=True):
    """New instances by the scope they belong to, and the set that remembers having them."""

    scale_set: ScaleSet
    machines: tuple[tuple[ScopeId, Machine], ...]


def refuse_capacity(traits: Traits, capacity: int) -> None:
    """Refuse a capacity that the set's placement groups cannot hold (R47)."""
    if not 0 <= capacity <= SET_MACHINES_MAX:
        raise InvalidParameterError(
            f"The capacity {capacity} is not between 0 and {SET_MACHINES_MAX}.",
            target="sku.capacity",
        )
    most = GROUP_MACHINES_MAX * max(1, len(traits.zones))
    if traits.single_placement_group and not traits.own_events_only and capacity > most:
        raise InvalidParameterError(
            f"The capacity {capacity} is more than {most}, the most that a set with"
            " singlePlacementGroup=true can have.",
            target="sku.capacity",
        )


def place(
    scale_set: ScaleSet,
    present: Sequence[tuple[ScopeId, Machine]],
    births: Sequence[Birth],
    now: datetime,
) -> Placed:
    """Spread new instances over zones, placement groups and fault domains, the emptiest first.

    Instances on their way out no longer weigh, but they still take up room in their groups.
    """
    groups = list(scale_set.groups)
    staying = [machine for _, machine in present if not machine.is_leaving]
    sizes = Counter(scope_id for scope_id, _ in present)
    zones = Counter(machine.zone for machine in staying)
    domains = Counter((machine.zone, machine.fault_domain) for machine in staying)
    traits = scale_set.traits
    placed: list[tuple[ScopeId, Machine]] = []
    instance = scale_set.next_instance
    for birth in births:
        zone = min(traits.zones, key=lambda zone: zones[zone]) if traits.zones else ""
        domain = min(range(traits.fault_domains), key=lambda domain: domains[zone, domain])
        group = _group_with_room(traits, groups, sizes, zone)
        if group is None:
            group = Group(birth.spare_scope, zone)
            groups.append(group)
        sizes[group.scope_id] += 1
        zones[zone] += 1
        domains[zone, domain] += 1
        machine = replace(
            _named(scale_set, instance, birth, now),
            zone=zone,
            fault_domain=domain,
            update_domain=instance % UPDATE_DOMAINS,
        )
        placed.append((group.scope_id, machine))
        instance += 1
    after = replace(scale_set, groups=tuple(groups), next_instance=instance)
    return Placed(after, tuple(placed))


def _group_with_room(
    traits: Traits, groups: list[Group], sizes: Counter[ScopeId], zone: str
) -> Group | None:
    """Return a group with room, None where a further one is to be made, or refuse."""
    in_zone = [group for group in groups if group.zone == zone]
    is_single = traits.single_placement_group and not traits.own_events_only
    most = 1 if traits.own_events_only else GROUP_MACHINES_MAX
    if is_single:
        most = SCOPE_MACHINES_MAX
    found = next((group for group in in_zone if sizes[group.scope_id] < most), None)
    if found is None and is_single and in_zone:
        raise ConflictError(
            f"The placement group holds {most} instances, those on their way out included:"
            " wait until some of them are gone."
        )
    return found


def _named(scale_set: ScaleSet, instance: int, birth: Birth, now: datetime) -> Machine:
    traits = scale_set.traits
    prefix = traits.name_prefix or scale_set.name
    unique = birth.machine_id.replace("-", "")
    if traits.orchestration is Orchestration.FLEXIBLE:
        name = f"{scale_set.name}_{unique[:8]}"
        instance_id, computer_name = name, f"{prefix}{unique[8:14].upper()}"
    else:
        instance_id = str(instance)
        name = f"{scale_set.name}_{instance_id}"
        computer_name = prefix + base_36(instance)
    return Machine(
        id=birth.machine_id,
        name=name,
        ordinal=birth.ordinal,
        created_at=now,
        set_id=scale_set.id,
        instance_id=instance_id,
        computer_name=computer_name,
        model=scale_set.model,
        booted=scale_set.number,
    )


def base_36(instance: int) -> str:
    """Return an instance id as computer names carry it: base 36, six places (R49)."""
    digits = ""
    while instance or not digits:
        instance, digit = divmod(instance, 36)
        digits = BASE_36[digit] + digits
    return digits.rjust(6, "0")
