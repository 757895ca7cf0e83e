"""What of a model matters to the engine, checked; everything else is kept as given."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NoReturn

from lastcall.engine.errors import (
    InvalidParameterError,
    LocationRequiredError,
    PropertyChangeNotAllowedError,
)
from lastcall.engine.limits import (
    FAULT_DOMAINS_DEFAULT,
    OS_IMAGE_NOTICE,
    TERMINATE_NOTICE_DEFAULT,
    TERMINATE_NOTICE_MAX,
    TERMINATE_NOTICE_MIN,
)
from lastcall.engine.model import Action, EventType
from lastcall.engine.scale_sets import Orchestration, ScaleInRule, Traits, UpgradeMode
from lastcall.wire.fields import (
    boolean_at,
    duration_at,
    lookup,
    number_at,
    object_at,
    refuse,
    text_at,
    texts_at,
    word,
    word_at,
)
from lastcall.wire.merging import Eviction, Priority
from lastcall.wire.names import place

Document = Mapping[str, Any]

MODE = "properties.orchestrationMode"
SINGLE_GROUP = "properties.singlePlacementGroup"
FAULT_DOMAINS = "properties.platformFaultDomainCount"
UPGRADE = "properties.upgradePolicy"
ROLLING = f"{UPGRADE}.rollingUpgradePolicy"
SCALE_IN = "properties.scaleInPolicy"
REPAIRS = "properties.automaticRepairsPolicy"
PROFILE = "properties.virtualMachineProfile"
PRIORITY = f"{PROFILE}.priority"
PREFIX = f"{PROFILE}.osProfile.computerNamePrefix"
TERMINATE = "scheduledEventsProfile.terminateNotificationProfile"
OS_IMAGE = "scheduledEventsProfile.osImageNotificationProfile"
APPROVALS = {
    EventType.REBOOT: "properties.scheduledEventsPolicy.userInitiatedReboot",
    EventType.REDEPLOY: "properties.scheduledEventsPolicy.userInitiatedRedeploy",
}

# Six places of the name are the instance's own (R49); Linux allows 64 in all, Windows 15.
PREFIX_CHARACTERS_MAX = 58
PREFIX_CHARACTERS_MAX_WINDOWS = 9
WINDOWS_PUBLISHERS = "microsoftwindows"
ZONES = ("1", "2", "3")
FAULT_DOMAINS_ALLOWED = range(1, 6)
PERCENT_ALLOWED = range(5, 101)
PERCENT_DEFAULT = 20
BATCH_PAUSE_MAX = timedelta(days=1)
# Both spellings: "westus" and "West US".
LOCATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ]{0,62}[A-Za-z0-9])?")
GPU_SIZE = re.compile(r"standard_n", re.IGNORECASE)


def traits(document: Document, set_name: str) -> Traits:
    """Return what the engine needs to know of a model, or refuse the model."""
    refuse_tags(document)
    orchestration = word_at(document, MODE, Orchestration.UNIFORM)
    zones = zones_at(document)
    domains = _fault_domains(document, orchestration, zones)
    size = text_at(document, "sku.name") or ""
    eviction = eviction_at(document, PROFILE)
    pause = duration_at(
        document, f"{ROLLING}.pauseTimeBetweenBatches", timedelta(0), BATCH_PAUSE_MAX
    )
    return Traits(
        orchestration=orchestration,
        zones=zones,
        single_placement_group=_single_placement_group(document, orchestration),
        fault_domains=domains,
        own_events_only=GPU_SIZE.match(size) is not None and domains == 1,
        name_prefix=_name_prefix(document, set_name),
        upgrade_mode=word_at(document, f"{UPGRADE}.mode", UpgradeMode.MANUAL),
        batch_percent=_percent(document, "maxBatchInstancePercent"),
        batch_pause=pause or timedelta(0),
        unhealthy_percent_max=_percent(document, "maxUnhealthyInstancePercent"),
        scale_in=_scale_in(document),
        scale_in_force=boolean_at(document, f"{SCALE_IN}.forceDeletion", default=False),
        notice=notice_at(document, PROFILE, eviction),
        eviction=eviction,
        auto_approve=approvals_at(document),
    )


def refuse_incomplete(document: Document) -> None:
    """Refuse a new set without a location or without a size."""
    location = text_at(document, "location")
    if not location:
        raise LocationRequiredError(target="location")
    if not LOCATION.fullmatch(location):
        refuse("location", location, "the name of a location")
    if is_empty_group(document):
        return
    if not text_at(document, "sku.name"):
        raise InvalidParameterError("Required parameter 'sku.name' is missing.", target="sku.name")


def is_empty_group(document: Document) -> bool:
    """Whether a set is a group without a model, to which machines of any size are added."""
    is_flexible = word_at(document, MODE, Orchestration.UNIFORM) is Orchestration.FLEXIBLE
    return is_flexible and not object_at(document, PROFILE)


def refuse_change(old: Document, new: Document) -> None:
    """Refuse a change of what a set keeps for life; both documents are valid on their own."""
    before, after = traits(old, ""), traits(new, "")
    if place(text_at(old, "location") or "") != place(text_at(new, "location") or ""):
        refuse_property("location")
    if sorted(before.zones) != sorted(after.zones):
        refuse_property("zones")
    if before.orchestration is not after.orchestration:
        refuse_property(MODE)
    if before.fault_domains != after.fault_domains:
        refuse_property(FAULT_DOMAINS)
    # R47: true may become false, never the other way round.
    if after.single_placement_group and not before.single_placement_group:
        refuse_property(SINGLE_GROUP)
    # An empty group that gets its first profile had no priority yet.
    if object_at(old, PROFILE) and _priority(old) is not _priority(new):
        refuse_property(PRIORITY)


def capacity(document: Document) -> int | None:
    """Return how many instances the model asks for, None where it does not say, or refuse."""
    return number_at(document, "sku.capacity")


def instance_affecting(document: Document) -> Any:
    """Return the part of a model that instances get, to be compared with another's (R105)."""
    sku = object_at(document, "sku")
    return object_at(document, PROFILE), sku.get("name"), sku.get("tier")


def refuse_property(path: str) -> NoReturn:
    """Refuse the change of what a resource keeps for life."""
    # As recorded: without what is in front of everything.
    name = path.removeprefix("properties.").removeprefix("virtualMachineProfile.")
    raise PropertyChangeNotAllowedError(f"Changing property '{name}' is not allowed.", target=name)


def refuse_tags(document: Document) -> None:
    """Refuse tags that are no strings."""
    tags = object_at(document, "tags")
    if not all(isinstance(value, str) for value in tags.values()):
        refuse("tags", tags, "an object of strings")


def zones_at(document: Document) -> tuple[str, ...]:
    """Return the zones that a model names, or refuse."""
    zones = texts_at(document, "zones")
    if len(set(zones)) != len(zones) or not set(zones) <= set(ZONES):
        refuse("zones", list(zones), f"an array of different zones out of {', '.join(ZONES)}")
    return zones


def _single_placement_group(document: Document, orchestration: Orchestration) -> bool:
    is_uniform = orchestration is Orchestration.UNIFORM
    return boolean_at(document, SINGLE_GROUP, default=is_uniform)


def _fault_domains(document: Document, orchestration: Orchestration, zones: tuple[str, ...]) -> int:
    """Return the count of fault domains; zonal and Flexible sets spread as widely as possible.

    That is what a count of 1 means, and what the service and its clients choose for both.
    """
    given = number_at(document, FAULT_DOMAINS, FAULT_DOMAINS_ALLOWED)
    if given is not None:
        return given
    return 1 if zones or orchestration is Orchestration.FLEXIBLE else FAULT_DOMAINS_DEFAULT


def repairs_are_on(document: Document) -> bool:
    """Whether the model turns automatic repairs on, or refuse."""
    return boolean_at(document, f"{REPAIRS}.enabled", default=False)


def is_windows(document: Document) -> bool:
    """Whether instances run Windows: the model says so, or names an image of Microsoft's."""
    storage = f"{PROFILE}.storageProfile"
    system = text_at(document, f"{storage}.osDisk.osType") or ""
    publisher = text_at(document, f"{storage}.imageReference.publisher") or ""
    return (
        lookup(document, f"{PROFILE}.osProfile.windowsConfiguration") is not None
        or system.lower() == "windows"
        or publisher.lower().startswith(WINDOWS_PUBLISHERS)
    )


def _name_prefix(document: Document, set_name: str) -> str:
    most = PREFIX_CHARACTERS_MAX_WINDOWS if is_windows(document) else PREFIX_CHARACTERS_MAX
    prefix = text_at(document, PREFIX)
    if not prefix:
        return set_name[:most]
    if len(prefix) > most:
        refuse(PREFIX, prefix, f"at most {most} characters long")
    return prefix


def _percent(document: Document, name: str) -> int:
    given = number_at(document, f"{ROLLING}.{name}", PERCENT_ALLOWED)
    return PERCENT_DEFAULT if given is None else given


def _scale_in(document: Document) -> ScaleInRule:
    path = f"{SCALE_IN}.rules"
    rules = [word(rule, path, ScaleInRule) for rule in texts_at(document, path)]
    return rules[0] if rules else ScaleInRule.DEFAULT


def _priority(document: Document) -> Priority:
    return word_at(document, PRIORITY, Priority.REGULAR)


def approvals_at(document: Document) -> tuple[EventType, ...]:
    """Return the events of users that the owner approves in advance (R86)."""
    return tuple(
        kind
        for kind, path in APPROVALS.items()
        if boolean_at(document, f"{path}.automaticallyApprove", default=False)
    )


def eviction_at(document: Document, profile: str) -> Action | None:
    """Return what becomes of an evicted machine, None where it is not Spot, or refuse."""
    priority = word_at(document, f"{profile}.priority", Priority.REGULAR)
    policy = word_at(document, f"{profile}.evictionPolicy", Eviction.DEALLOCATE)
    if priority is Priority.REGULAR:
        return None
    return Action.DELETE if policy is Eviction.DELETE else Action.DEALLOCATE


def notice_at(document: Document, profile: str, eviction: Action | None) -> timedelta | None:
    """Return the terminate notice, None where it is off; check the OS image notice as well."""
    image, terminate = f"{profile}.{OS_IMAGE}", f"{profile}.{TERMINATE}"
    duration_at(document, f"{image}.notBeforeTimeout", OS_IMAGE_NOTICE, OS_IMAGE_NOTICE)
    boolean_at(document, f"{image}.enable", default=False)
    notice = duration_at(
        document, f"{terminate}.notBeforeTimeout", TERMINATE_NOTICE_MIN, TERMINATE_NOTICE_MAX
    )
    if not boolean_at(document, f"{terminate}.enable", default=False):
        return None
    if eviction is not None:  # R68
        raise InvalidParameterError(
            "Terminate notifications are not supported for Spot and low-priority machines.",
            target=terminate,
        )
    return TERMINATE_NOTICE_DEFAULT if notice is None else notice
