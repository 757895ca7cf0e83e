from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from lastcall.engine.errors import DomainError
from lastcall.engine.model import Machine, MachineId, Model
from lastcall.engine.scale_sets import ScaleSet
from lastcall.wire.names import set_id
from lastcall.wire.traits import traits

NOW = datetime(2026, 3, 5, 7, 8, 9, 250_000, tzinfo=UTC)
SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"


def a_model(**properties: Any) -> dict[str, Any]:
    return {
        "location": "westus",
        "sku": {"name": "Standard_D2s_v5", "capacity": 2},
        "properties": properties,
    }


def with_terminate(profile: Any, **more: Any) -> dict[str, Any]:
    events = {"terminateNotificationProfile": profile}
    return a_model(virtualMachineProfile={"scheduledEventsProfile": events, **more})


def a_scale_set(document: dict[str, Any] | None = None, **changes: Any) -> ScaleSet:
    given: dict[str, Any] = {
        "id": set_id(SUBSCRIPTION, "Group", "web"),
        "subscription": SUBSCRIPTION,
        "resource_group": "Group",
        "name": "web",
        "unique_id": "6f1d0c3e-0000-4000-8000-000000000001",
        "created_at": NOW,
        "location": "westus",
        "traits": traits(document or a_model(), "web"),
    }
    return ScaleSet(**(given | changes))


def a_machine(**changes: Any) -> Machine:
    given: dict[str, Any] = {
        "id": MachineId("6f1d0c3e-0000-4000-8000-000000000002"),
        "name": "web_3",
        "ordinal": 3,
        "created_at": NOW - timedelta(hours=1),
        "instance_id": "3",
        "computer_name": "web000003",
        "fault_domain": 2,
        "update_domain": 4,
        "model": Model(version=1),
    }
    return Machine(**(given | changes))


def refusal_of(call: Callable[[], object]) -> DomainError | None:
    """Return how a call was refused, None if it was not; anything but a refusal is a bug."""
    try:
        call()
    except DomainError as error:
        return error
    return None


# The names that our code looks for, so that a random document often reaches far.
KNOWN_NAMES = [
    "automaticallyApprove",
    "capacity",
    "computerNamePrefix",
    "enable",
    "evictionPolicy",
    "forceDeletion",
    "instanceIds",
    "location",
    "maxBatchInstancePercent",
    "maxUnhealthyInstancePercent",
    "mode",
    "name",
    "notBeforeTimeout",
    "orchestrationMode",
    "osDisk",
    "osImageNotificationProfile",
    "osProfile",
    "osType",
    "pauseTimeBetweenBatches",
    "platformFaultDomainCount",
    "priority",
    "properties",
    "protectFromScaleIn",
    "protectionPolicy",
    "rollingUpgradePolicy",
    "rules",
    "scaleInPolicy",
    "scheduledEventsPolicy",
    "scheduledEventsProfile",
    "singlePlacementGroup",
    "sku",
    "storageProfile",
    "tags",
    "terminateNotificationProfile",
    "tier",
    "upgradePolicy",
    "userInitiatedReboot",
    "userInitiatedRedeploy",
    "virtualMachineProfile",
    "windowsConfiguration",
    "zones",
]
NAMES = st.sampled_from(KNOWN_NAMES)
VALUES = st.sampled_from(
    ["true", "False", "PT5M", "PT15M", "P1D", "spot", "rolling", "Flexible", "7", "*", "westus"]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | VALUES
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(), inner),
    max_leaves=20,
)


def _objects(**members: Any) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=members) | JSON


# Documents with the right structure and arbitrary leaves: those pass the first checks.
LEAF = SCALARS | JSON
NOTICE = _objects(enable=LEAF, notBeforeTimeout=LEAF)
DOCUMENTS = st.dictionaries(NAMES | st.text(), JSON, max_size=5) | st.fixed_dictionaries(
    {},
    optional={
        "location": LEAF,
        "zones": st.lists(st.sampled_from(["1", "2", "3"]) | LEAF) | LEAF,
        "tags": LEAF,
        "sku": _objects(name=LEAF, capacity=LEAF, tier=LEAF),
        "properties": _objects(
            orchestrationMode=LEAF,
            singlePlacementGroup=LEAF,
            platformFaultDomainCount=LEAF,
            scaleInPolicy=_objects(rules=st.lists(SCALARS) | LEAF, forceDeletion=LEAF),
            upgradePolicy=_objects(
                mode=LEAF,
                rollingUpgradePolicy=_objects(
                    maxBatchInstancePercent=LEAF, pauseTimeBetweenBatches=LEAF
                ),
            ),
            scheduledEventsPolicy=_objects(userInitiatedReboot=_objects(automaticallyApprove=LEAF)),
            virtualMachineProfile=_objects(
                priority=LEAF,
                evictionPolicy=LEAF,
                osProfile=_objects(computerNamePrefix=LEAF, windowsConfiguration=LEAF),
                scheduledEventsProfile=_objects(
                    terminateNotificationProfile=NOTICE, osImageNotificationProfile=NOTICE
                ),
            ),
        ),
    },
)
