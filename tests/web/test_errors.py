import asyncio
import logging

from starlette.exceptions import HTTPException
from starlette.routing import Route

from lastcall.app.platform import Platform, World
from lastcall.clock import VirtualClock
from lastcall.drivers.simulated import SimulatedDriver
from lastcall.engine.errors import ConflictError, DomainError
from lastcall.engine.policy import Policy
from lastcall.ids import RandomIds
from lastcall.ports import Commit, StoreUnavailableError
from lastcall.store.memory import MemoryStore
from lastcall.web.apps import Account, build_app
from lastcall.web.errors import STATUS_OF, refusal
from tests.web.desk import NOON, OURS, SUBSCRIPTION, VERSION, WEB, Desk, a_desk, a_model, a_sign_in


class SilentStore(MemoryStore):
    """A store that has lost its disk, or its mind."""

    def __init__(self, trouble):
        super().__init__()
        self.trouble = trouble

    async def transact(self, work):
        raise self.trouble


def kinds(kind):
    return {kind}.union(*(kinds(below) for below in kind.__subclasses__()))


def test_every_refusal_has_a_status():
    ours = {kind for kind in kinds(DomainError) if kind.__module__.startswith("lastcall.")}

    assert ours == set(STATUS_OF)
    assert all(refusal_of(kind) for kind in STATUS_OF)


def refusal_of(kind):
    return STATUS_OF[kind] in (*range(400, 500), 501)


def test_a_refusal_says_where_it_applies():
    answer = refusal(ConflictError("No.", target="here"))

    assert answer.status_code == 409
    assert b'"target": "here"' in answer.body


async def test_a_store_in_trouble_is_a_503_that_says_when_to_come_back():
    async with a_desk() as calm:
        world = World(
            store=SilentStore(StoreUnavailableError("disk full")),
            driver=SimulatedDriver(),
            clock=VirtualClock(NOON),
            ids=RandomIds(1),
        )
        platform = Platform(world, Policy())
        app = build_app(
            platform, Account(subscription=SUBSCRIPTION, tenant="t"), a_sign_in(platform)
        )
        desk = Desk(platform, calm.store, app)

        answer = await desk.send("PUT", f"{WEB}?api-version=2024-07-01", a_model())

        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["code"] == "ServiceUnavailable"
        assert "disk" not in answer.text


async def test_a_bug_is_a_500_without_details_and_is_logged(caplog):
    world = World(
        store=SilentStore(ZeroDivisionError("secret")),
        driver=SimulatedDriver(),
        clock=VirtualClock(NOON),
        ids=RandomIds(1),
    )
    platform = Platform(world, Policy())
    app = build_app(platform, Account(subscription=SUBSCRIPTION, tenant="t"), a_sign_in(platform))
    desk = Desk(platform, world.store, app)

    with caplog.at_level(logging.ERROR):
        answer = await desk.send("PUT", f"{WEB}?api-version=2024-07-01", a_model())

    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "InternalServerError"
    assert "secret" not in answer.text
    assert "secret" in caplog.text


async def test_further_routes_are_refused_in_the_same_shape():
    def raises(error):
        async def endpoint(_request):
            raise error

        return endpoint

    world = World(
        store=MemoryStore(), driver=SimulatedDriver(), clock=VirtualClock(NOON), ids=RandomIds(1)
    )
    platform = Platform(world, Policy())
    more = [
        Route("/a", raises(ConflictError("No."))),
        Route("/b", raises(StoreUnavailableError("No."))),
        Route("/c", raises(HTTPException(404, "Nothing."))),
        Route("/d", raises(ZeroDivisionError("secret"))),
    ]
    app = build_app(
        platform, Account(subscription=SUBSCRIPTION, tenant="t"), a_sign_in(platform), more=more
    )
    desk = Desk(platform, world.store, app)

    codes = [
        (await desk.send("GET", path)).json()["error"]["code"] for path in ("/a", "/b", "/c", "/d")
    ]

    assert codes == ["Conflict", "ServiceUnavailable", "NotFound", "InternalServerError"]
    assert (await desk.send("GET", f"{OURS}/clock")).status_code == 200


async def test_a_client_that_goes_in_the_middle_of_its_body_changes_nothing(desk):
    before = desk.dump()
    sent = []
    scope = {
        "type": "http",
        "method": "PUT",
        "scheme": "http",
        "path": WEB,
        "query_string": b"api-version=2024-07-01",
        "headers": [(b"host", b"127.0.0.1")],
    }

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await desk.app(scope, receive, send)

    assert sent[0]["status"] == 400
    assert desk.dump() == before


class FailingStore(MemoryStore):
    """A store whose disk is full, or gone, for a while."""

    def __init__(self):
        super().__init__()
        self.trouble = ""
        self.is_gone = False

    def transact(self, work):
        if not self.trouble:
            return super().transact(work)
        for observer in self._observers:
            observer(Commit(trouble=self.trouble))
        outcome = asyncio.get_running_loop().create_future()
        outcome.set_exception(StoreUnavailableError(self.trouble))
        return outcome

    async def read(self, work):
        if self.is_gone:
            raise StoreUnavailableError("disk I/O error")
        return await super().read(work)


async def test_a_server_that_can_record_nothing_is_not_ready_until_it_can_again():
    store = FailingStore()
    async with a_desk(store=store) as desk:
        store.trouble = "database or disk is full"
        assert (
            await desk.send("PUT", f"{WEB}?api-version={VERSION}", a_model())
        ).status_code == 503

        answer = await desk.send("GET", "/readyz")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json() == {"status": "not ready", "reason": "database or disk is full"}
        assert (await desk.send("GET", "/healthz")).status_code == 200

        store.trouble = ""
        assert (await desk.arm("PUT", WEB, a_model())).status_code == 201
        assert (await desk.send("GET", "/readyz")).json() == {"status": "ready"}


async def test_a_server_whose_store_cannot_be_read_is_not_ready():
    store = FailingStore()
    async with a_desk(store=store) as desk:
        store.is_gone = True
        answer = await desk.send("GET", "/readyz")
        store.is_gone = False

    assert answer.status_code == 503
    assert answer.json() == {"status": "not ready", "reason": "disk I/O error"}
