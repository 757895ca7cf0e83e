"""Autoscale settings: written by users, looked at by the platform whenever they are due (R114)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lastcall.app import activities, metrics, resources, revisions, scale_sets, set_keys
from lastcall.app.conditions import UNCONDITIONAL, Conditions, refuse_stale
from lastcall.app.learning import Moment
from lastcall.app.revisions import Change
from lastcall.app.set_keys import key_at
from lastcall.engine.autoscale import Metrics, Setting, Stand, Verdict, evaluate
from lastcall.engine.effects import Note, Step
from lastcall.engine.errors import ConflictError, DomainError, ResourceNotFoundError
from lastcall.engine.limits import AUTOSCALE_PERIOD
from lastcall.engine.resources import Asked, Resource, ResourceId
from lastcall.engine.scale_sets import ScaleSet
from lastcall.ports import Reader, Transaction
from lastcall.wire.autoscale import SETTING_TYPE, parse_setting
from lastcall.wire.fields import object_at
from lastcall.wire.names import SET_TYPE, scale_set_path
from lastcall.wire.paths import Path, parse_path

CALLER: Final = "autoscale"
KIND: Final = SETTING_TYPE.lower()
# What the activity log calls it when the platform scales by itself.
SCALE_OUT: Final = f"{SETTING_TYPE}/Scaleup/action"
SCALE_IN: Final = f"{SETTING_TYPE}/Scaledown/action"
EVALUATE: Final = f"{SETTING_TYPE}/evaluate/action"


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is remembered from one look at a setting to the next."""

    scaled_at: datetime | None = None
    trouble: str = ""


def write(
    tx: Transaction,
    path: Path,
    document: Mapping[str, Any],
    moment: Moment,
    conditions: Conditions = UNCONDITIONAL,
) -> Resource:
    """Create a setting or replace its document; one that is enabled is looked at at once."""
    resources.demand_open_group(tx, path)
    before = resources.find(tx, path)
    refuse_stale(resources.number_of(before), conditions)
    resources.refuse_move(path, before, document["location"])
    setting = parse_setting(document["properties"])
    _refuse_second(tx, path, setting)
    due_at = moment.now if setting.enabled else None
    return resources.write(tx, path, document, moment, due_at=due_at)


def attend(tx: Transaction, resource: Resource, moment: Moment) -> datetime | None:
    """Look at a setting that is due, scale its target if that is called for, say when to again.

    What cannot be done is logged when it begins and tried again: the target may come back.
    """
    memory = msgspec.convert(resource.state or {}, Memory)
    again: datetime | None = None
    try:
        setting = parse_setting(object_at(resource.content, "properties"))
        if setting.enabled:
            again = moment.now + _period(setting)
            after = tx.attempt(lambda part: _apply(part, resource, setting, memory, moment))
        else:
            after = memory
    except DomainError as trouble:
        after = replace(memory, trouble=str(trouble))
        if after != memory:
            asked = _asked(resource, EVALUATE)
            correlation = moment.ids.operation_id()
            tx.log(activities.refused(asked, trouble, correlation, moment.now))
    if after != memory:
        tx.put_resource(replace(resource, state=msgspec.to_builtins(after)))
    return again


def _apply(
    tx: Transaction, resource: Resource, setting: Setting, memory: Memory, moment: Moment
) -> Memory:
    """Bring the target to where the setting wants it, and return what is to be remembered."""
    scale_set = _target(tx, setting, resource)
    capacity = scale_sets.capacity_of(scale_sets.members(tx, scale_set))
    stand = Stand(capacity=capacity, now=moment.now, scaled_at=memory.scaled_at)
    verdict = evaluate(setting, _metrics(tx, setting), stand)
    if verdict.capacity == capacity:
        return replace(memory, trouble="")
    operation = SCALE_OUT if verdict.capacity > capacity else SCALE_IN
    asked = _asked(resource, operation)
    _resize(tx, scale_set, verdict.capacity, replace(moment, asked=asked))
    _note(tx, scale_set, capacity, verdict, moment)
    return Memory(scaled_at=moment.now)


def _target(tx: Transaction, setting: Setting, resource: Resource) -> ScaleSet:
    written = resource.content["properties"].get("targetResourceUri", "")
    path = None if setting.target is None else parse_path(setting.target)
    if path is None or path.base or path.kind != SET_TYPE.lower():
        raise ResourceNotFoundError(f"'{written}' is not a scale set, so it is not scaled.")
    found = set_keys.find(tx, key_at(path).id)
    if found is None:
        raise ResourceNotFoundError(
            f"The scale set '{written}' does not exist, so it is not scaled."
        )
    return found


def _metrics(reader: Reader, setting: Setting) -> Metrics:
    wanted = {
        (rule.measure.resource, rule.measure.metric.lower())
        for profile in setting.profiles
        for rule in profile.rules
    }
    return {key: metrics.points(reader, *key) for key in wanted}


def _resize(tx: Transaction, scale_set: ScaleSet, capacity: int, moment: Moment) -> None:
    """Write the set with another capacity, as a user would: who has to go gets its notice."""
    path = parse_path(scale_set_path(scale_set))
    assert path is not None, "it is the path of a set"
    patch = {"sku": {"capacity": capacity}}
    revisions.apply(tx, Change(key=key_at(path), patch=patch, may_create=False), moment)


def _note(
    tx: Transaction, scale_set: ScaleSet, before: int, verdict: Verdict, moment: Moment
) -> None:
    """Tell in the history who changed the capacity, and why; a set without machines has none."""
    for group in tx.scale_set(scale_set.id).groups[:1]:
        scope = tx.scope(group.scope_id)
        text = f"Scaled {scale_set.name} from {before} to {verdict.capacity}: {verdict.reason}"
        note = Note(what="scaled", text=text, by=CALLER)
        tx.record(Step(before=scope, scope=scope, notes=(note,)), moment.now)


def _asked(resource: Resource, operation: str) -> Asked:
    return Asked(operation=operation, path=resource.path, group=resource.group, caller=CALLER)


def _period(setting: Setting) -> timedelta:
    """Return how long to wait between looks: as long as the shortest span that is measured."""
    grains = [rule.measure.grain for profile in setting.profiles for rule in profile.rules]
    return max(AUTOSCALE_PERIOD, min(grains, default=AUTOSCALE_PERIOD))


def _refuse_second(tx: Transaction, path: Path, setting: Setting) -> None:
    """Refuse a second setting for one target: they would undo each other's work."""
    for other in tx.resources(KIND):
        if other.id != path.id and _target_of(other) == setting.target is not None:
            raise ConflictError(
                f"The resource '{setting.target}' has the autoscale setting '{other.name}' already."
            )


def _target_of(resource: Resource) -> ResourceId | None:
    target = object_at(resource.content, "properties").get("targetResourceUri")
    path = parse_path(target) if isinstance(target, str) else None
    return None if path is None else path.id
