"""The one subscription, its tenant, and the regions that it can use."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from starlette.responses import Response

from lastcall.web.account import Account
from lastcall.web.arm.front_door import SUBSCRIPTION, arm_route
from lastcall.web.routing import Call, Route, json
from lastcall.wire.arm import encode_list
from lastcall.wire.catalogue import Region, catalogue
from lastcall.wire.versions import RESOURCES

Json = dict[str, Any]


class Subscriptions:
    """Handlers for what stands above resource groups."""

    def __init__(self, account: Account) -> None:
        self._account = account

    async def list_all(self, _call: Call) -> Response:
        """List the subscriptions: there is one."""
        return json(encode_list([self._shown()]) | {"count": {"type": "Total", "value": 1}})

    async def show(self, _call: Call) -> Response:
        """Show the subscription."""
        return json(self._shown())

    async def list_tenants(self, _call: Call) -> Response:
        """List the tenants: there is one."""
        tenant = self._account.tenant
        shown = {
            "id": f"/tenants/{tenant}",
            "tenantId": tenant,
            "countryCode": "US",
            "displayName": "lastcall",
            "defaultDomain": "lastcall.localhost",
            "domains": ["lastcall.localhost"],
            "tenantCategory": "Home",
        }
        return json(encode_list([shown]))

    async def list_locations(self, _call: Call) -> Response:
        """List the regions."""
        root = f"/subscriptions/{self._account.subscription}"
        return json(encode_list(_location(root, each) for each in catalogue().regions))

    def _shown(self) -> Json:
        return {
            "id": f"/subscriptions/{self._account.subscription}",
            "authorizationSource": "RoleBased",
            "managedByTenants": [],
            "subscriptionId": self._account.subscription,
            "tenantId": self._account.tenant,
            "displayName": "lastcall",
            "state": "Enabled",
            "subscriptionPolicies": {
                "locationPlacementId": "Public_2014-09-01",
                "quotaId": "PayAsYouGo_2014-09-01",
                "spendingLimit": "Off",
            },
        }


def _location(root: str, region: Region) -> Json:
    metadata: Json = {
        "regionType": "Physical",
        "regionCategory": region.category,
        "geography": region.geography,
        "geographyGroup": region.geography_group,
        "longitude": region.longitude,
        "latitude": region.latitude,
        "physicalLocation": region.physical,
        "pairedRegion": [
            {"name": paired, "id": f"{root}/locations/{paired}"}
            for paired in [region.paired]
            if paired
        ],
    }
    shown: Json = {
        "id": f"{root}/locations/{region.name}",
        "name": region.name,
        "type": "Region",
        "displayName": region.display,
        "regionalDisplayName": f"({region.geography_group}) {region.display}",
        "metadata": metadata,
    }
    if region.zones:
        shown["availabilityZoneMappings"] = [
            {"logicalZone": str(zone), "physicalZone": f"{region.name}-az{zone}"}
            for zone in range(1, region.zones + 1)
        ]
    return shown


def routes(account: Account) -> Iterator[Route]:
    """Yield every operation on subscriptions and tenants."""
    handlers = Subscriptions(account)
    route = partial(arm_route, account, versions=RESOURCES)
    yield route("GET", "/subscriptions", handlers.list_all, "List the subscriptions")
    yield route("GET", SUBSCRIPTION, handlers.show, "Show the subscription")
    yield route("GET", "/tenants", handlers.list_tenants, "List the tenants")
    yield route("GET", f"{SUBSCRIPTION}/locations", handlers.list_locations, "List the regions")
