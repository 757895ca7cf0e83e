"""Real `lastcall` processes for tests: started, waited for, asked, and always ended."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Generous: it bounds a test that would otherwise hang, and measures nothing.
PATIENCE_S = 60.0
ANYWHERE = "127.0.0.1:0"
ANY_PORTS = ("--control", ANYWHERE, "--portal", ANYWHERE, "--metadata", ANYWHERE)
LASTCALL = (sys.executable, "-m", "lastcall")


def environment() -> dict[str, str]:
    """Return the environment without what would lead a command elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LASTCALL_")}


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition and return what it found."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def start(state: Path, *flags: str, command: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a server without waiting for it; `command` is what starts it, if not we ourselves."""
    return subprocess.Popen(
        [*command, *LASTCALL, "up", "--state", str(state), *ANY_PORTS, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def endpoints(state: Path) -> dict[str, Any] | None:
    """Return where the server of a folder says that it is."""
    try:
        return json.loads((state / "endpoints.json").read_text())
    except (OSError, ValueError):
        return None


def ready(process: subprocess.Popen[str], state: Path) -> dict[str, Any]:
    """Wait until a server is ready; return where it is."""

    def found() -> dict[str, Any] | None:
        assert process.poll() is None, process.communicate()
        where = endpoints(state)
        return where if where is not None and where["pid"] == process.pid else None

    return until(found, "the server")


@contextlib.contextmanager
def up(state: Path, *flags: str) -> Iterator[dict[str, Any]]:
    """Run a server; it is ready when entered and has ended when left."""
    process = start(state, *flags)
    try:
        yield ready(process, state)
    finally:
        end(process)


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str, str]:
    """Send a signal, wait for the end; return exit code, stdout and stderr."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


def lastcall(*arguments: str, state: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    place = () if state is None else ("--state", str(state))
    return subprocess.run(
        [*LASTCALL, *arguments, *place],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
        check=False,
    )


def answer(*arguments: str, state: Path) -> Any:
    """Run one command that must succeed; return its JSON."""
    done = lastcall(*arguments, "--json", state=state)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fetch(url: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """GET, or POST a JSON body; return status and bytes, whatever the status."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            request, timeout=PATIENCE_S
        ) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()
