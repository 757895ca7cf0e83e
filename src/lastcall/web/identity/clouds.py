"""GET /metadata/endpoints: what a client needs to know to use this cloud instead of the public."""

from typing import Any, Final

from starlette.responses import Response

from lastcall.web.identity.addresses import control_of
from lastcall.web.routing import Call, json
from lastcall.wire.versions import refuse_api_version

CLOUD: Final = "lastcall"
# It was another, shorter object first, then a list of clouds, and is one cloud now.
CLOUDS_SINCE: Final = "2018-05-01"
ONE_CLOUD_SINCE: Final = "2022-09-01"
FIRST_VERSION: Final = "1.0"
OLDEST_DATE: Final = "2015-01-01"


class Clouds:
    """The handler."""

    def __init__(self, control: str) -> None:
        self._control = control

    async def show(self, call: Call) -> Response:
        """Show the endpoints in the form of the version that is asked for."""
        version = call.query("api-version") or ""
        if version != FIRST_VERSION:
            refuse_api_version(version, OLDEST_DATE)
        base = control_of(call, self._control)
        if version < CLOUDS_SINCE:
            return json(first_endpoints(base))
        return json(endpoints(base) if version >= ONE_CLOUD_SINCE else [endpoints(base)])


def first_endpoints(base: str) -> dict[str, Any]:
    """Return the description that PowerShell asks for when it is told an ARM endpoint."""
    return {
        "galleryEndpoint": f"{base}/gallery",
        "graphEndpoint": f"{base}/graph",
        "portalEndpoint": base,
        "authentication": {"loginEndpoint": f"{base}/adfs", "audiences": [f"{base}/"]},
    }


def endpoints(base: str) -> dict[str, Any]:
    """Return the description of this cloud. What it does not have is at an address of its own."""
    return {
        "name": CLOUD,
        "portal": base,
        "resourceManager": base,
        "authentication": {
            "loginEndpoint": f"{base}/adfs",
            "audiences": [f"{base}/", base],
            # Terraform takes any other pair for an Azure Stack, which it refuses.
            "tenant": "common",
            "identityProvider": "AAD",
        },
        "graph": f"{base}/graph",
        "graphAudience": f"{base}/graph/",
        "microsoftGraphResourceId": f"{base}/graph/",
        "gallery": f"{base}/gallery",
        "batch": f"{base}/batch",
        "media": f"{base}/media",
        "sqlManagement": f"{base}/sql",
        "vmImageAliasDoc": f"{base}/aliases.json",
        "activeDirectoryDataLake": f"{base}/datalake",
        "appInsightsResourceId": f"{base}/insights",
        "appInsightsTelemetryChannelResourceId": f"{base}/insights/track",
        "appServiceResourceId": f"{base}/appservice",
        "attestationResourceId": f"{base}/attestation",
        "logAnalyticsResourceId": f"{base}/loganalytics",
        "ossrdbmsResourceId": f"{base}/ossrdbms",
        "ossrDbmsResourceId": f"{base}/ossrdbms",
        "synapseAnalyticsResourceId": f"{base}/synapse",
        "suffixes": {
            name: f"{service}.{CLOUD}.invalid"
            for name, service in (
                ("storage", "storage"),
                ("keyVaultDns", "vault"),
                ("mhsmDns", "managedhsm"),
                ("sqlServerHostname", "database"),
                ("acrLoginServer", "registry"),
                ("attestationEndpoint", "attest"),
                ("azureDataLakeStoreFileSystem", "datalakestore"),
                ("azureDataLakeAnalyticsCatalogAndJob", "datalakeanalytics"),
                ("mysqlServerEndpoint", "mysql"),
                ("postgresqlServerEndpoint", "postgres"),
                ("mariadbServerEndpoint", "mariadb"),
                ("storageSyncEndpointSuffix", "storagesync"),
                ("synapseAnalytics", "synapse"),
            )
        },
    }
