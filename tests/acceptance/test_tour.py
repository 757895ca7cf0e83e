"""The tour that a newcomer takes in the first minute, with real processes from end to end."""

import json
import signal
import subprocess

import pytest

from tests.cli.processes import (
    LASTCALL,
    PATIENCE_S,
    answer,
    end,
    environment,
    fetch,
    lastcall,
    until,
    up,
)

pytestmark = pytest.mark.acceptance

QUERY = "/metadata/scheduledevents?api-version=2020-07-01"
METADATA = {"Metadata": "true"}


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def _document(where, name):
    status, body = fetch(f"{where['metadata']}/vm/{name}{QUERY}", headers=METADATA)
    assert status == 200, body
    return json.loads(body)


def _names(state):
    listed = answer("vmss", "list-instances", "-n", "web", state=state)
    return [each["name"] for each in listed]


def _delete(state, instance_id):
    delete = ("vmss", "delete-instances", "-n", "web", "--instance-ids", instance_id, "--no-wait")
    assert answer(*delete, state=state)["status"] == "Accepted"


def _deleting(state):
    """Start a command that waits until the instance is gone."""
    return subprocess.Popen(
        [*LASTCALL, "vmss", "delete-instances", "-n", "web", "--instance-ids", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "LASTCALL_STATE": str(state)},
    )


def _the_event(where, watcher):
    document = until(lambda: _document(where, watcher)["Events"], "the Terminate event")
    assert len(document) == 1
    return document[0]


def test_the_first_minute(state):
    with up(state, "--clock", "virtual") as where:
        create = ("vmss", "create", "-n", "web", "--instance-count", "3")
        created = answer(*create, "--terminate-notification-time", "10", state=state)
        assert created["sku"]["capacity"] == 3
        assert _names(state) == ["web_0", "web_1", "web_2"]

        # Somebody asks, so that deletions are announced.
        assert _document(where, "web_0") == {"DocumentIncarnation": 1, "Events": []}

        # One goes because it says that it is ready.
        _delete(state, "0")
        event = _the_event(where, "web_0")
        assert (event["EventType"], event["EventStatus"]) == ("Terminate", "Scheduled")
        assert event["Resources"] == ["web_0"]
        assert _names(state) == ["web_0", "web_1", "web_2"]
        approval = {"StartRequests": [{"EventId": event["EventId"]}]}
        assert fetch(f"{where['metadata']}/vm/web_0{QUERY}", approval, METADATA)[0] == 200
        until(lambda: _names(state) == ["web_1", "web_2"], "the first one to go")

        # The other one says nothing, and goes when its time is over.
        _delete(state, "1")
        event = _the_event(where, "web_2")
        assert event["Resources"] == ["web_1"]
        answer("clock", "advance", "9m", state=state)
        assert _names(state) == ["web_1", "web_2"]
        answer("clock", "advance", "1m", state=state)
        until(lambda: _names(state) == ["web_2"], "the second one to go")
        assert _document(where, "web_2")["Events"] == []


def test_the_bare_address_speaks_for_the_first_instance(state):
    with up(state, "--clock", "virtual") as where:
        lastcall("vmss", "create", "-n", "web", state=state)
        status, body = fetch(where["metadata"] + QUERY, headers=METADATA)
        assert (status, json.loads(body)["Events"]) == (200, [])
        assert fetch(where["metadata"] + QUERY)[0] == 400


def test_every_instance_is_listed_with_an_address_that_answers(state):
    with up(state, "--clock", "virtual"):
        lastcall("vmss", "create", "-n", "web", "--instance-count", "2", state=state)
        for each in answer("instances", state=state):
            assert fetch(each["metadata"] + QUERY, headers=METADATA)[0] == 200


def test_a_command_that_waits_ends_when_the_event_is_approved(state):
    with up(state, "--clock", "virtual", "--always-notify") as where:
        create = ("vmss", "create", "-n", "web", "--instance-count", "1")
        answer(*create, "--terminate-notification-time", "5", state=state)
        waiting = _deleting(state)
        event = _the_event(where, "web_0")
        until(lambda: "waiting for 1 Terminate event;" in waiting.stderr.readline(), "the reason")
        assert lastcall("events", "approve", event["EventId"], state=state).returncode == 0
        out, _ = waiting.communicate(timeout=PATIENCE_S)
        assert (waiting.returncode, out) == (0, "Done: deleting instances of web.\n")
        assert _names(state) == []
        shown = answer("events", "show", event["EventId"], state=state)
        assert (shown["status"], shown["approvedBy"]) == ("Completed", ["operator"])


def test_ctrl_c_leaves_the_operation_under_way(state):
    with up(state, "--clock", "virtual", "--always-notify") as where:
        create = ("vmss", "create", "-n", "web", "--instance-count", "1")
        answer(*create, "--terminate-notification-time", "5", state=state)
        waiting = _deleting(state)
        _the_event(where, "web_0")
        until(lambda: "waiting for 1 Terminate event;" in waiting.stderr.readline(), "the reason")
        code, _, err = end(waiting, signal.SIGINT)
        assert (code, "goes on without you" in err) == (1, True)
        answer("clock", "advance", "5m", state=state)
        until(lambda: _names(state) == [], "the instance to go")
