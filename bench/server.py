"""A real `lastcall up` in a process of its own, for as long as a measurement takes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER_CORE = 0
CLIENT_CORE = 1
API = "api-version=2024-07-01"


@dataclass(frozen=True)
class Server:
    """Where it is, and the few requests that measurements need."""

    portal: str
    metadata: str
    subscription: str
    pid: int
    state: Path

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send a request to the portal address and return status and JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.portal + path, data=data, method=method)
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None

    def group_path(self) -> str:
        """Return the ARM path of the group that all sets are in."""
        return f"/subscriptions/{self.subscription}/resourceGroups/bench"

    def set_path(self, name: str) -> str:
        """Return the ARM path of a set."""
        return f"{self.group_path()}/providers/Microsoft.Compute/virtualMachineScaleSets/{name}"

    def put_set(self, name: str, capacity: int, **properties: object) -> None:
        """Create or scale a set that has a terminate notification."""
        profile = {"terminateNotificationProfile": {"enable": True, "notBeforeTimeout": "PT15M"}}
        body = {
            "location": "westus",
            "sku": {"name": "Standard_D2s_v5", "capacity": capacity},
            "properties": {
                "singlePlacementGroup": False,
                "virtualMachineProfile": {"scheduledEventsProfile": profile},
                **properties,
            },
        }
        self.call("PUT", f"{self.set_path(name)}?{API}", body)

    def settle(self, name: str) -> None:
        """Wait until the set says that it is provisioned."""
        while True:
            _, body = self.call("GET", f"{self.set_path(name)}?{API}")
            if body["properties"]["provisioningState"] == "Succeeded":
                return
            time.sleep(0.02)

    def events(self, instance: str) -> dict[str, Any]:
        """Return the document that an instance sees."""
        url = f"{self.metadata}/vm/{instance}/metadata/scheduledevents?api-version=2020-07-01"
        request = urllib.request.Request(url, headers={"Metadata": "true"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())


def pinned(core: int | None) -> dict[str, Any]:
    """Return what makes a child process stay on one core, where there are two."""
    if core is None or (os.cpu_count() or 1) < 2:
        return {}
    return {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}


@contextlib.contextmanager
def running(*flags: str, core: int | None = None) -> Iterator[Server]:
    """Run a server on a folder of its own, on one core if asked."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lastcall", "up", "--state", folder]
        command += ["--control", "127.0.0.1:0", "--portal", "127.0.0.1:0"]
        command += ["--metadata", "127.0.0.1:0", *flags]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **pinned(core))
        try:
            endpoints = Path(folder) / "endpoints.json"
            while not endpoints.exists():
                if process.poll() is not None:
                    raise RuntimeError("the server did not start")
                time.sleep(0.01)
            said = json.loads(endpoints.read_text())
            places = (said["portal"], said["metadata"], said["subscription"])
            server = Server(*places, process.pid, Path(folder))
            server.call("PUT", f"{server.group_path()}?{API}", {"location": "westus"})
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
