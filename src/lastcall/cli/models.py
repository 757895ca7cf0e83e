"""What a scale set is to be, as az's flags say it, turned into what the control plane reads."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lastcall.cli.failures import WrongUsageError
from lastcall.cli.flags import tags, terminate_notice, zones

Json = dict[str, Any]

PROFILE: Final = "properties.virtualMachineProfile"
TERMINATE: Final = f"{PROFILE}.scheduledEventsProfile.terminateNotificationProfile"

# Flags whose value is kept as it is given, and where it goes.
PLACES: Final = {
    "location": "location",
    "vm_sku": "sku.name",
    "instance_count": "sku.capacity",
    "orchestration_mode": "properties.orchestrationMode",
    "single_placement_group": "properties.singlePlacementGroup",
    "platform_fault_domain_count": "properties.platformFaultDomainCount",
    "upgrade_policy_mode": "properties.upgradePolicy.mode",
    "scale_in_policy": "properties.scaleInPolicy.rules",
    "priority": f"{PROFILE}.priority",
    "eviction_policy": f"{PROFILE}.evictionPolicy",
}
# az looks these up in a list of its own; the ones that its documentation uses are here.
IMAGES: Final = {
    "ubuntults": "Canonical:UbuntuServer:18.04-LTS:latest",
    "ubuntu2204": "Canonical:0001-com-ubuntu-server-jammy:22_04-lts-gen2:latest",
    "ubuntu2404": "Canonical:ubuntu-24_04-lts:server:latest",
    "debian12": "Debian:debian-12:12-gen2:latest",
    "win2022datacenter": "MicrosoftWindowsServer:WindowsServer:2022-datacenter-g2:latest",
}
IMAGE_PARTS: Final = ("publisher", "offer", "sku", "version")


def model(flags: Mapping[str, Any]) -> Json:
    """Return the part of a scale set that the flags speak about; flags without a value do not."""
    body: Json = {}
    for path, value in _members(flags):
        _put(body, path, value)
    return body


def protection(*, scale_in: bool | None, scale_set_actions: bool | None) -> Json:
    """Return what an instance is to be protected from; what is None stays as it is."""
    policy = {"protectFromScaleIn": scale_in, "protectFromScaleSetActions": scale_set_actions}
    given = {name: value for name, value in policy.items() if value is not None}
    return {"properties": {"protectionPolicy": given}}


def _members(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, path in PLACES.items():
        if flags.get(name) is not None:
            yield path, flags[name]
    if flags.get("zones") is not None:
        yield "zones", zones(flags["zones"])
    if flags.get("tags") is not None:
        yield "tags", tags(flags["tags"])
    if flags.get("image") is not None:
        yield f"{PROFILE}.storageProfile.imageReference", image(flags["image"])
    if flags.get("enable_terminate_notification") is not None:
        yield f"{TERMINATE}.enable", flags["enable_terminate_notification"]
    if flags.get("terminate_notification_time") is not None:
        yield from _notice(flags)


def _notice(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if flags.get("enable_terminate_notification") is False:
        raise WrongUsageError(
            "--terminate-notification-time needs --enable-terminate-notification true."
        )
    yield f"{TERMINATE}.enable", True
    yield f"{TERMINATE}.notBeforeTimeout", terminate_notice(flags["terminate_notification_time"])


def image(text: str) -> Json:
    """Read an image: a URN, a resource id, or one of the usual aliases."""
    if text.startswith("/"):
        return {"id": text}
    parts = IMAGES.get(text.lower(), text).split(":")
    if len(parts) != len(IMAGE_PARTS):
        raise WrongUsageError(
            f"--image '{text}' is neither publisher:offer:sku:version, nor a resource id,"
            f" nor one of {', '.join(sorted(IMAGES))}."
        )
    return dict(zip(IMAGE_PARTS, parts, strict=True))


def _put(body: Json, path: str, value: Any) -> None:
    *folders, name = path.split(".")
    for folder in folders:
        body = body.setdefault(folder, {})
    body[name] = value
