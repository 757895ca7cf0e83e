"""The Python and the JavaScript SDK, each in its own environment."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.tools import NODE, PATIENCE_S, SDK, missing

pytestmark = pytest.mark.clients

HERE = Path(__file__).parent


def run(command, variables):
    done = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.stdout.strip() == "done", f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0


@pytest.mark.skipif(bool(missing(SDK)), reason=missing(SDK))
def test_azure_mgmt_compute(where, variables):
    run([str(SDK), str(HERE / "sdk.py"), where["control"], where["subscription"]], variables)


@pytest.mark.skipif(bool(missing(NODE)), reason=missing(NODE))
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_arm_compute(where, variables):
    modules = str(NODE.parents[1])
    command = ["node", str(HERE / "sdk.mjs"), modules, where["control"], where["subscription"]]
    run(command, variables)
