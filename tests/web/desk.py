"""A whole control plane in memory, on a clock that stands still, spoken to over ASGI."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from starlette.applications import Starlette

from lastcall.app.platform import Platform, World
from lastcall.clock import SystemClock, VirtualClock
from lastcall.drivers.simulated import Script, SimulatedDriver
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.ports import Clock
from lastcall.store.memory import MemoryStore
from lastcall.web.apps import Account, Routes, SignIn, build_app
from lastcall.web.routing import Route
from tests.app.signing import an_authority

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
TENANT = "00000000-0000-0000-0000-0000000000aa"
CONTROL = "https://127.0.0.1:7443"
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
VERSION = "2024-07-01"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Group"
ROOT = f"{GROUP}/providers/Microsoft.Compute"
SETS = f"{ROOT}/virtualMachineScaleSets"
WEB = f"{SETS}/web"
OURS = "/lastcall/v1"


def a_model(capacity: int = 2, **profile: Any) -> dict[str, Any]:
    return {
        "location": "West US",
        "sku": {"name": "Standard_D2s_v5", "capacity": capacity},
        "properties": {"virtualMachineProfile": profile},
    }


def with_notice(notice: Any = "PT10M", capacity: int = 2) -> dict[str, Any]:
    terminate = {"enable": True, "notBeforeTimeout": notice}
    events = {"terminateNotificationProfile": terminate}
    return a_model(capacity, scheduledEventsProfile=events)


class Desk:
    """The platform, its application and a client of it."""

    def __init__(self, platform: Platform, store: MemoryStore, app: Starlette) -> None:
        self.platform = platform
        self.store = store
        self.app = app
        # A server logs what an application raises; the client sees the answer alone.
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7080")

    @property
    def routes(self) -> tuple[Route, ...]:
        routes = self.app.router.default
        assert isinstance(routes, Routes)
        return routes.routes

    async def send(self, method: str, url: str, body: Any = None, **headers: str) -> Any:
        """Send one request; `if_match` becomes the header If-Match."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, bytes):
            given = {"content-type": "application/json", **given}
            return await self.http.request(method, url, content=body, headers=given)
        return await self.http.request(method, url, json=body, headers=given)

    async def arm(
        self, method: str, path: str, body: Any = None, version: str = VERSION, **headers: str
    ) -> Any:
        """Send one request to the control plane, then let everything happen that is due."""
        mark = "&" if "?" in path else "?"
        answer = await self.send(method, f"{path}{mark}api-version={version}", body, **headers)
        await self.settle()
        return answer

    async def settle(self, by: timedelta = timedelta(0)) -> None:
        """Let everything happen that is due, and time pass."""
        await self.platform.advance(by)

    async def watch(self) -> None:
        """Let somebody read every events document."""
        for published in tuple(self.platform.directory.scopes()):
            await self.platform.watch(published)

    def dump(self) -> str:
        """Return all that is recorded but who asked for what: of refusals, too, that is kept."""
        recorded = vars(self.store._shelf).items()
        return repr({name: kept for name, kept in recorded if "activit" not in name})


@asynccontextmanager
async def a_desk(
    clock: Clock | None = None,
    store: MemoryStore | None = None,
    script: Script | None = None,
    *,
    group: str = GROUP,
) -> AsyncIterator[Desk]:
    kept = store or MemoryStore()
    world = World(
        store=kept,
        driver=SimulatedDriver(script),
        clock=clock or VirtualClock(NOON),
        ids=RandomIds(1),
    )
    platform = Platform(world, Policy())
    await platform.start()
    account = Account(subscription=SUBSCRIPTION, tenant=TENANT)
    app = build_app(platform, account, a_sign_in(platform), metadata_url=lambda m: f"x/{m.name}")
    desk = Desk(platform, kept, app)
    async with desk.http:
        if group:
            url = f"{group}?api-version={VERSION}"
            made = await desk.send("PUT", url, {"location": "westus"})
            assert made.status_code in (200, 201)
        yield desk
    await platform.stop()


def a_sign_in(platform: Platform) -> SignIn:
    return SignIn(an_authority(platform), CONTROL)


def a_real_clock() -> Clock:
    return SystemClock()
