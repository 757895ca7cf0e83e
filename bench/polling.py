"""GET scheduledevents against nginx answering the same bytes with `return 200`, one core each."""

import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import Row
from bench.server import CLIENT_CORE, SERVER_CORE, pinned, running

ROUNDS = 3
SECONDS = 4
NGINX_PORT = 17169


def available() -> str:
    """Say what is missing, or nothing."""
    missing = [tool for tool in ("nginx", "wrk") if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not installed (apt-get install nginx-light wrk)" * bool(
        missing
    )


def measure() -> list[Row]:
    """Measure both in turn, several times, and take the middle ratio."""
    with running(core=SERVER_CORE) as server:
        server.put_set("web", 3)
        server.settle("web")
        url = f"{server.metadata}/metadata/scheduledevents?api-version=2020-07-01"
        request = urllib.request.Request(url, headers={"Metadata": "true"})
        with urllib.request.urlopen(request) as answer:
            body = answer.read().decode()
            kind = answer.headers["content-type"]
        with _nginx(body, kind) as reference:
            pairs = [(_rate(url), _rate(reference)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours = statistics.median(ours for ours, _ in pairs)
    theirs = statistics.median(theirs for _, theirs in pairs)
    return [
        Row(
            "GET scheduledevents, 64 keep-alive connections, one core",
            f"{ours:,.0f}/s",
            f"nginx `return 200`: {theirs:,.0f}/s",
            ratio,
            ">= 0.9",
            ratio >= 0.9,
        )
    ]


def _rate(url: str) -> float:
    command = ["wrk", "-t1", "-c64", f"-d{SECONDS}s", "-H", "Metadata: true", url]
    said = subprocess.run(
        command, check=True, capture_output=True, text=True, **pinned(CLIENT_CORE)
    ).stdout
    assert "Non-2xx" not in said, said
    found = re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert found is not None, said
    return float(found[1])


@contextmanager
def _nginx(body: str, kind: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "nginx.conf"
        config.write_text(
            f"""
            worker_processes 1; daemon off; master_process off; pid {folder}/pid;
            error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
                client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                server {{
                    listen 127.0.0.1:{NGINX_PORT};
                    location / {{ default_type "{kind}"; return 200 '{body}'; }}
                }}
            }}
            """
        )
        process = subprocess.Popen(
            ["nginx", "-p", folder, "-c", str(config)],
            stderr=subprocess.DEVNULL,
            **pinned(SERVER_CORE),
        )
        try:
            time.sleep(0.5)
            yield f"http://127.0.0.1:{NGINX_PORT}/metadata/scheduledevents?api-version=2020-07-01"
        finally:
            process.terminate()
            process.wait(10)
