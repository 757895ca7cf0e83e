"""What Az.Compute's cmdlets put on the wire, and how they wait for what comes back.

PowerShell itself is not run. The requests are those of its public recordings: paths with their
casing, api-version last, headers, indented bodies with CRLF and never a null; the waiting follows
the rules of the library that it uses.
"""

import json
import re
from datetime import timedelta
from typing import Any

from tests.web.desk import SUBSCRIPTION, Desk

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/crptestps4317"
VMSS = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/vmsscrptestps4317"
BASE = "http://127.0.0.1:7080"
CLIENT_ID = "b5a1cb0c-7d3c-4a3b-8c5e-1f2f3a4b5c6d"
AGENT = (
    "FxVersion/4.700.22.51303 OSName/Windows OSVersion/Microsoft.Windows.10.0.22621"
    " Microsoft.Azure.Management.Compute.ComputeManagementClient/60.0.0"
)
# Anything else is thrown at the user.
ACCEPTED = {"PUT": {200, 201}, "PATCH": {200}, "DELETE": {200, 202, 204}, "POST": {200, 202}}
ENDED = {"succeeded", "failed", "canceled"}
WAIT_DEFAULT_S = 30
OPERATION_NAME = re.compile(r"operations/([a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})")
READ_ONLY = ("id", "name", "type", "etag")
READ_ONLY_PROPERTIES = ("provisioningState", "uniqueId", "timeCreated")


class CloudError(Exception):
    """What a cmdlet throws: the answer that it did not accept."""

    def __init__(self, answer: Any) -> None:
        super().__init__(answer.text)
        self.status = answer.status_code
        self.error = answer.json()["error"]


class Cmdlet:
    """Sends one request as a cmdlet does, and waits for its operation on the desk's clock."""

    def __init__(self, desk: Desk, api_version: str = "2022-11-01") -> None:
        self._desk = desk
        self._api_version = api_version
        self.first: Any = None
        self.polls: list[Any] = []
        self.closing: Any = None
        self.waited_s: list[float] = []

    @property
    def name(self) -> str:
        """The name that a cmdlet prints, cut from the last address that it followed."""
        found = OPERATION_NAME.search(self.first.headers["azure-asyncoperation"])
        return found[1] if found else ""

    async def run(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """Send, then follow to the end; return what the cmdlet has in the end."""
        self.first = await self._send(method, path, body, query)
        if self.first.status_code not in ACCEPTED[method]:
            raise CloudError(self.first)
        if method in ("PUT", "PATCH"):
            await self._follow_write(path)
        elif self.first.status_code == 202:
            await self._poll()
            self.closing = await self._get(self.first.headers["location"])
            if self.closing.status_code != 200:
                raise CloudError(self.closing)
        return self.closing or self.first

    async def _send(self, method: str, path: str, body: Any, query: dict[str, str]) -> Any:
        headers = {
            "x-ms-client-request-id": CLIENT_ID,
            "Accept-Language": "en-US",
            "User-Agent": AGENT,
        }
        content = None
        if body is not None:
            content = indented(body)
            headers["Content-Type"] = "application/json; charset=utf-8"
        asked = "&".join([f"{name}={value}" for name, value in query.items()])
        url = f"{BASE}{path}?{asked}{'&' if asked else ''}api-version={self._api_version}"
        return await self._request(method, url, headers, content)

    async def _follow_write(self, path: str) -> None:
        state = self.first.json()["properties"]["provisioningState"]
        if state != "Succeeded":
            await self._poll()
        self.closing = await self._get(f"{BASE}{path}?api-version={self._api_version}")
        assert self.closing.status_code == 200

    async def _poll(self) -> None:
        """Wait as long as the last Retry-After says, half a minute where none ever came."""
        url = self.first.headers["azure-asyncoperation"]
        assert url.startswith(BASE), "an absolute address"
        wait_s = float(self.first.headers.get("retry-after", WAIT_DEFAULT_S))
        for _ in range(10_000):
            self.waited_s.append(wait_s)
            await self._desk.settle(timedelta(seconds=wait_s))
            poll = await self._get(url)
            assert poll.status_code == 200
            self.polls.append(poll.json())
            status = poll.json()["status"].lower()
            if status in ENDED:
                if status != "succeeded":
                    raise CloudError(poll)
                return
            wait_s = float(poll.headers.get("retry-after", wait_s))
        raise AssertionError("it never ends")

    async def _get(self, url: str) -> Any:
        headers = {"x-ms-client-request-id": CLIENT_ID, "User-Agent": AGENT}
        return await self._request("GET", url, headers, None)

    async def _request(
        self, method: str, url: str, headers: dict[str, str], content: bytes | None
    ) -> Any:
        request = self._desk.http.build_request(method, url, content=content, headers=headers)
        for name in ("accept", "accept-encoding"):  # The library of the tests adds them.
            request.headers.pop(name, None)
        answer = await self._desk.http.send(request)
        await self._desk.settle()
        return answer


def indented(body: Any) -> bytes:
    """Write JSON as these clients do: two spaces, CRLF, no nulls."""
    text = json.dumps(body, indent=2)
    assert "null" not in text
    return text.replace("\n", "\r\n").encode()


def a_config(**profile: Any) -> dict[str, Any]:
    """Return what New-AzVmssConfig and its neighbours build, as it was recorded."""
    subnet = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
    address = {"name": "test", "properties": {"subnet": {"id": subnet}, "primary": False}}
    network = {
        "primary": True,
        "enableAcceleratedNetworking": False,
        "ipConfigurations": [address],
        "enableIPForwarding": False,
    }
    image = {"publisher": "MicrosoftWindowsServer", "offer": "WindowsServer"}
    disk = {"caching": "None", "writeAcceleratorEnabled": False, "createOption": "FromImage"}
    return {
        "sku": {"name": "Standard_D2s_v3", "capacity": 2},
        "properties": {
            "upgradePolicy": {"mode": "Automatic"},
            "virtualMachineProfile": {
                "osProfile": {
                    "computerNamePrefix": "test",
                    "adminUsername": "admin01",
                    "adminPassword": "Not-A-Real-1",
                },
                "storageProfile": {
                    "imageReference": {**image, "sku": "2019-Datacenter", "version": "latest"},
                    "osDisk": disk,
                },
                "networkProfile": {
                    "networkInterfaceConfigurations": [{"name": "test", "properties": network}]
                },
                **profile,
            },
        },
        "location": "EastUS",
        "tags": {},
    }


def terminate(**profile: Any) -> dict[str, Any]:
    """Return the profile of terminate notifications, as a model has it."""
    return {"scheduledEventsProfile": {"terminateNotificationProfile": profile}}


def as_read(shown: dict[str, Any]) -> dict[str, Any]:
    """Return a model as the cmdlet puts it back: without what only the service writes."""
    model = {name: value for name, value in shown.items() if name not in READ_ONLY}
    properties = model["properties"].items()
    model["properties"] = {k: v for k, v in properties if k not in READ_ONLY_PROPERTIES}
    model["properties"]["virtualMachineProfile"].pop("timeCreated", None)
    return model
