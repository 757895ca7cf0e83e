"""A scale set as the engine knows it: what of its model matters for decisions."""

from datetime import datetime, timedelta
from enum import StrEnum

from lastcall.engine.limits import FAULT_DOMAINS_DEFAULT
from lastcall.engine.model import (
    Action,
    EventType,
    MachineId,
    Model,
    OperationId,
    Provisioning,
    ScopeId,
    SetId,
)
from lastcall.engine.value import Value


class Orchestration(StrEnum):
    """How instances are named and identified (R48-R50)."""

    UNIFORM = "Uniform"
    FLEXIBLE = "Flexible"


class UpgradeMode(StrEnum):
    """When a changed model reaches existing instances (R105)."""

    MANUAL = "Manual"
    AUTOMATIC = "Automatic"
    ROLLING = "Rolling"


class ScaleInRule(StrEnum):
    """Which instances a smaller capacity removes (R106)."""

    DEFAULT = "Default"
    NEWEST = "NewestVM"
    OLDEST = "OldestVM"


class Traits(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What the engine needs to know of a set's model; the rest of the model is kept as given."""

    orchestration: Orchestration = Orchestration.UNIFORM
    zones: tuple[str, ...] = ()
    single_placement_group: bool = True
    fault_domains: int = FAULT_DOMAINS_DEFAULT
    own_events_only: bool = False  # R46: GPU sizes with one fault domain.
    name_prefix: str = ""
    upgrade_mode: UpgradeMode = UpgradeMode.MANUAL
    batch_percent: int = 20
    batch_pause: timedelta = timedelta(0)
    unhealthy_percent_max: int = 20
    scale_in: ScaleInRule = ScaleInRule.DEFAULT
    scale_in_force: bool = False
    notice: timedelta | None = None
    eviction: Action | None = None
    auto_approve: tuple[EventType, ...] = ()

    def model(self, version: int) -> Model:
        """Return what an instance gets of this when the model is applied to it."""
        return Model(version=version, notice=self.notice, eviction=self.eviction)


class Group(Value, frozen=True):
    """One placement group of a set: a scope, in one zone or in none."""

    scope_id: ScopeId
    zone: str = ""


class RolloutKind(StrEnum):
    """What a rolling upgrade brings: the latest model, a new OS image, or new extensions."""

    MODEL = "model"
    OS = "os"
    EXTENSIONS = "extensions"


class RolloutCode(StrEnum):
    """How a rolling upgrade stands, in ARM's words."""

    ROLLING = "RollingForward"
    CANCELLED = "Cancelled"
    COMPLETED = "Completed"
    FAULTED = "Faulted"


class Progress(Value, frozen=True, kw_only=True, omit_defaults=True):
    """How many instances a rolling upgrade has dealt with, and how."""

    successful: int = 0
    failed: int = 0
    in_progress: int = 0
    pending: int = 0


class PastRollout(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A rolling upgrade that is over."""

    kind: RolloutKind
    code: RolloutCode
    started_at: datetime
    ended_at: datetime
    progress: Progress
    failure: str = ""


class Rollout(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A rolling upgrade under way: who is in the present batch, and when the next may begin.

    `tried` have had their turn: one that failed is not tried again, or it would go on for ever.
    """

    operation: OperationId
    started_at: datetime
    kind: RolloutKind = RolloutKind.MODEL
    batch: tuple[MachineId, ...] = ()
    tried: tuple[MachineId, ...] = ()
    resume_at: datetime | None = None


class ScaleSet(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One scale set.

    `number` counts writes (its etag); `model_version` is the write that last changed what
    instances get; `due_at` is when a rolling upgrade should look again; `writing` is the newest
    write, whose end decides the provisioning state; `past_rollouts` are the last ones, oldest
    first; `repairs_suspended` is what the owner told the automatic repairs.
    """

    id: SetId
    subscription: str
    resource_group: str
    name: str
    unique_id: str
    created_at: datetime
    location: str
    traits: Traits
    number: int = 1
    model_version: int = 1
    next_instance: int = 0
    groups: tuple[Group, ...] = ()
    provisioning: Provisioning = Provisioning.CREATING
    rollout: Rollout | None = None
    due_at: datetime | None = None
    writing: OperationId | None = None
    past_rollouts: tuple[PastRollout, ...] = ()
    repairs_suspended: bool = False

    @property
    def model(self) -> Model:
        """Return the latest model, as an instance would get it."""
        return self.traits.model(self.model_version)
