"""From a delete request to a Terminate that a hanging GET sees, against one fsynced commit."""

import http.client
import json
import socket
import sqlite3
import statistics
import tempfile
import threading
import time
from pathlib import Path

from bench.report import Row
from bench.server import API, Server, running

ROUNDS = 300
SCALE_IN = 1000


def measure() -> list[Row]:
    """Measure one deletion many times, then a scale-in of ten full placement groups."""
    with running() as server:
        return [_latency(server), _scale_in(server)]


def _latency(server: Server) -> Row:
    server.put_set("lat", ROUNDS + 1)
    server.settle("lat")
    _, listed = server.call("GET", "/lastcall/v1/scopes?limit=1000")
    groups = [scope for scope in listed["value"] if scope["set"].endswith("/lat")]
    for group in groups:
        server.events(group["members"][0])
    host = server.portal.removeprefix("http://")
    arm = http.client.HTTPConnection(host)
    taken: list[float] = []
    for number in range(ROUNDS):
        name = f"lat_{number}"
        incarnation = server.events(name)["DocumentIncarnation"]
        seen = _Watcher(server.metadata, name, incarnation)
        started = time.perf_counter()
        body = json.dumps({"instanceIds": [str(number)]})
        arm.request(
            "POST",
            f"{server.set_path('lat')}/delete?{API}",
            body,
            {"content-type": "application/json"},
        )
        arm.getresponse().read()
        taken.append(seen.at() - started)
    ours = statistics.quantiles(taken, n=100)[98]
    commit = _commit_p99()
    ratio = ours / commit
    return Row(
        "delete request to Terminate in a hanging GET, p99",
        f"{ours * 1e3:.2f} ms (median {statistics.median(taken) * 1e3:.2f} ms)",
        f"one fsynced commit, p99: {commit * 1e3:.2f} ms",
        ratio,
        "<= 3",
        ratio <= 3,
    )


class _Watcher:
    """A hanging GET in a thread of its own."""

    def __init__(self, metadata: str, name: str, incarnation: int) -> None:
        host, port = metadata.removeprefix("http://").split(":")
        self._socket = socket.create_connection((host, int(port)))
        path = (
            f"/vm/{name}/metadata/scheduledevents?api-version=2020-07-01"
            f"&wait_for_change=true&last_incarnation={incarnation}&timeout_sec=30"
        )
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nMetadata: true\r\n\r\n".encode())
        self._at = 0.0
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()
        time.sleep(0.005)  # so that the GET hangs before the deletion is asked for

    def _wait(self) -> None:
        data = self._socket.recv(65536)
        self._at = time.perf_counter()
        assert b"Terminate" in data, data
        self._socket.close()

    def at(self) -> float:
        self._thread.join()
        return self._at


def _commit_p99() -> float:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "one.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
        taken = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            connection.execute("INSERT INTO t (body) VALUES (?)", (b"x" * 500,))
            taken.append(time.perf_counter() - started)
        connection.close()
    return statistics.quantiles(taken, n=100)[98]


def _scale_in(server: Server) -> Row:
    one = statistics.median(_remove(server, f"one{n}", 1) for n in range(5))
    many = _remove(server, "many", SCALE_IN)
    ratio = many / one
    return Row(
        f"scale-in of {SCALE_IN} instances in 10 placement groups, until all events are visible",
        f"{many * 1e3:.0f} ms",
        f"scale-in of one: {one * 1e3:.1f} ms",
        ratio,
        "<= 20",
        ratio <= 20,
    )


def _remove(server: Server, name: str, count: int) -> float:
    server.put_set(name, count)
    server.settle(name)
    _, listed = server.call("GET", "/lastcall/v1/scopes?limit=1000")
    groups = [scope for scope in listed["value"] if scope["set"].endswith(f"/{name}")]
    for group in groups:
        server.events(group["members"][0])
    started = time.perf_counter()
    server.put_set(name, 0)
    # The answer comes after the commit, and the documents are refreshed before the answer.
    taken = time.perf_counter() - started
    seen = sum(len(server.events(group["members"][0])["Events"]) for group in groups)
    assert seen == count, f"{seen} of {count} events are visible"
    return taken
