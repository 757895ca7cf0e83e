"""Paths of resources: where a resource is, of which type, and what it is called (R92)."""

from collections.abc import Sequence

from lastcall.engine.resources import ResourceId
from lastcall.engine.value import Value

GROUP_TYPE = "Microsoft.Resources/resourceGroups"
DEPLOYMENT_TYPE = "Microsoft.Resources/deployments"
SERIES_TYPE = "lastcall/metrics"
# What tells of resources and is none that anybody made: not counted, not deployed.
BOOKKEEPING = frozenset(each.lower() for each in (GROUP_TYPE, DEPLOYMENT_TYPE, SERIES_TYPE))


class Path(Value, frozen=True, kw_only=True):
    """One resource's address, in the spelling of whoever wrote it.

    `group` is empty for what belongs to the subscription alone. `type` has its namespace in front
    and `names` has one name for each part of the type behind that. `base` is what an extension
    resource belongs to.
    """

    subscription: str
    group: str
    type: str
    names: tuple[str, ...]
    base: str = ""

    @property
    def text(self) -> str:
        """Return the path as it is written."""
        scope = self.base or resource_scope(self.subscription, self.group)
        if not self.names:
            return scope
        namespace, *parts = self.type.split("/")
        pairs = "".join(f"/{part}/{name}" for part, name in zip(parts, self.names, strict=True))
        return f"{scope}/providers/{namespace}{pairs}"

    @property
    def id(self) -> ResourceId:
        """Return the path as it is compared."""
        return ResourceId(self.text.lower())

    @property
    def name(self) -> str:
        """Return the last name, a group's own where there is no other."""
        return self.names[-1] if self.names else self.group

    @property
    def kind(self) -> str:
        """Return the type as it is compared."""
        return self.type.lower()


def resource_scope(subscription: str, group: str) -> str:
    """Return the path of a resource group, or of a subscription."""
    place = f"/subscriptions/{subscription}"
    return f"{place}/resourceGroups/{group}" if group else place


def group_path(subscription: str, group: str) -> Path:
    """Return where a resource group is."""
    return Path(subscription=subscription, group=group, type=GROUP_TYPE, names=())


def parse_path(text: str) -> Path | None:
    """Return the path that a resource id spells, or None where it is not one."""
    parts = text.strip("/").split("/")
    if len(parts) < 2 or parts[0].lower() != "subscriptions" or not all(parts):
        return None
    subscription, rest = parts[1], parts[2:]
    group = ""
    if len(rest) >= 2 and rest[0].lower() == "resourcegroups":
        group, rest = rest[1], rest[2:]
    if not rest:
        return group_path(subscription, group) if group else None
    return _resource(subscription, group, rest)


def _resource(subscription: str, group: str, rest: Sequence[str]) -> Path | None:
    folded = [part.lower() for part in rest]
    if folded[0] != "providers":
        return None
    last = len(folded) - 1 - folded[::-1].index("providers")
    namespace, pairs = rest[last + 1 : last + 2], rest[last + 2 :]
    if not namespace or not pairs or len(pairs) % 2:
        return None
    before = "/".join(rest[:last])
    return Path(
        subscription=subscription,
        group=group,
        type="/".join((*namespace, *pairs[::2])),
        names=tuple(pairs[1::2]),
        base=f"{resource_scope(subscription, group)}/{before}" if before else "",
    )
