"""`lastcall events` and `lastcall clock` against a real server."""

import json
import subprocess
import threading

import pytest

from tests.cli import processes

pytestmark = pytest.mark.acceptance


@pytest.fixture
def web(ask):
    """A set of two instances; returns the flags of an announcement about them."""
    ask("vmss", "create", "-n", "web", "--instance-count", "2")
    return ("events", "announce", "--instances", "web_0", "web_1", "--type")


def test_maintenance_is_announced_shown_and_cancelled(ask, web):
    words = ("--notice", "20m", "--duration", "9", "--description", "a new host", "--json")
    event = ask(*web, "freeze", *words).json
    assert (event["type"], event["resources"]) == ("Freeze", ["web_0", "web_1"])
    assert (event["durationInSeconds"], event["description"]) == (9, "a new host")
    shown = ask("events", "show", event["id"])
    assert "a new host" in shown.out
    assert "9 s" in shown.out
    assert ask("events", "list").out.splitlines()[1].startswith(event["id"])
    assert ask("events", "cancel", event["id"]).out == f"Cancelled: {event['id']}.\n"
    assert ask("events", "list").out == "No events.\n"
    assert len(ask("events", "list", "--all", "--json").json) == 1


def test_an_approved_event_starts_before_its_time(ask, web):
    event = ask(*web, "Reboot", "--json").json
    assert ask("events", "approve", event["id"]).code == 0
    done = ask("events", "show", event["id"], "--json").json
    assert done["status"] in {"Started", "Completed"}
    assert done["approvedBy"] == ["operator"]


def test_less_notice_than_promised_has_to_be_asked_for(ask, web):
    refused = ask(*web, "Redeploy", "--notice", "1m")
    assert refused.code == 2
    assert refused.err == (
        "error: --notice of a Redeploy is at least 10m; add --short to give less.\n"
    )
    assert ask(*web, "Redeploy", "--notice", "1m", "--short").code == 0


def test_a_failure_without_notice_has_started(ask, web):
    event = ask(*web, "Reboot", "--started", "--json").json
    assert event["status"] in {"Started", "Completed"}


def test_an_unknown_event_is_exit_code_3(ask):
    for verb in ("show", "approve", "cancel"):
        assert ask("events", verb, "no/such event").code == 3


def test_the_clock_is_shown_and_moved(ask):
    before = ask("clock", "show", "--json").json
    assert before["mode"] == "virtual"
    after = ask("clock", "advance", "1h30m", "--json").json
    assert before["now"] < after["now"]
    assert ask("clock", "advance", "PT1S").out.startswith("It is now ")


def _watch(state, *flags):
    return subprocess.Popen(
        [*processes.LASTCALL, "events", "watch", "--state", str(state), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=processes.environment(),
    )


def _announce_until_over(ask, web, watching):
    """Make changes until the watcher has seen as many as it wants."""
    while watching.poll() is None:
        ask(*web, "Freeze", "--started")
    return watching.communicate(timeout=60)


def test_changes_are_watched_as_json_a_line_each(ask, web, server):
    watching = _watch(server.state, "--json", "--count", "3")
    out, err = _announce_until_over(ask, web, watching)
    assert (watching.returncode, err.count("\n")) == (0, 1)
    assert err.startswith("watching http://127.0.0.1:")
    assert err.endswith(" (Ctrl-C stops)\n")
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 3
    assert [line["seq"] for line in lines] == sorted(line["seq"] for line in lines)


def test_changes_are_watched_with_their_type(ask, web, server):
    watching = _watch(server.state, "--count", "2")
    out, _ = _announce_until_over(ask, web, watching)
    assert "Freeze" in out
    assert len(out.splitlines()) == 2


def test_a_watched_change_of_a_whole_event_names_its_instances_in_one_column(ask, web, server):
    watching = _watch(server.state, "--count", "4")
    out, _ = _announce_until_over(ask, web, watching)
    columns = [line.index("web_0") for line in out.splitlines() if "web_0, web_1" in line]
    assert columns
    assert len(set(columns)) == 1


def test_history_is_listed_for_an_event_or_an_instance(ask, web):
    event = ask(*web, "Freeze", "--json").json
    other = ask("events", "announce", "--type", "Reboot", "--instances", "web_1", "--json").json
    lines = ask("events", "history", "--event", event["id"], "--json").json
    assert {line["event"] for line in lines} == {event["id"]}
    of_instance = ask("events", "history", "--instance", "web_1", "--json").json
    assert other["id"] in {line["event"] for line in of_instance}
    assert len(ask("events", "history", "--limit", "1", "--json").json) == 1
    table = ask("events", "history", "--event", event["id"]).out.splitlines()
    assert table[0].split() == ["AT", "(UTC)", "WHAT", "EVENT", "INSTANCE", "TEXT"]
    assert event["id"] in table[1]
    assert ask("events", "history", "--event", "none").out == "Nothing has happened.\n"
    assert ask("events", "history", "--instance", "nobody").code == 3
    ask("vmss", "delete-instances", "-n", "web", "--instance-ids", "1", "--force-deletion")
    gone = ask("events", "history", "--instance", "Web_1", "--json").json
    assert {line["instance"] for line in gone} == {"web_1"}
    assert len(ask("events", "history", "--instance", "web_1", "--limit", "1", "--json").json) == 1


def test_what_is_over_is_said_to_be_over(ask, web):
    event = ask(*web, "Freeze", "--json").json["id"]
    ask("events", "cancel", event)
    approved = ask("events", "approve", event)
    assert (approved.code, approved.out) == (0, f"{event} is Canceled already.\n")
    cancelled = ask("events", "cancel", event)
    assert (cancelled.code, cancelled.err) == (1, f"error: {event} is Canceled already.\n")


@pytest.mark.acceptance
def test_watching_goes_on_when_the_server_comes_back(tmp_path):
    state = tmp_path / "state"
    announce = ("events", "announce", "--type", "Freeze", "--started", "--instances", "web_0")
    with processes.up(state):
        processes.answer("vmss", "create", "-n", "web", state=state)
        watching = _watch(state, "--json", "--count", "8")
        try:
            seen = _first_line(watching, lambda: processes.answer(*announce, state=state))
        except BaseException:
            watching.kill()
            raise
    with processes.up(state):
        while watching.poll() is None:
            processes.answer(*announce, state=state)
    out, err = watching.communicate()
    assert "waiting for the server" in err
    numbers = [json.loads(line)["seq"] for line in [seen, *out.splitlines()]]
    assert numbers == list(range(numbers[0], numbers[0] + 8))


def _first_line(watching, change):
    lines = []
    reading = threading.Thread(target=lambda: lines.append(watching.stdout.readline()))
    reading.start()
    while reading.is_alive():
        change()
    return lines[0]
