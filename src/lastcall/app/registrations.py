"""Which resource providers and features are registered; both are remembered by name."""

from collections.abc import Mapping
from typing import Final

import msgspec

from lastcall.engine.errors import QuotaExceededError
from lastcall.ports import Reader, Transaction

PROVIDERS: Final = "providers"
FEATURES: Final = "features"
REMEMBERED_MAX: Final = 1_000
STATES = msgspec.json.Decoder(dict[str, str])


def states(reader: Reader, what: str) -> Mapping[str, str]:
    """Return what has been said about providers or features, by name in lower case."""
    return STATES.decode(reader.recall(what) or "{}")


def say(tx: Transaction, what: str, name: str, state: str) -> None:
    """Remember the state of a provider or a feature."""
    said = {**states(tx, what), name.lower(): state}
    if len(said) > REMEMBERED_MAX:
        raise QuotaExceededError(f"More than {REMEMBERED_MAX} {what} cannot be remembered.")
    tx.remember(what, msgspec.json.encode(said).decode())
