"""The default store: one SQLite file, one writer thread, group commit.

Transactions that wait while one is being committed are decided one after the other and committed
together: one fsync answers them all, and none is answered before it.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from lastcall.ports import Commit, Reader, StoreUnavailableError, Transaction
from lastcall.store.changes import Changes, commit_of
from lastcall.store.ledger import Ledger
from lastcall.store.queries import QUERIES, migrations
from lastcall.store.sqlite_shelf import SCOPES_CACHED_MAX, SqliteShelf

T = TypeVar("T")
Work = Callable[[Transaction], Any]
Outcome = tuple["asyncio.Future[Any]", Any, BaseException | None]

GROUP_MAX: Final = 256
BUSY_S: Final = 10.0
CACHE_KIB: Final = 65_536


class StoreVersionError(Exception):
    """The store was written by a newer lastcall."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file with the settings that make a commit mean what it says."""
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    # Ids are random, so a large fleet touches pages all over the file.
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema to the present version, one numbered step at a time."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    steps = migrations()
    if version > steps[-1][0]:
        raise StoreVersionError(
            f"The store has schema {version}, this lastcall knows {steps[-1][0]}: use a newer one."
        )
    for number, script in steps:
        if number > version:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;"
            )


class SqliteStore:
    """Implements `ports.Store`. Whoever opens it owns the file: no second server may."""

    def __init__(self, path: Path) -> None:
        self._writing = connect(path)
        migrate(self._writing)
        # A claim of a process that died is nobody's.
        self._writing.execute(QUERIES["release_effects"])
        self._shelf = SqliteShelf(self._writing, scopes_cached_max=SCOPES_CACHED_MAX)
        self._reading = connect(path)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="lastcall-read")
        self._queue: queue.SimpleQueue[tuple[Work, asyncio.Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._observers: list[Callable[[Commit], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        self._writer = threading.Thread(target=self._write, name="lastcall-write", daemon=True)
        self._writer.start()

    def transact(self, work: Callable[[Transaction], T]) -> "asyncio.Future[T]":
        """Run `work` in the writer's thread; its result is there when it is on disk."""
        self._loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = self._loop.create_future()
        if self._is_closed:
            outcome.set_exception(StoreUnavailableError("it is closed"))
        else:
            self._queue.put((work, outcome))
        return outcome

    async def read(self, work: Callable[[Reader], T]) -> T:
        """Run `work` in the reader's thread, on one snapshot."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, self._read, work)

    def observe(self, observer: Callable[[Commit], None]) -> None:
        """Call `observer` on the event loop after each commit."""
        self._observers.append(observer)

    async def close(self) -> None:
        """Commit what is queued, then close the file."""
        self._is_closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._writer.join)
        self._reader.shutdown()
        self._reading.close()
        self._writing.close()

    def _read(self, work: Callable[[Reader], T]) -> T:
        self._reading.execute("BEGIN")
        try:
            return work(Ledger(SqliteShelf(self._reading, scopes_cached_max=0)))
        except sqlite3.Error as trouble:
            raise StoreUnavailableError(str(trouble)) from trouble
        finally:
            if self._reading.in_transaction:
                self._reading.execute("ROLLBACK")

    def _write(self) -> None:
        closing = False
        while not closing:
            group = [self._queue.get()]
            while len(group) < GROUP_MAX and not self._queue.empty():
                group.append(self._queue.get())
            closing = None in group
            self._commit([entry for entry in group if entry is not None])

    def _commit(self, group: Sequence[tuple[Work, "asyncio.Future[Any]"]]) -> None:
        batch = Changes()
        outcomes: list[Outcome] = []
        for work, future in group:
            ledger = Ledger(self._shelf, (batch,))
            result, error = _outcome(partial(work, ledger))
            if error is None:
                batch.merge(ledger.changes)
            outcomes.append((future, result, error))
        commit = None
        if batch:
            history, lost = _outcome(partial(self._shelf.write, batch))
            if history is not None:
                # The changes are on disk: a failing look at the timers must not deny it.
                commit = commit_of(batch, history, _outcome(self._shelf.next_due)[0])
            elif len(group) > 1 and not isinstance(lost, StoreUnavailableError):
                # One of them cannot be written; the others shall not pay for it.
                for alone in group:
                    self._commit([alone])
                return
            else:
                commit = Commit(trouble=str(lost))
                outcomes = [(future, None, error or lost) for future, _, error in outcomes]
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, commit, outcomes)

    def _deliver(self, commit: Commit | None, outcomes: Sequence[Outcome]) -> None:
        try:
            if commit is not None:
                for observer in self._observers:
                    observer(commit)
        finally:
            for future, result, error in outcomes:
                _settle(future, result, error)


def _settle(future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if future.done():
        return  # Whoever asked has left; what was decided is recorded all the same.
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def _outcome(work: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Return a result or what went wrong: it belongs to whoever asked, and the writer goes on."""
    try:
        return work(), None
    except sqlite3.Error as trouble:
        return None, StoreUnavailableError(str(trouble))
    except BaseException as refusal:  # noqa: BLE001 - see above
        return None, refusal
