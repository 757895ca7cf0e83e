"""Both edges of one platform: the control plane over ASGI, the metadata endpoint over loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2

from lastcall.metadata.server import MetadataServer
from tests.web.desk import OURS, WEB, Desk, a_desk

NEWEST = "2020-07-01"
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


class World:
    """An owner at the control plane and guests at their metadata."""

    def __init__(self, desk: Desk, guest: httpx2.AsyncClient) -> None:
        self.desk = desk
        self._guest = guest

    async def arm(self, method: str, path: str, body: Any = None, **given: str) -> Any:
        return await self.desk.arm(method, path, body, **given)

    async def ours(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.desk.send(method, f"{OURS}/{path}", body)
        await self.wait(timedelta(0))
        return answer

    async def wait(self, by: timedelta) -> None:
        await self.desk.settle(by)

    async def ask(self, path: str, machine: str = "web_0", body: Any = None) -> Any:
        url = f"/vm/{machine}/metadata/{path}"
        if body is None:
            return await self._guest.get(url)
        return await self._guest.post(url, json=body)

    async def document(self, machine: str = "web_0", version: str = NEWEST) -> Any:
        answer = await self.ask(f"scheduledevents?api-version={version}", machine)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def events(self, machine: str = "web_0", version: str = NEWEST) -> Any:
        return (await self.document(machine, version))["Events"]

    async def approve(self, *events: str, machine: str = "web_0", version: str = NEWEST) -> Any:
        body = {"StartRequests": [{"EventId": each} for each in events]}
        answer = await self.ask(f"scheduledevents?api-version={version}", machine, body)
        await self.wait(timedelta(0))
        return answer

    async def names(self, scale_set: str = WEB) -> list[str]:
        listed = await self.arm("GET", f"{scale_set}/virtualMachines")
        return [entry["name"] for entry in listed.json()["value"]]

    async def status(self, answer: Any) -> str:
        followed = await self.desk.send("GET", answer.headers["azure-asyncoperation"])
        return followed.json()["status"]


@asynccontextmanager
async def a_world() -> AsyncIterator[World]:
    async with a_desk() as desk:
        server = MetadataServer(desk.platform)
        host, port = await server.start()
        base = f"http://{host}:{port}"
        async with httpx2.AsyncClient(base_url=base, headers={"Metadata": "true"}) as guest:
            yield World(desk, guest)
        await server.stop()
