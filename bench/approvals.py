"""Durable approvals against bare SQLite commits of the same rows with the same grouping."""

import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

import uvloop

from bench.report import Row
from bench.server import Server, running

CONNECTIONS = 64
SETS = 4
PER_SET = 1000


SCHEMA = """
CREATE TABLE scopes (id TEXT PRIMARY KEY, version INTEGER, due_at INTEGER) WITHOUT ROWID;
CREATE INDEX scopes_due ON scopes (due_at);
CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, scope_id TEXT, body BLOB);
CREATE INDEX events_scope ON events (scope_id);
CREATE TABLE history (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, scope_id TEXT, event_id TEXT, machine_id TEXT, body BLOB
);
CREATE INDEX history_event ON history (event_id);
CREATE INDEX history_machine ON history (machine_id);
"""
TOUCH_SCOPE = "UPDATE scopes SET version = version + 1 WHERE id = ?"
PUT_EVENT = "UPDATE events SET body = ? WHERE id = ?"
PUT_LINE = "INSERT INTO history (scope_id, event_id, machine_id, body) VALUES (?, ?, ?, ?)"


def measure() -> list[Row]:
    """Approve every Terminate event but one in each group, so that none starts meanwhile."""
    with running() as server:
        requests = _prepare(server)
        ours = uvloop.run(_approve_all(server, requests))
    reference = _bare_sqlite(len(requests))
    ratio = ours / reference
    return [
        Row(
            f"POST approve, on disk before the 200, {CONNECTIONS} connections",
            f"{ours:,.0f}/s",
            f"bare SQLite, same rows, {CONNECTIONS} per commit: {reference:,.0f}/s",
            ratio,
            ">= 0.5",
            ratio >= 0.5,
        )
    ]


def _prepare(server: Server) -> list[bytes]:
    requests: list[bytes] = []
    for number in range(SETS):
        name = f"set{number}"
        server.put_set(name, PER_SET)
        server.settle(name)
        _, scopes = server.call("GET", "/lastcall/v1/scopes?limit=1000")
        groups = [scope for scope in scopes["value"] if scope["set"].endswith(f"/{name}")]
        for group in groups:
            server.events(group["members"][0])
        body = {"instanceIds": ["*"]}
        server.call("POST", f"{server.set_path(name)}/delete?api-version=2024-07-01", body)
        for group in groups:
            instance = group["members"][0]
            for event in server.events(instance)["Events"][1:]:
                requests.append(_post(instance, event["EventId"]))
    return requests


def _post(instance: str, event_id: str) -> bytes:
    body = b'{"StartRequests":[{"EventId":"%s"}]}' % event_id.encode()
    path = f"/vm/{instance}/metadata/scheduledevents?api-version=2020-07-01".encode()
    return (
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nMetadata: true\r\nContent-Length: %d\r\n\r\n%s"
        % (path, len(body), body)
    )


class _Client(asyncio.Protocol):
    """Sends the next request as soon as the last is answered."""

    def __init__(self, work: list[bytes], done: asyncio.Future[None]) -> None:
        self.work, self.done = work, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        assert data.startswith(b"HTTP/1.1 200"), data
        self._next()

    def _next(self) -> None:
        if self.work:
            self.transport.write(self.work.pop())
        elif not self.done.done():
            self.done.set_result(None)


async def _approve_all(server: Server, requests: list[bytes]) -> float:
    loop = asyncio.get_running_loop()
    host, port = server.metadata.removeprefix("http://").split(":")
    work, count = list(requests), len(requests)
    finished: list[asyncio.Future[None]] = []
    started = time.perf_counter()
    for _ in range(CONNECTIONS):
        done: asyncio.Future[None] = loop.create_future()
        finished.append(done)
        await loop.create_connection(lambda done=done: _Client(work, done), host, int(port))
    await asyncio.gather(*finished)
    return count / (time.perf_counter() - started)


def _bare_sqlite(count: int) -> float:
    """Write what an approval writes: its event, its scope, a line of history."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(SCHEMA)
        guid = "00000000-0000-4000-8000-{:012d}"
        body = b"x" * 480
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO scopes VALUES (?, 1, 1)",
            [(guid.format(n // 100),) for n in range(0, count, 100)],
        )
        connection.executemany(
            "INSERT INTO events (id, scope_id, body) VALUES (?, ?, ?)",
            [(guid.format(n), guid.format(n // 100), body) for n in range(count)],
        )
        connection.execute("COMMIT")
        started = time.perf_counter()
        for first in range(0, count, CONNECTIONS):
            group = range(first, min(count, first + CONNECTIONS))
            connection.execute("BEGIN IMMEDIATE")
            for n in group:
                scope, event = guid.format(n // 100), guid.format(n)
                connection.execute(TOUCH_SCOPE, (scope,))
                connection.execute(PUT_EVENT, (body, event))
                connection.execute(PUT_LINE, (scope, event, event, body[:280]))
            connection.execute("COMMIT")
        elapsed = time.perf_counter() - started
        connection.close()
    return count / elapsed
