"""What the endpoint answers, HTTP framing aside: at once where it can, otherwise later."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec
from msgspec import Struct

from lastcall.app.authority import Authority
from lastcall.app.directory import Directory, Published
from lastcall.app.events import Approval
from lastcall.app.platform import Platform
from lastcall.engine.document import document
from lastcall.engine.errors import DomainError
from lastcall.engine.model import Machine, MachineId, ScopeId
from lastcall.metadata.answers import RefusedError, encode_answer, encode_failure
from lastcall.metadata.identity import caller
from lastcall.metadata.options import Options
from lastcall.metadata.rate import RateLimit
from lastcall.metadata.routes import (
    Hanging,
    ReadEvents,
    ReadInstance,
    ReadToken,
    ReadVersions,
    Request,
    StartEvents,
    Target,
    Wish,
    parse_wish,
)
from lastcall.metadata.versions import INSTANCE_VERSIONS
from lastcall.wire.scheduledevents import encode_document, parse_start_requests

LEARNED_MAX = 1024
LEARNED_BYTES_MAX = 2048

APPROVED = encode_answer(200, b"")
VERSIONS = encode_answer(200, msgspec.json.encode({"apiVersions": INSTANCE_VERSIONS}))


class Later(Struct, frozen=True):
    """An answer that takes time: what `work` gives or, when it is done, `answer`.

    `is_vigil`: worth nothing once the client has gone.
    """

    work: Awaitable[Any]
    answer: bytes | None = None
    is_vigil: bool = False


def render(published: Published, version: str) -> bytes:
    """Return the whole answer with a scope's document, and keep it ready for the next reader."""
    body = encode_document(document(published.scope), version)
    published.ready[version] = answer = encode_answer(200, body)
    return answer


def refresh(published: Published) -> None:
    """Render what readers have asked for before.

    Nothing is ready in a scope that nobody watches, so that its next reader turns events on.
    """
    if published.scope.watched_at is None:
        published.ready.clear()
    for version in published.ready:
        render(published, version)


class Endpoint:
    """Answers requests. `learned` are whole requests, by their bytes, and what they ask for.

    Clients poll with the same bytes over and over. What the bytes ask for never changes, and who
    is asking is not remembered with them, so they serve every connection alike.
    """

    def __init__(
        self, platform: Platform, options: Options, authority: Authority | None = None
    ) -> None:
        self._platform = platform
        self._options = options
        self._authority = authority
        self._rate = RateLimit()
        self._approving: set[asyncio.Future[Any]] = set()
        self.directory: Directory = platform.directory
        self.learned: dict[bytes, Target] = {}

    def answer(self, request: Request, ordinal: int | None) -> bytes | Later:
        """Answer a request that came in at an address; refusals are answers too."""
        try:
            wish = parse_wish(request, self._options)
            machine_id = caller(self.directory, ordinal, wish_selector(wish))
            self._count(machine_id)
            if isinstance(wish, ReadEvents) and wish.hanging is None:
                self._learn(request, wish.target)
            return self._grant(wish, machine_id)
        except (RefusedError, DomainError) as error:
            return encode_failure(error)

    def published_for(self, target: Target, ordinal: int | None) -> Published | None:
        """Return whose document a learned request asks for; None where the answer is a refusal."""
        try:
            return self.directory.scope_of(caller(self.directory, ordinal, target.selector))
        except (RefusedError, DomainError):
            return None

    async def finish(self) -> None:
        """Wait for the approvals that are being recorded."""
        await asyncio.gather(*self._approving, return_exceptions=True)

    def _count(self, machine_id: MachineId) -> None:
        if self._platform.realism.rate_limit:
            self._rate.count(machine_id, asyncio.get_running_loop().time())

    def _learn(self, request: Request, target: Target) -> None:
        raw = request.raw
        if raw is None or len(raw) > LEARNED_BYTES_MAX or request.is_last:
            return
        if self._platform.realism.rate_limit:
            return  # Every request has to be counted.
        if len(self.learned) >= LEARNED_MAX:
            del self.learned[next(iter(self.learned))]
        self.learned[raw] = target

    def _grant(self, wish: Wish, machine_id: MachineId) -> bytes | Later:
        published = self.directory.scope_of(machine_id)
        assert published is not None, "a caller is in the directory"
        match wish:
            case ReadEvents(target, None) if published.scope.watched_at is not None:
                return self._read(published, target.version)
            case ReadEvents(target, hanging):
                work = self._await_document(published, machine_id, target.version, hanging)
                return Later(work, is_vigil=hanging is not None)
            case StartEvents(_, body):
                event_ids = parse_start_requests(body)
                name = published.scope.machines[machine_id].name
                return self._approve(Approval(published.scope.id, event_ids, name))
            case ReadInstance():
                machine = published.scope.machines[machine_id]
                return Later(self._read_instance(machine, published.scope.id, wish))
            case ReadVersions():
                return VERSIONS
            case ReadToken():
                return Later(self._issue(published.scope.machines[machine_id], wish))

    def _read(self, published: Published, version: str) -> bytes:
        published.touched = True
        return published.ready.get(version) or render(published, version)

    async def _await_document(
        self, published: Published, machine_id: MachineId, version: str, hanging: Hanging | None
    ) -> bytes:
        known = published.scope.incarnation
        if published.scope.watched_at is None:
            await self._platform.watch(published)
        if hanging is not None:
            wanted = known if hanging.incarnation is None else hanging.incarnation
            await self._change(published, machine_id, wanted, hanging.timeout_s)
        if self.directory.scope_of(machine_id) is not published:
            raise RefusedError(404, "Not found. The instance has been deleted.")
        return self._read(published, version)

    async def _change(
        self, published: Published, machine_id: MachineId, incarnation: int, timeout_s: int
    ) -> None:
        """Wait until the document is another one, the machine is gone, or time is up."""
        changed = asyncio.Event()

        def look(_published: Published) -> None:
            is_gone = self.directory.scope_of(machine_id) is not published
            if is_gone or published.scope.incarnation != incarnation:
                changed.set()

        look(published)
        published.listeners.append(look)
        try:
            async with asyncio.timeout(timeout_s):
                await changed.wait()
        except TimeoutError:
            pass
        finally:
            published.listeners.remove(look)

    def _approve(self, approval: Approval) -> Later:
        # It counts even if its sender does not stay for the answer: waiting can be given up, what
        # is being recorded cannot.
        recording = asyncio.ensure_future(self._platform.approve(approval))
        self._approving.add(recording)
        recording.add_done_callback(self._approving.discard)
        return Later(recording, answer=APPROVED)

    async def _read_instance(
        self, machine: Machine, scope_id: ScopeId, wish: ReadInstance
    ) -> bytes:
        from lastcall.metadata import details  # noqa: PLC0415

        return await details.read_instance(self._platform, machine, scope_id, wish)

    async def _issue(self, machine: Machine, wish: ReadToken) -> bytes:
        from lastcall.metadata import details  # noqa: PLC0415

        if self._authority is None:
            raise RefusedError(404, "Not found")
        return await details.issue_token(self._platform, self._authority, machine, wish)


def wish_selector(wish: Wish) -> str | None:
    """Return whom the path of a request names."""
    return wish.target.selector if isinstance(wish, ReadEvents) else wish.selector
