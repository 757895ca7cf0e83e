"""`lastcall up` as a real process: how it starts, refuses, survives and stops."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import (
    ANY_PORTS,
    PATIENCE_S,
    answer,
    end,
    endpoints,
    environment,
    fetch,
    lastcall,
    ready,
    start,
    until,
    up,
)

pytestmark = pytest.mark.acceptance

IS_ROOT = os.geteuid() == 0


def refused(process: subprocess.Popen[str]) -> str:
    """Wait for a server that must not start; return the one sentence that says why."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, (out, err)
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert "Traceback" not in err
    return err


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """Mount a small file system; skip where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not IS_ROOT or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root and a kernel that allows it")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_it_says_where_it_is_and_answers_there(tmp_path):
    process = start(tmp_path / "state", "--clock", "virtual")
    try:
        where = ready(process, tmp_path / "state")
        assert fetch(f"{where['portal']}/healthz")[0] == 200
        clock = json.loads(fetch(f"{where['portal']}/lastcall/v1/clock")[1])
        assert clock["mode"] == "virtual"
        assert fetch(f"{where['metadata']}/metadata/versions", headers={"Metadata": "true"})[0]
    finally:
        code, out, err = end(process)
    assert (code, err) == (0, "")
    assert where["portal"] in out
    assert where["metadata"] in out
    assert "Ctrl-C" in out
    assert "lastcall vmss create" in out


def test_it_says_where_it_is_to_a_program(tmp_path):
    process = start(tmp_path, "--json")
    try:
        where = ready(process, tmp_path)
    finally:
        _, out, _ = end(process)
    assert json.loads(out) == where


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(tmp_path, number):
    process = start(tmp_path)
    where = ready(process, tmp_path)
    code, _, err = end(process, number)
    assert (code, err) == (0, "")
    assert endpoints(tmp_path) is None
    with pytest.raises(OSError, match="refused"):
        fetch(f"{where['portal']}/healthz")
    listed = lastcall("vmss", "list", state=tmp_path)
    assert listed.returncode == 1
    assert listed.stderr.startswith(f"No lastcall is running on {tmp_path}; start one with:")


def test_a_second_one_on_the_same_folder_refuses_and_the_first_goes_on(tmp_path):
    with up(tmp_path) as where:
        sentence = refused(start(tmp_path))
        assert str(where["pid"]) in sentence
        assert "--state" in sentence
        assert endpoints(tmp_path) == where
        assert fetch(f"{where['portal']}/healthz")[0] == 200


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert "cannot be written" in refused(start(tmp_path / "file" / "state"))


def test_a_read_only_folder_is_refused(tmp_path):
    if IS_ROOT:
        with mounted(tmp_path / "fixed", "ro,size=1m") as folder:
            assert "cannot be written" in refused(start(folder / "state"))
        return
    (tmp_path / "fixed").mkdir(mode=0o500)
    assert "cannot be written" in refused(start(tmp_path / "fixed" / "state"))


def test_a_database_that_is_none_is_refused(tmp_path):
    (tmp_path / "lastcall.db").write_bytes(b"this is no database at all\n" * 500)
    assert "lastcall.db" in refused(start(tmp_path))


@pytest.mark.parametrize("flag", ["--portal", "--metadata"])
def test_a_port_in_use_is_refused_and_named(tmp_path, flag):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        sentence = refused(start(tmp_path, flag, place))
    assert place in sentence
    assert flag in sentence
    with up(tmp_path):
        pass


def test_a_portal_that_others_could_reach_is_refused(tmp_path):
    assert "loopback" in refused(start(tmp_path, "--portal", "0.0.0.0:0"))


def test_metadata_that_others_could_reach_is_refused_unless_it_is_meant(tmp_path):
    everywhere = ("--metadata", "0.0.0.0:0")
    assert "--expose-metadata" in refused(start(tmp_path, *everywhere))
    with up(tmp_path, *everywhere, "--expose-metadata") as where:
        assert where["metadata"].startswith("http://0.0.0.0:")


def test_a_crowd_of_silent_guests_does_not_shut_out_the_portal(tmp_path):
    few = ("sh", "-c", 'ulimit -n 400 && exec "$@"', "sh")
    process = start(tmp_path, command=few)
    guests = []
    try:
        where = ready(process, tmp_path)
        host, port = where["metadata"].removeprefix("http://").split(":")
        for _ in range(450):
            guests.append(socket.create_connection((host, int(port)), timeout=PATIENCE_S))
        with contextlib.suppress(ConnectionResetError):
            guests[-1].recv(1)  # The last one is told so, or dropped: all have been let in before.
        assert fetch(f"{where['portal']}/healthz")[0] == 200
        assert fetch(f"{where['portal']}/readyz")[0] == 200
    finally:
        for guest in guests:
            guest.close()
        end(process)


def test_wrong_flags_are_exit_code_2(tmp_path):
    for wrong in (("--nonsense",), ("--clock", "broken"), ("--pace", "-1"), ("--portal", "x")):
        done = lastcall("up", *wrong, state=tmp_path)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_it_does_not_run_without_its_assertions(tmp_path):
    done = subprocess.run(
        [sys.executable, "-O", "-m", "lastcall", "up", "--state", str(tmp_path), *ANY_PORTS],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1
    assert "python -O" in done.stderr


def test_a_start_that_was_killed_can_be_repeated(tmp_path):
    # From before the first import to about when it is ready; the last ones may have been.
    for delay_s in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        process = start(tmp_path)
        time.sleep(delay_s)
        process.kill()
        process.communicate()
    with up(tmp_path) as where:
        assert fetch(f"{where['portal']}/healthz")[0] == 200


def test_what_was_answered_survives_kill_9(tmp_path):
    process = start(tmp_path)
    ready(process, tmp_path)
    created = answer("vmss", "create", "-n", "web", state=tmp_path)
    end(process, signal.SIGKILL)
    listed = lastcall("vmss", "list", state=tmp_path)
    assert (listed.returncode, "No lastcall is running" in listed.stderr) == (1, True)
    with up(tmp_path):
        assert answer("vmss", "show", "-n", "web", state=tmp_path) == created


def test_a_full_disk_is_503_and_loses_nothing(tmp_path):
    with mounted(tmp_path / "small", "size=4m") as folder:
        with up(folder) as where:
            kept = answer("vmss", "create", "-n", "kept", state=folder)
            filler = folder / "filler"
            _fill(filler)
            announced = _announced_until_503(where["portal"])
            assert fetch(f"{where['portal']}/healthz")[0] == 200
            assert answer("vmss", "show", "-n", "kept", state=folder) == kept
            filler.unlink()
            create = ("vmss", "create", "-n", "more")
            until(lambda: lastcall(*create, state=folder).returncode == 0, "room")
            names = [each["name"] for each in answer("vmss", "list", state=folder)]
        with up(folder):
            again = [each["name"] for each in answer("vmss", "list", state=folder)]
            events = {each["id"] for each in answer("events", "list", "--all", state=folder)}
    assert {"kept", "more"} <= set(names)
    assert again == names
    assert events == announced


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def _announced_until_503(url: str) -> set[str]:
    """Announce until the store cannot record any more; return what it said it had recorded."""
    body = {"type": "Freeze", "instances": ["kept_0"], "description": "x" * 500}
    announced: set[str] = set()
    for _ in range(10_000):
        status, said = fetch(f"{url}/lastcall/v1/events", body)
        if status == 503:
            assert json.loads(said)["error"]["code"] == "ServiceUnavailable"
            return announced
        assert status == 201, said
        announced.add(json.loads(said)["id"])
    raise AssertionError("the disk does not get full")
