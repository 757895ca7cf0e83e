"""Durable approvals against bare SQLite commits of the same rows with the same grouping."""

import contextlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.report import Row
from bench.server import Server, running

CONNECTIONS = 64
SETS = 4
PER_SET = 1000


# Every connection takes the next request from one list; when all are answered, wrk stops.
SCRIPT = """
local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long us; } tv_t; int gettimeofday(tv_t *tv, void *tz);")
local function now()
  local tv = ffi.new("tv_t")
  ffi.C.gettimeofday(tv, nil)
  return tonumber(tv.s) * 1000000 + tonumber(tv.us)
end
local requests, sent, answered, refused, started = {}, 0, 0, 0, 0
function init(args)
  for request in io.open("REQUESTS", "rb"):read("*a"):gmatch("[^%z]+") do
    requests[#requests + 1] = request
  end
end
function request()
  if started == 0 then started = now() end
  sent = sent + 1
  return requests[sent] or requests[#requests]
end
function response(status)
  answered = answered + 1
  if status ~= 200 then refused = refused + 1 end
  if answered == #requests then
    print(string.format("answered %d in %d us, refused %d", answered, now() - started, refused))
    wrk.thread:stop()
  end
end
"""
TOUCH_SCOPE = "UPDATE scopes SET version = version + 1 WHERE id = ?"
PUT_EVENT = "UPDATE events SET body = ? WHERE id = ?"
PUT_LINE = "INSERT INTO history (seq, scope_id, event_id, machine_id, body) VALUES (?, ?, ?, ?, ?)"


def available() -> str:
    """Say what is missing, or nothing."""
    return "" if shutil.which("wrk") else "wrk is not installed (apt-get install wrk)"


def measure() -> list[Row]:
    """Approve every Terminate event but one in each group, so that none starts meanwhile."""
    with tempfile.TemporaryDirectory() as folder, running() as server:
        before, after = Path(folder) / "before.db", Path(folder) / "after.db"
        requests = _prepare(server)
        _copy(server, before)
        ours = _approve_all(server, requests)
        _copy(server, after)
        reference = _replay(before, after)
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
                requests.append(_post(event["Resources"][0], event["EventId"]))
    return requests


def _copy(server: Server, to: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(server.state / "lastcall.db")) as live,
        contextlib.closing(sqlite3.connect(to)) as copy,
    ):
        live.backup(copy)


def _post(instance: str, event_id: str) -> bytes:
    body = b'{"StartRequests":[{"EventId":"%s"}]}' % event_id.encode()
    path = f"/vm/{instance}/metadata/scheduledevents?api-version=2020-07-01".encode()
    return (
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nMetadata: true\r\nContent-Length: %d\r\n\r\n%s"
        % (path, len(body), body)
    )


def _approve_all(server: Server, requests: list[bytes]) -> float:
    """Send every request once over keep-alive connections, and return how many a second."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "requests").write_bytes(b"\0".join(requests))
        script = Path(folder) / "approve.lua"
        script.write_text(SCRIPT.replace("REQUESTS", f"{folder}/requests"))
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", "-d10s", "-s", str(script), server.metadata]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answered = re.search(r"answered (\d+) in (\d+) us, refused (\d+)", said)
    assert answered is not None, said
    assert answered[3] == "0", said
    return int(answered[1]) / int(answered[2]) * 1e6


def _replay(before: Path, after: Path) -> float:
    """Write the rows that the approvals wrote, onto what was there before, with SQLite alone."""
    lines, bodies = _written(before, after)
    connection = sqlite3.connect(before, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -65536")
    started = time.perf_counter()
    for first in range(0, len(lines), CONNECTIONS):
        connection.execute("BEGIN IMMEDIATE")
        for line in lines[first : first + CONNECTIONS]:
            _, scope_id, event_id, _, _ = line
            connection.execute(TOUCH_SCOPE, (scope_id,))
            connection.execute(PUT_EVENT, (bodies[event_id], event_id))
            connection.execute(PUT_LINE, line)
        connection.execute("COMMIT")
    elapsed = time.perf_counter() - started
    connection.close()
    return len(lines) / elapsed


def _written(before: Path, after: Path) -> tuple[list[tuple[Any, ...]], dict[str, bytes]]:
    with contextlib.closing(sqlite3.connect(before)) as connection:
        (last,) = connection.execute("SELECT MAX(seq) FROM history").fetchone()
    with contextlib.closing(sqlite3.connect(after)) as connection:
        lines = connection.execute(
            "SELECT seq, scope_id, event_id, machine_id, body FROM history WHERE seq > ?", (last,)
        ).fetchall()
        bodies = dict(connection.execute("SELECT id, body FROM events").fetchall())
    return lines, bodies
