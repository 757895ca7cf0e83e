"""The small request bodies: which instances are meant, and what an instance is protected from."""

import re
from collections.abc import Mapping
from typing import Any

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.limits import SET_MACHINES_MAX
from lastcall.engine.model import UNPROTECTED, Protection
from lastcall.wire.fields import boolean_at, object_at, refuse

ALL = "*"
IDS = "instanceIds"
POLICY = "properties.protectionPolicy"
INSTANCE_ID = re.compile(r"[A-Za-z0-9_.-]{1,80}")


def parse_instance_ids(
    document: Mapping[str, Any] | None, *, required: bool
) -> tuple[str, ...] | None:
    """Return which instances are meant, None for all (R94), or refuse."""
    value = None if document is None else document.get(IDS)
    if value is None:
        if required:
            raise InvalidParameterError(f"Required parameter '{IDS}' is missing.", target=IDS)
        return None
    if not isinstance(value, list) or not 0 < len(value) <= SET_MACHINES_MAX:
        refuse(IDS, value, f"an array of 1 to {SET_MACHINES_MAX} instance ids")
    ids = tuple(dict.fromkeys(_instance_id(item) for item in value))
    return None if ALL in ids else ids


def parse_protection(document: Mapping[str, Any], old: Protection = UNPROTECTED) -> Protection:
    """Return an instance's protection after a PUT of it; what is absent stays, null takes away."""
    properties = object_at(document, "properties")
    if "protectionPolicy" not in properties:
        return old
    if properties["protectionPolicy"] is None:
        return UNPROTECTED
    return Protection(
        from_scale_in=_protects(document, "protectFromScaleIn", default=old.from_scale_in),
        from_scale_set_actions=_protects(
            document, "protectFromScaleSetActions", default=old.from_scale_set_actions
        ),
    )


def _protects(document: Mapping[str, Any], name: str, *, default: bool) -> bool:
    is_given = name in object_at(document, POLICY)
    return boolean_at(document, f"{POLICY}.{name}", default=default and not is_given)


def _instance_id(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not (text == ALL or INSTANCE_ID.fullmatch(text)):
        refuse(IDS, value, "an instance id")
    return text
