"""From `lastcall up` to the first 200, against importing the web framework alone."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from bench.report import Row

ROUNDS = 7


def measure() -> list[Row]:
    """Take the median of several cold processes of each kind, in turn."""
    ours, reference = [], []
    for _ in range(ROUNDS):
        reference.append(_import())
        ours.append(_up())
    start, imports = statistics.median(ours), statistics.median(reference)
    allowed = 1.5 * imports + 0.1
    return [
        Row(
            "`lastcall up` to the first 200",
            f"{start * 1e3:.0f} ms",
            f"1.5 x `import starlette, uvicorn` ({imports * 1e3:.0f} ms) + 100 ms:"
            f" {allowed * 1e3:.0f} ms",
            start / allowed,
            "<= 1",
            start <= allowed,
        )
    ]


def _import() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import starlette, uvicorn"], check=True)
    return time.perf_counter() - started


def _up() -> float:
    with tempfile.TemporaryDirectory() as folder:
        anywhere = "127.0.0.1:0"
        flags = ["--state", folder, "--control", anywhere]
        flags += ["--portal", anywhere, "--metadata", anywhere]
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "lastcall", "up", *flags], stdout=subprocess.DEVNULL
        )
        try:
            endpoints = Path(folder) / "endpoints.json"
            while not endpoints.exists():
                time.sleep(0.002)
            url = json.loads(endpoints.read_text())["portal"] + "/readyz"
            with urllib.request.urlopen(url) as answer:
                assert answer.status == 200
            return time.perf_counter() - started
        finally:
            process.terminate()
            process.wait(10)
