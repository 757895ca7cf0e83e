"""What a write leaves of a model: the old one and the new one merged, in one spelling (D9)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from lastcall.engine.limits import OS_IMAGE_NOTICE, TERMINATE_NOTICE_DEFAULT
from lastcall.engine.scale_sets import Orchestration, ScaleInRule, UpgradeMode
from lastcall.wire.durations import encode_duration
from lastcall.wire.fields import coerced_boolean, coerced_number, spelled
from lastcall.wire.spelling import INSTANCES, OPAQUE


class Priority(StrEnum):
    """What a machine costs and whether it can be evicted."""

    REGULAR = "Regular"
    LOW = "Low"
    SPOT = "Spot"


class Eviction(StrEnum):
    """What becomes of an evicted machine."""

    DEALLOCATE = "Deallocate"
    DELETE = "Delete"


# What only the service writes; clients send it back with what they have read.
READ_ONLY = {
    "": ("id", "name", "type", "etag", "systemData", INSTANCES),
    "properties": ("provisioningState", "uniqueId", "timeCreated"),
    "properties.virtualMachineProfile": ("timeCreated",),
}

HIDDEN = "protectedSettings"

# Clients write these as strings too, wherever they stand.
BOOLEANS = frozenset(
    {
        "automaticallyApprove",
        "doNotRunExtensionsOnOverprovisionedVMs",
        "enable",
        "enabled",
        "enableAcceleratedNetworking",
        "enableAutomaticOSUpgrade",
        "enableIPForwarding",
        "forceDeletion",
        "overprovision",
        "primary",
        "protectFromScaleIn",
        "protectFromScaleSetActions",
        "singlePlacementGroup",
        "zoneBalance",
    }
)
WORDS: dict[str, type[StrEnum]] = {
    "evictionPolicy": Eviction,
    "orchestrationMode": Orchestration,
    "priority": Priority,
    "rules": ScaleInRule,
}

NOTICE_DEFAULTS = {
    "terminateNotificationProfile": encode_duration(TERMINATE_NOTICE_DEFAULT),
    "osImageNotificationProfile": encode_duration(OS_IMAGE_NOTICE),
}


def merge(old: Mapping[str, Any] | None, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model after a PUT or a PATCH: absent members stay, null removes, arrays replace.

    Tags are replaced whole when given, because clients remove a tag by leaving it out.
    """
    merged = _merged(old or {}, _without_read_only(patch, ""))
    if isinstance(patch.get("tags"), Mapping):
        merged["tags"] = _clean(patch["tags"])
    if isinstance(merged.get("properties"), Mapping):
        merged["properties"] = _normal_properties(merged["properties"])
        _keep_secrets(old or {}, merged)
    if isinstance(merged.get("sku"), Mapping):
        merged["sku"] = _normal_sku(merged["sku"])
    return merged


def _keep_secrets(old: Mapping[str, Any], merged: Mapping[str, Any]) -> None:
    """Let extensions keep settings that are never shown: clients send back what they have read."""
    kept = {
        name: extension["properties"][HIDDEN]
        for name, extension in _extensions(old).items()
        if HIDDEN in extension["properties"]
    }
    for name, extension in _extensions(merged).items():
        if name in kept:
            extension["properties"].setdefault(HIDDEN, kept[name])


def _extensions(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the well-formed extensions of a model, by name."""
    here: Any = model
    for step in ("properties", "virtualMachineProfile", "extensionProfile", "extensions"):
        here = here.get(step) if isinstance(here, Mapping) else None
    return {
        entry["name"].lower(): entry
        for entry in (here if isinstance(here, list) else ())
        if isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("properties"), dict)
    }


def _merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(old)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            before = old.get(key)
            result[key] = _merged(before if isinstance(before, Mapping) else {}, value)
        else:
            result[key] = _clean(value)
    return result


def _clean(value: Any) -> Any:
    """Return a copy without nulls in its objects: null means absent."""
    if isinstance(value, Mapping):
        return {key: _clean(item) for key, item in value.items() if item is not None}
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _without_read_only(value: Mapping[str, Any], path: str) -> dict[str, Any]:
    kept = {key: item for key, item in value.items() if key not in READ_ONLY[path]}
    for key, item in kept.items():
        below = f"{path}.{key}".lstrip(".")
        if below in READ_ONLY and isinstance(item, Mapping):
            kept[key] = _without_read_only(item, below)
    return kept


def _normal_sku(sku: Mapping[str, Any]) -> dict[str, Any]:
    normal = dict(sku)
    if "capacity" in normal:
        normal["capacity"] = coerced_number(normal["capacity"])
    name = normal.get("name")
    if isinstance(name, str) and name.lower().startswith("standard_"):
        normal.setdefault("tier", "Standard")
    return normal


def _normal_properties(properties: Mapping[str, Any]) -> Any:
    normal = _normal(properties)
    policy = normal.get("upgradePolicy")
    if isinstance(policy, dict):
        # Not in WORDS: other objects have a "mode" of their own.
        policy["mode"] = spelled(policy.get("mode", UpgradeMode.MANUAL), UpgradeMode)
    profile = normal.get("virtualMachineProfile")
    events = profile.get("scheduledEventsProfile") if isinstance(profile, dict) else None
    if isinstance(profile, dict) and isinstance(events, dict):
        profile["scheduledEventsProfile"] = normal_notifications(events)
    return normal


def _normal(value: Any) -> Any:
    """Return a copy in which known booleans and words are in one spelling."""
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: item if key in OPAQUE else _normal_member(key, item) for key, item in value.items()
    }


def _normal_member(key: str, value: Any) -> Any:
    if key in BOOLEANS:
        return coerced_boolean(value)
    if key not in WORDS:
        return _normal(value)
    if isinstance(value, list):
        return [spelled(item, WORDS[key]) for item in value]
    return spelled(value, WORDS[key])


def normal_notifications(events: Mapping[str, Any]) -> dict[str, Any]:
    """Drop what is disabled (R65); give what is enabled its time (R63)."""
    normal = dict(events)
    for name, default in NOTICE_DEFAULTS.items():
        profile = normal.get(name)
        if not isinstance(profile, Mapping):
            continue
        if profile.get("enable") is False:
            del normal[name]
        elif profile.get("enable") is True:
            normal[name] = {"notBeforeTimeout": default, **profile}
    return normal
