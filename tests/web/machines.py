"""Machines that no scale set owns, as a client of the control plane makes them."""

from typing import Any

from lastcall.app import resources
from lastcall.wire.paths import group_path
from tests.web.desk import ROOT, SUBSCRIPTION, Desk

VM = f"{ROOT}/virtualMachines/db"
AVAILABILITY = f"{ROOT}/availabilitySets/pair"
SERVICE = f"{ROOT}/cloudServices/shop"
NEWEST = "2024-11-01"


async def a_group(desk: Desk, name: str = "Group") -> None:
    """Make a resource group, as whoever owns the subscription has done before."""
    path = group_path(SUBSCRIPTION, name)
    await desk.platform.transact(
        lambda tx, moment: resources.write(tx, path, {"location": "westus"}, moment)
    )


def a_vm(**properties: Any) -> dict[str, Any]:
    return {
        "location": "West US",
        "tags": {"team": "a"},
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {
                "imageReference": {"publisher": "Canonical", "offer": "Ubuntu", "sku": "22"},
                "osDisk": {"createOption": "fromImage", "name": None},
            },
            "osProfile": {
                "computerName": "db-host",
                "adminUsername": "azureuser",
                "adminPassword": "secret",
                "linuxConfiguration": {"disablePasswordAuthentication": True},
            },
            "networkProfile": {"networkInterfaces": [{"id": f"{ROOT}/networkInterfaces/nic"}]},
            **properties,
        },
    }


def with_notice(notice: Any = "PT10M", **properties: Any) -> dict[str, Any]:
    terminate = {"enable": True, "notBeforeTimeout": notice}
    events = {"terminateNotificationProfile": terminate}
    return a_vm(scheduledEventsProfile=events, **properties)


def in_set(path: str = AVAILABILITY, **properties: Any) -> dict[str, Any]:
    return a_vm(availabilitySet={"id": path}, **properties)


def a_service(**capacities: int) -> dict[str, Any]:
    roles = [
        {"name": name, "sku": {"name": "Standard_D1_v2", "tier": "Standard", "capacity": count}}
        for name, count in capacities.items()
    ]
    return {"location": "westus", "properties": {"roleProfile": {"roles": roles}}}
