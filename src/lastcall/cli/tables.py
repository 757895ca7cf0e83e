"""How people see what servers answer: which facts, in which columns."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from lastcall.cli.output import Table, facts, text
from lastcall.cli.rules import sentence

Json = dict[str, Any]

SCALE_SET_HEAD: Final = ("NAME", "GROUP", "LOCATION", "INSTANCES", "NOTICE", "STATE")
MEMBER_HEAD: Final = ("ID", "NAME", "STATE", "POWER", "LATEST MODEL", "ZONE", "PROTECTED FROM")
EVENT_HEAD: Final = ("EVENT", "TYPE", "STATUS", "INSTANCES", "NOT BEFORE (UTC)", "SOURCE")
LINE_HEAD: Final = ("AT (UTC)", "WHAT", "EVENT", "INSTANCE", "TEXT")
AUTOSCALE_HEAD: Final = ("NAME", "GROUP", "TARGET", "ENABLED", "MIN", "MAX", "DEFAULT", "RULES")
METRIC_HEAD: Final = ("RESOURCE", "METRIC", "AT (UTC)", "INSTANCE", "AVERAGE", "SAMPLES")
ACTIVITY_HEAD: Final = ("AT (UTC)", "CALLER", "OPERATION", "ON", "STATUS", "WHY")
INSTANCE_HEAD: Final = ("NAME", "STATE", "POWER", "METADATA")
PROTECTIONS: Final = {
    "protectFromScaleIn": "scale-in",
    "protectFromScaleSetActions": "scale set actions",
}


def clock_time(instant: str) -> str:
    """Return the time of day of an instant, in UTC as the server says it."""
    return f"{datetime.fromisoformat(instant):%H:%M:%S}"


def moment(instant: str | None) -> str:
    """Return an instant to the second, nothing where there is none."""
    return f"{datetime.fromisoformat(instant):%Y-%m-%d %H:%M:%S}" if instant else ""


def scale_set_row(found: Json) -> tuple[str, ...]:
    """Return a scale set on one line."""
    return (
        found["name"],
        _group(found["id"]),
        found["location"],
        text(found["sku"]["capacity"]),
        _notice(found) or "off",
        found["properties"]["provisioningState"],
    )


def scale_set(found: Json) -> Table:
    """Return everything about a scale set that its flags can change."""
    properties = found["properties"]
    profile = properties.get("virtualMachineProfile", {})
    image = profile.get("storageProfile", {}).get("imageReference", {})
    return facts(
        (
            ("name", found["name"]),
            ("resource group", _group(found["id"])),
            ("location", found["location"]),
            ("zones", found.get("zones")),
            ("instances", found["sku"]["capacity"]),
            ("size", found["sku"].get("name")),
            ("image", ":".join(map(str, image.values()))),
            ("state", properties["provisioningState"]),
            ("notice before deletion", _notice(found) or "off"),
            ("orchestration", properties.get("orchestrationMode")),
            ("upgrade policy", properties.get("upgradePolicy", {}).get("mode", "Manual")),
            ("scale-in policy", properties.get("scaleInPolicy", {}).get("rules")),
            ("priority", profile.get("priority")),
            ("eviction policy", profile.get("evictionPolicy")),
            ("tags", [f"{key}={value}" for key, value in found.get("tags", {}).items()]),
        )
    )


def member_row(found: Json) -> tuple[str, ...]:
    """Return an instance of a set on one line."""
    properties = found["properties"]
    policy = properties.get("protectionPolicy", {})
    return (
        found["instanceId"],
        found["name"],
        properties["provisioningState"],
        _power(properties.get("instanceView", {}).get("statuses", ())),
        text(properties["latestModelApplied"]),
        text(found.get("zones")),
        text([name for key, name in PROTECTIONS.items() if policy.get(key)]),
    )


def member(found: Json) -> Table:
    """Return an instance of a set."""
    names = (name.lower() for name in MEMBER_HEAD)
    return facts(zip(names, member_row(found), strict=True))


def view(found: Json) -> Table:
    """Return how a set or an instance is doing."""
    counted = found.get("virtualMachine", {}).get("statusesSummary", ())
    statuses = [(status["code"], status["displayStatus"]) for status in found["statuses"]]
    return facts(
        (
            *statuses,
            *((f"instances in {each['code']}", each["count"]) for each in counted),
            ("placement group", found.get("placementGroupId")),
            ("fault domain", found.get("platformFaultDomain")),
            ("update domain", found.get("platformUpdateDomain")),
        )
    )


def event_row(found: Json) -> tuple[str, ...]:
    """Return an event on one line."""
    return (
        found["id"],
        found["type"],
        found["status"],
        text(found["resources"]),
        moment(found["notBefore"]),
        found["source"],
    )


def event(found: Json) -> Table:
    """Return an event, with everything that happened to it where that is known."""
    names = (name.lower() for name in EVENT_HEAD)
    seconds = found["durationInSeconds"]
    return facts(
        (
            *zip(names, event_row(found), strict=True),
            ("takes", f"{seconds} s" if seconds >= 0 else "unknown"),
            ("description", found["description"]),
            *((moment(line["at"]), line["text"]) for line in found.get("history", ())),
        )
    )


def line_row(found: Json) -> tuple[str, ...]:
    """Return a line of history on one line."""
    return (
        moment(found["at"]),
        found["what"],
        text(found["event"]),
        text(found["instance"]),
        found["text"],
    )


def instance_row(found: Json) -> tuple[str, ...]:
    """Return an instance of the platform on one line."""
    return (found["name"], found["state"], found["power"], text(found["metadata"]))


def autoscale_row(found: Json) -> tuple[str, ...]:
    """Return an autoscale setting on one line, with the bounds of its first profile."""
    properties = found["properties"]
    capacity = properties["profiles"][0]["capacity"]
    rules = sum(len(profile["rules"]) for profile in properties["profiles"])
    return (
        found["name"],
        _group(found["id"]),
        properties.get("targetResourceUri", "").rpartition("/")[2],
        text(properties["enabled"]),
        capacity["minimum"],
        capacity["maximum"],
        capacity["default"],
        str(rules),
    )


def autoscale_setting(found: Json) -> Table:
    """Return an autoscale setting with its profiles and rules."""
    names = (name.lower() for name in AUTOSCALE_HEAD[:4])
    pairs: list[tuple[str, object]] = list(zip(names, autoscale_row(found)[:4], strict=True))
    for profile in found["properties"]["profiles"]:
        capacity = profile["capacity"]
        bounds = f"{capacity['minimum']} to {capacity['maximum']} instances"
        usual = f"{capacity['default']} when nothing is measured"
        pairs.append((f"profile {profile['name']}", f"{bounds}, {usual}"))
        pairs += [("rule", sentence(rule)) for rule in profile["rules"]]
    return facts(pairs)


def metric_row(found: Json) -> tuple[str, ...]:
    """Return the newest of a metric on one line."""
    newest = found["points"][-1]
    return (
        found["resource"].rpartition("/")[2],
        found["name"],
        moment(newest["at"]),
        newest["instance"],
        f"{newest['average']:g}",
        str(sum(point["count"] for point in found["points"])),
    )


def activity_row(found: Json) -> tuple[str, ...]:
    """Return who asked for what on one line."""
    return (
        moment(found["at"]),
        found["caller"],
        found["operation"],
        found["path"].rpartition("/")[2],
        found["status"],
        found["reason"],
    )


def _group(resource_id: str) -> str:
    return resource_id.split("/")[4]


def _notice(found: Json) -> str:
    profile = found["properties"].get("virtualMachineProfile", {}).get("scheduledEventsProfile", {})
    terminate = profile.get("terminateNotificationProfile", {})
    return terminate.get("notBeforeTimeout", "PT5M") if terminate.get("enable") else ""


def _power(statuses: Iterable[Json]) -> str:
    codes = (status["code"].partition("/") for status in statuses)
    return next((value for kind, _, value in codes if kind == "PowerState"), "")
