"""Whose control plane it is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The one subscription that exists here, and the tenant that it belongs to."""

    subscription: str
    tenant: str
