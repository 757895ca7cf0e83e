"""Identity and chance: the one place that draws them."""

import random
import secrets
import uuid
from typing import Final

from lastcall.engine.model import EventId, MachineId, OperationId, ScopeId

SECRET_BYTES: Final = 32


class RandomIds:
    """GUIDs nobody can foresee, or, for a seed, the same ones again."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.SystemRandom() if seed is None else random.Random(seed)

    def _guid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def machine_id(self) -> MachineId:
        """Return a new vmId."""
        return MachineId(self._guid())

    def event_id(self) -> EventId:
        """Return a new EventId, upper case as on the wire."""
        return EventId(self._guid().upper())

    def operation_id(self) -> OperationId:
        """Return a new operation id."""
        return OperationId(self._guid())

    def scope_id(self) -> ScopeId:
        """Return a new scope id."""
        return ScopeId(self._guid())

    def principal_id(self) -> str:
        """Return a new id of a service principal or of its object."""
        return self._guid()

    def secret(self) -> str:
        """Return a secret; no seed foretells it."""
        # A letter in front: what begins with "-" is taken for a flag by command lines.
        return f"s{secrets.token_urlsafe(SECRET_BYTES)}"

    def chance(self) -> float:
        """Return a number from 0 to 1."""
        return self._random.random()
