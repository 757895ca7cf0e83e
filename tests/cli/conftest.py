"""A real server in a thread, and commands run against it in this process."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lastcall.assembly import running
from lastcall.cli.main import main
from lastcall.settings import Address, Settings
from lastcall.statefolder import Endpoints

ANYWHERE = Address("127.0.0.1", 0)


class ThreadedServer:
    """A server on a virtual clock, in a thread of its own."""

    def __init__(self, state: Path, *, always_notify: bool = True) -> None:
        self.state = state
        self.always_notify = always_notify
        self.endpoints: Endpoints | None = None
        self.failure: BaseException | None = None
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._work)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(60)
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  # the test raises it
            self.failure = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        settings = Settings(
            state=self.state,
            control=ANYWHERE,
            portal=ANYWHERE,
            metadata=ANYWHERE,
            clock="virtual",
            always_notify=self.always_notify,
        )
        async with running(settings) as self.endpoints:
            self._ready.set()
            await self._stopped.wait()


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadedServer]:
    threaded = ThreadedServer(tmp_path / "state")
    threaded.start()
    yield threaded
    threaded.stop()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process."""
    monkeypatch.delenv("LASTCALL_STATE", raising=False)
    monkeypatch.delenv("LASTCALL_GROUP", raising=False)

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(arguments)
        out, err = capsys.readouterr()
        return Done(int(left.value.code or 0), out, err)

    return run


@pytest.fixture
def ask(run: Run, server: ThreadedServer) -> Run:
    """Run a command against the server."""
    return lambda *arguments: run(*arguments, "--state", str(server.state))
