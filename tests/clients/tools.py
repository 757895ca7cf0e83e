"""Where the real clients are, and one server that they all talk to.

`make clients` installs them, each into an environment of its own, below $LASTCALL_CLIENTS.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.processes import LASTCALL, environment

DEFAULT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lastcall-clients"
CLIENTS = Path(os.environ.get("LASTCALL_CLIENTS") or DEFAULT)
AZ = CLIENTS / "az/bin/az"
SDK = CLIENTS / "sdk/bin/python"
NODE = CLIENTS / "node/node_modules/@azure/arm-compute"
PATIENCE_S = 180


def missing(client: Path) -> str:
    """Return why a client's tests are skipped, or nothing."""
    return "" if client.exists() else f"{client.name} is not installed here: run `make clients`"


def exports(state: Path, home: Path) -> dict[str, str]:
    """Return the environment that `lastcall env` prints, in a home of its own."""
    home.mkdir(exist_ok=True)
    plain = {**environment(), "HOME": str(home), "LASTCALL_STATE": str(state)}
    said = _output([*LASTCALL, "env", "--shell", "bash"], plain)
    shown = _output(["bash", "-c", f"{said}\nenv -0"], plain)
    return dict(entry.split("=", 1) for entry in shown.split("\0") if "=" in entry)


def _output(command: list[str], variables: dict[str, str]) -> str:
    return subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    ).stdout


class Az:
    """The Azure CLI as a user has it after `eval "$(lastcall env)"`."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a command line, whatever comes of it."""
        return subprocess.run(
            [str(AZ), *shlex.split(line)],
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def __call__(self, line: str) -> Any:
        """Run a command line that must succeed, and return the JSON that it prints."""
        done = self.run(line)
        assert done.returncode == 0, f"az {line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        text = done.stdout.strip()
        return json.loads(text) if text and "-o table" not in line else text
