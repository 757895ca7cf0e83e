"""Rolling upgrades that users start and stop by themselves."""

from typing import Final

from msgspec.structs import replace

from lastcall.app.learning import Moment
from lastcall.app.resources import expect
from lastcall.app.scale_sets import begin, without_rollout
from lastcall.app.set_keys import staying
from lastcall.engine.effects import Failure
from lastcall.engine.errors import OperationNotAllowedError
from lastcall.engine.model import SetId
from lastcall.engine.operations import Operation
from lastcall.engine.scale_sets import Rollout, RolloutKind
from lastcall.ports import Transaction

CANCELLED: Final = Failure("OperationCanceled", "The rolling upgrade was cancelled by a user.")


def start(tx: Transaction, set_id: SetId, kind: RolloutKind, moment: Moment) -> Operation:
    """Begin a rolling upgrade; the operation ends with its last batch."""
    scale_set = staying(tx, set_id)
    if scale_set.rollout is not None:
        raise OperationNotAllowedError(
            f"A rolling upgrade of '{scale_set.name}' is under way; wait for it or cancel it."
        )
    operation = begin(tx, scale_set, f"{kind} rolling upgrade", moment)
    rollout = Rollout(operation=operation.id, started_at=moment.now, kind=kind)
    tx.put_scale_set(replace(scale_set, rollout=rollout, due_at=moment.now))
    return expect(tx, operation, 1, moment)


def cancel(tx: Transaction, set_id: SetId, moment: Moment) -> Operation:
    """Stop a rolling upgrade: no further batch is begun, the present one is finished."""
    scale_set = staying(tx, set_id)
    if scale_set.rollout is None:
        raise OperationNotAllowedError(f"No rolling upgrade of '{scale_set.name}' is under way.")
    tx.put_scale_set(without_rollout(tx, scale_set, moment, CANCELLED))
    return expect(tx, begin(tx, scale_set, "cancel rolling upgrade", moment), 0, moment)
