"""Where a template is deployed, and when."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from lastcall.wire.templates.values import Json


class Group(Struct, frozen=True):
    """The resource group that a template is deployed to."""

    id: str
    name: str
    location: str
    tags: Mapping[str, str] = {}


class Context(Struct, frozen=True):
    """Everything outside the template that its expressions can ask for.

    The same template, parameters and context always make the same plan.
    """

    subscription_id: str
    tenant_id: str
    group: Group
    deployment_name: str
    # The api-versions of a resource type (namespace, type), the newest first; none if unknown.
    api_versions: Callable[[str, str], Sequence[str]]
    now: datetime
    # What newGuid() is derived from: drawn once per deployment.
    seed: str
    mode: str = "Incremental"
    subscription_name: str = ""
    tenant_name: str = ""
    # What environment() answers: the addresses that /metadata/endpoints has.
    environment: Mapping[str, Json] = {}


class LookUp(Protocol):
    """The state of a resource while the deployment runs."""

    def __call__(self, resource_id: str, *, full: bool, api_version: str) -> Json:
        """Return the properties of a resource, the whole of it if `full`; None if there is none."""
        ...
