"""What a command says while it waits, and when there was nothing to wait for."""

import subprocess

import pytest

from tests.cli import processes
from tests.cli.conftest import ThreadedServer

pytestmark = pytest.mark.acceptance

CREATE = ("vmss", "create", "-n", "web", "--instance-count", "2")
NOTICE = ("--terminate-notification-time", "10")
NOBODY = (
    "Deleted without notice: nobody in its scope has read scheduledevents in the last 24 hours,"
    " so Scheduled Events is off.\n--always-notify (lastcall up) holds them all the same.\n"
)


def _start(state, *arguments):
    return subprocess.Popen(
        [*processes.LASTCALL, *arguments, "--state", str(state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=processes.environment(),
    )


@pytest.mark.parametrize(
    ("command", "reason", "length"),
    [
        (("restart", "--instance-ids", "0"), "1 Reboot event", "15m"),
        (("redeploy",), "2 Redeploy events", "10m"),
        (("delete-instances", "--instance-ids", "1"), "1 Terminate event", "10m"),
        (("scale", "--new-capacity", "0"), "2 Terminate events", "10m"),
        (("delete",), "2 Terminate events", "10m"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_reason_fits_the_operation_and_is_told_once(ask, server, command, reason, length):
    ask(*CREATE, *NOTICE)
    # Of another type, it holds nothing.
    ask("events", "announce", "--type", "Freeze", "--instances", "web_0", "--notice", "20m")
    waiting = _start(server.state, "vmss", *command, "-n", "web")
    told = waiting.stderr.readline()
    assert told.startswith(f"waiting for {reason}; NotBefore ")
    assert told.endswith(f"move it with: lastcall clock advance {length} --state {server.state}\n")
    ask("clock", "advance", length)
    _, err = waiting.communicate(timeout=processes.PATIENCE_S)
    assert (waiting.returncode, err) == (0, "")


def test_a_server_that_goes_while_somebody_waits_keeps_the_request(tmp_path):
    state = tmp_path / "state"
    with processes.up(state, "--clock", "virtual", "--always-notify"):
        processes.answer(*CREATE, *NOTICE, state=state)
        waiting = _start(state, "vmss", "delete", "-n", "web")
        assert waiting.stderr.readline().startswith("waiting for 2 Terminate events")
    _, err = waiting.communicate(timeout=processes.PATIENCE_S)
    assert waiting.returncode == 1
    assert err == (
        "error: the server is gone. Deleting web is recorded and goes on when the server is back:"
        f" lastcall up --state {state}\n"
    )
    with processes.up(state, "--clock", "virtual", "--always-notify"):
        processes.answer("clock", "advance", "10m", state=state)
        processes.until(lambda: not processes.answer("vmss", "list", state=state), "the set to go")


@pytest.fixture
def unwatched(run, tmp_path):
    """Run commands against a server that holds nothing unless somebody watches."""
    threaded = ThreadedServer(tmp_path / "unwatched", always_notify=False)
    threaded.start()
    yield lambda *arguments: run(*arguments, "--state", str(threaded.state))
    threaded.stop()


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("delete-instances", "--instance-ids", "0"), "web_0"),
        (("delete-instances", "--instance-ids", "0", "--no-wait"), "web_0"),
        (("scale", "--new-capacity", "1"), "web_1"),
        (("delete",), "web_0, web_1"),
    ],
)
def test_what_nobody_watches_is_deleted_at_once_and_says_so(unwatched, command, names):
    unwatched(*CREATE, *NOTICE)
    done = unwatched("vmss", *command, "-n", "web")
    assert (done.code, done.err) == (0, f"{names}: {NOBODY}")


def test_what_has_no_notice_says_only_that(unwatched):
    unwatched(*CREATE)
    done = unwatched("vmss", "delete-instances", "--instance-ids", "0", "-n", "web")
    assert done.err == ("web_0: Deleted without notice: its model has no terminate notification.\n")


def test_what_is_forced_needs_no_explanation(unwatched):
    unwatched(*CREATE, *NOTICE)
    done = unwatched("vmss", "delete", "-n", "web", "--force-deletion")
    assert (done.code, done.err) == (0, "")
