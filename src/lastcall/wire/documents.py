"""What is kept of a resource's body as a client sends it, and how tags look."""

from collections.abc import Mapping
from typing import Any, Final

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.engine.limits import (
    RESOURCE_BYTES_MAX,
    SET_BYTES_MAX,
    TAG_NAME_CHARACTERS_MAX,
    TAG_VALUE_CHARACTERS_MAX,
    TAGS_MAX,
)
from lastcall.wire.arm import is_secret
from lastcall.wire.bodies import encode_json
from lastcall.wire.fields import object_at, refuse, text_at
from lastcall.wire.names import place

Document = dict[str, Any]

# The members that every resource has, of whatever type.
ENVELOPE: Final = {
    name.lower(): name
    for name in (
        "etag",
        "extendedLocation",
        "id",
        "identity",
        "kind",
        "location",
        "managedBy",
        "name",
        "plan",
        "properties",
        "scale",
        "sku",
        "systemData",
        "tags",
        "type",
        "zones",
    )
}
# What only the service writes; clients send it back with what they have read.
READ_ONLY: Final = frozenset({"id", "name", "type", "etag", "systemData"})
STATE: Final = "provisioningState"


def accepted_document(body: Mapping[str, Any]) -> Document:
    """Return what is kept of a PUT's body: checked, without nulls, secrets and what is ours."""
    document = _enveloped(body)
    properties = dict(object_at(document, "properties"))
    properties.pop(STATE, None)
    kept = {key: _kept(item) for key, item in document.items() if key not in READ_ONLY}
    kept |= {"properties": _kept(properties)}
    if "tags" in document:
        kept["tags"] = tags_of(document)
    location = text_at(document, "location")
    if location is not None:
        kept["location"] = place(location)
    refuse_size(kept)
    return {key: item for key, item in kept.items() if item is not None}


def patched_document(before: Mapping[str, Any], patch: Mapping[str, Any]) -> Document:
    """Return a document after a PATCH: null removes, arrays and tags are replaced."""
    document = _enveloped(patch)
    tags = {"tags": document.pop("tags")} if "tags" in document else {}
    return accepted_document(_merged(before, document) | tags)


def tags_of(document: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the tags of a document, None where it has none, or refuse."""
    if document.get("tags") is None:
        return None
    tags = {key: item for key, item in object_at(document, "tags").items() if item is not None}
    if len(tags) > TAGS_MAX:
        refuse("tags", len(tags), f"at most {TAGS_MAX} tags")
    for name, value in tags.items():
        if not name or len(name) > TAG_NAME_CHARACTERS_MAX:
            refuse("tags", name, f"a tag name of 1 to {TAG_NAME_CHARACTERS_MAX} characters")
        if not isinstance(value, str) or len(value) > TAG_VALUE_CHARACTERS_MAX:
            refuse(f"tags.{name}", value, f"a text of up to {TAG_VALUE_CHARACTERS_MAX} characters")
    return tags


def refuse_size(document: Mapping[str, Any]) -> None:
    """Refuse a document that is too large to be kept."""
    _encoded(document, "resource", RESOURCE_BYTES_MAX)


def encode_set_document(document: Mapping[str, Any]) -> bytes:
    """Return a set's document as it is kept, with all its instances have, or refuse its size."""
    return _encoded(document, "scale set with what its instances have", SET_BYTES_MAX)


def _encoded(document: Mapping[str, Any], what: str, most: int) -> bytes:
    encoded = encode_json(document)
    if len(encoded) > most:
        raise InvalidRequestContentError(
            f"The {what} is larger than the {most} bytes that are allowed."
        )
    return encoded


def _enveloped(body: Mapping[str, Any]) -> Document:
    """Return a copy in which the members of the envelope are spelled as documented."""
    document: Document = {}
    for given, item in body.items():
        name = ENVELOPE.get(given.lower(), given)
        if name in document:
            raise InvalidRequestContentError(
                "The request content was invalid and could not be deserialized:"
                f" 'the member {name} is given in two spellings'."
            )
        document[name] = item
    return document


def _merged(before: Mapping[str, Any], patch: Mapping[str, Any]) -> Document:
    merged = dict(before)
    for key, item in patch.items():
        old = merged.get(key)
        both = isinstance(item, Mapping) and isinstance(old, Mapping)
        merged[key] = _merged(old, item) if both else item  # type: ignore[arg-type]
    return merged


def _kept(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _kept(item)
            for key, item in value.items()
            if item is not None and not is_secret(key)
        }
    return [_kept(item) for item in value] if isinstance(value, list) else value
