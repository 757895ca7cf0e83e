"""Functions that make names out of other names."""

from base64 import b32encode
from hashlib import sha256
from typing import Final
from uuid import UUID, uuid5

from lastcall.wire.templates.signatures import Library
from lastcall.wire.templates.values import Kind

HASHES = Library()
STRING: Final = Kind.STRING
# The namespace that Azure documents for guid().
NAMESPACE: Final = UUID("11fb06fb-712d-4ddd-98c7-e71bbd588830")
UNIQUE_CHARACTERS: Final = 13


@HASHES.define("guid", STRING, more=STRING)
def guid(*texts: str) -> str:
    """Return a GUID, the same for the same strings."""
    return str(uuid5(NAMESPACE, "-".join(texts)))


@HASHES.define("uniqueString", STRING, more=STRING)
def unique_string(*texts: str) -> str:
    """Return 13 letters and digits, the same for the same strings; Azure's are others."""
    digest = sha256("-".join(texts).encode("utf-8", "surrogatepass")).digest()
    return b32encode(digest).decode().lower()[:UNIQUE_CHARACTERS]
