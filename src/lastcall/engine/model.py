"""The nouns. All are frozen values: a change is a new value, so before and after can be compared.

A `Scope` is the group of machines that share one events document, and the boundary of every
decision: no decision spans two scopes.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from lastcall.engine.value import Value

ScopeId = NewType("ScopeId", str)
SetId = NewType("SetId", str)
MachineId = NewType("MachineId", str)
EventId = NewType("EventId", str)
OperationId = NewType("OperationId", str)


class ScopeKind(StrEnum):
    """What kind of group shares the document."""

    PLACEMENT_GROUP = "placementGroup"
    AVAILABILITY_SET = "availabilitySet"
    CLOUD_SERVICE = "cloudService"
    VIRTUAL_MACHINE = "virtualMachine"


class EventType(StrEnum):
    """What will happen to the machines, in the document's own words."""

    FREEZE = "Freeze"
    REBOOT = "Reboot"
    REDEPLOY = "Redeploy"
    PREEMPT = "Preempt"
    TERMINATE = "Terminate"


class Source(StrEnum):
    """Who caused the event."""

    PLATFORM = "Platform"
    USER = "User"


class Status(StrEnum):
    """Where an event stands. Guests see APPROVED as Scheduled: it waits for its neighbours."""

    SCHEDULED = "Scheduled"
    APPROVED = "Approved"
    STARTED = "Started"
    COMPLETED = "Completed"
    CANCELLED = "Canceled"


class Action(StrEnum):
    """What a driver can be asked to do to a machine."""

    CREATE = "create"
    UPDATE = "update"
    START = "start"
    POWER_OFF = "powerOff"
    RESTART = "restart"
    REDEPLOY = "redeploy"
    REIMAGE = "reimage"
    DEALLOCATE = "deallocate"
    FREEZE = "freeze"
    DELETE = "delete"


class Power(StrEnum):
    """Whether the machine runs."""

    RUNNING = "running"
    STOPPED = "stopped"
    DEALLOCATED = "deallocated"


class Provisioning(StrEnum):
    """ARM's provisioningState."""

    CREATING = "Creating"
    UPDATING = "Updating"
    SUCCEEDED = "Succeeded"
    DELETING = "Deleting"
    FAILED = "Failed"


class Protection(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What the owner has forbidden the scale set to do to one instance."""

    from_scale_in: bool = False
    from_scale_set_actions: bool = False


UNPROTECTED = Protection()


class Model(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What an instance has of its set's model. It changes only when the model is applied.

    `version` tells latestModelApplied; `notice` is None where no terminate notification is on;
    `eviction` is None on a machine that is not Spot.
    """

    version: int = 1
    notice: timedelta | None = None
    eviction: Action | None = None


class Machine(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One member of a scope. `name` is what Resources holds; `id` is the vmId.

    `ordinal` gives it a loopback address of its own; `booted` is the number of the set's
    document at its last boot, because tags reach a guest only then. `path` is the resource that
    it is where no set owns it: that resource goes with it.
    """

    id: MachineId
    name: str
    ordinal: int
    created_at: datetime
    set_id: SetId | None = None
    instance_id: str = ""
    computer_name: str = ""
    zone: str = ""
    fault_domain: int = 0
    update_domain: int = 0
    model: Model = Model()
    booted: int = 1
    provisioning: Provisioning = Provisioning.CREATING
    power: Power = Power.RUNNING
    protection: Protection = UNPROTECTED
    failure: str = ""
    path: str = ""

    @property
    def is_leaving(self) -> bool:
        """Whether its deletion has been decided, though perhaps not performed."""
        return self.provisioning is Provisioning.DELETING


class Event(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happens to machines. `type` None: quiet, nobody is told.

    `remaining` are the machines on which the driver has not finished; `operations` are the
    requests that wait for the end of it; `model` is what an update applies.
    """

    id: EventId
    type: EventType | None
    action: Action
    source: Source
    status: Status
    machines: tuple[MachineId, ...]
    remaining: tuple[MachineId, ...]
    announced_at: datetime
    not_before: datetime
    started_at: datetime | None = None
    operations: tuple[OperationId, ...] = ()
    description: str = ""
    duration_s: int = -1
    model: Model | None = None

    @property
    def is_pending(self) -> bool:
        """Whether it has not started yet."""
        return self.status is Status.SCHEDULED or self.status is Status.APPROVED


class Scope(Value, frozen=True, kw_only=True):
    """Machines that share one events document, and the events that concern them."""

    id: ScopeId
    kind: ScopeKind
    machines: Mapping[MachineId, Machine]
    events: Mapping[EventId, Event]
    set_id: SetId | None = None
    incarnation: int = 1
    watched_at: datetime | None = None
    version: int = 0
