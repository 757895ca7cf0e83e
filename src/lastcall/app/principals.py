"""Service principals: those who may sign in with a secret. The secrets themselves are not kept."""

from datetime import datetime
from typing import Final

import msgspec

from lastcall.app.hashing import Hashed
from lastcall.app.learning import Moment
from lastcall.engine.errors import ConflictError, OperationNotAllowedError, ResourceNotFoundError
from lastcall.engine.limits import PRINCIPALS_MAX
from lastcall.engine.value import Value
from lastcall.ports import Reader, Transaction

PRINCIPALS_KEY: Final = "principals"


class Principal(Value, frozen=True, kw_only=True):
    """Somebody who may sign in."""

    app_id: str
    object_id: str
    name: str
    created_at: datetime
    secret: Hashed


def everyone(reader: Reader) -> tuple[Principal, ...]:
    """Return all principals, oldest first."""
    kept = reader.recall(PRINCIPALS_KEY)
    return () if kept is None else msgspec.json.decode(kept, type=tuple[Principal, ...])


def find(reader: Reader, app_id: str) -> Principal | None:
    """Return a principal by its application id, None where there is none."""
    wanted = app_id.lower()
    return next((each for each in everyone(reader) if each.app_id == wanted), None)


def create(tx: Transaction, name: str, secret: Hashed, moment: Moment) -> Principal:
    """Make a principal; no two have the same name."""
    known = everyone(tx)
    if any(each.name.lower() == name.lower() for each in known):
        raise ConflictError(f"There is a principal '{name}' already.")
    if len(known) >= PRINCIPALS_MAX:
        raise OperationNotAllowedError(f"There are {PRINCIPALS_MAX} principals, which is the most.")
    made = Principal(
        app_id=moment.ids.principal_id(),
        object_id=moment.ids.principal_id(),
        name=name,
        created_at=moment.now,
        secret=secret,
    )
    _keep(tx, (*known, made))
    return made


def delete(tx: Transaction, which: str) -> None:
    """Remove a principal, by its application id or its name."""
    known = everyone(tx)
    wanted = which.lower()
    left = tuple(each for each in known if wanted not in (each.app_id, each.name.lower()))
    if len(left) == len(known):
        raise ResourceNotFoundError(f"There is no principal '{which}'.")
    _keep(tx, left)


def _keep(tx: Transaction, principals: tuple[Principal, ...]) -> None:
    tx.remember(PRINCIPALS_KEY, msgspec.json.encode(principals).decode())
