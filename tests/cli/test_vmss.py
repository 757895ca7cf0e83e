"""`lastcall vmss` against a real server."""

import pytest

from lastcall.cli.main import NOUNS, build

pytestmark = pytest.mark.acceptance

CREATE = ("vmss", "create", "-n", "web", "--instance-count", "3")
NOTICE = ("--terminate-notification-time", "10")


def test_a_set_is_created_shown_and_listed(ask):
    created = ask(*CREATE, *NOTICE, "--tags", "a=b", "c=d", "--zones", "1", "2", "--json").json
    assert created["properties"]["provisioningState"] == "Succeeded"
    assert created["tags"] == {"a": "b", "c": "d"}
    assert created["zones"] == ["1", "2"]
    assert ask("vmss", "show", "-n", "web", "--json").json == created
    assert ask("vmss", "list", "--json").json == [created]
    assert ask("vmss", "list", "-g", "other").code == 3
    table = ask("vmss", "list").out
    assert table.splitlines()[1].split() == ["web", "lastcall", "westus", "3", "PT10M", "Succeeded"]


def test_the_group_can_come_from_the_environment(ask, monkeypatch):
    monkeypatch.setenv("LASTCALL_GROUP", "mine")
    assert "/resourceGroups/mine/" in ask(*CREATE, "--json").json["id"]
    assert ask("vmss", "show", "-n", "web", "-g", "mine").code == 0
    assert ask("vmss", "show", "-n", "web", "-g", "other").code == 3


def test_the_servers_refusal_is_printed_in_its_own_words(ask):
    refused = ask(*CREATE, "--platform-fault-domain-count", "99")
    assert refused.code == 1
    assert refused.err.startswith("error: ")
    assert refused.err.rstrip().endswith("(InvalidParameter)")
    assert "Traceback" not in refused.err


def test_a_group_that_is_missing_is_made_with_its_first_set(ask):
    assert ask("vmss", "show", "-n", "web").err.splitlines()[0].endswith("(ResourceGroupNotFound)")
    made = ask(*CREATE, "--location", "eastus")
    assert made.err.splitlines()[-1] == "Resource group lastcall was made in eastus."
    second = ask("vmss", "create", "-n", "api", "--location", "westus")
    assert (second.code, "Resource group" in second.err) == (0, False)


def test_a_set_that_does_not_exist_is_exit_code_3_and_a_hint(ask, server):
    assert ask(*CREATE).code == 0
    hint = f"see: lastcall vmss list --state {server.state}"
    for command in (
        ("show",),
        ("delete",),
        ("restart",),
        ("list-instances",),
        ("scale", "--new-capacity", "1"),
        ("delete-instances", "--instance-ids", "0"),
    ):
        missing = ask("vmss", *command, "-n", "nope")
        assert missing.code == 3
        assert missing.err.splitlines()[1:] == [hint]
    assert ask("vmss", "show", "-n", "nope").err.splitlines()[0].endswith("(ResourceNotFound)")


@pytest.mark.parametrize(
    "command",
    [
        ("delete-instances", "--instance-ids", "99"),
        ("restart", "--instance-ids", "99"),
        ("stop", "--instance-ids", "99"),
        ("update-instances", "--instance-ids", "99"),
        ("get-instance-view", "--instance-id", "99"),
        ("simulate-eviction", "--instance-id", "99"),
        ("update", "--instance-id", "99", "--protect-from-scale-in"),
    ],
    ids=lambda command: command[0],
)
def test_an_instance_that_does_not_exist_is_exit_code_3_and_a_hint(ask, server, command):
    ask(*CREATE)
    missing = ask("vmss", *command, "-n", "web")
    assert missing.code == 3
    hint = f"see: lastcall vmss list-instances -n web --state {server.state}"
    assert missing.err.splitlines()[1:] == [hint]


def test_a_set_is_created_once(ask):
    ask(*CREATE)
    again = ask("vmss", "create", "-n", "web")
    assert again.code == 1
    assert again.err == (
        "error: web exists already in group lastcall;"
        " change it with: lastcall vmss update / vmss scale\n"
    )
    assert len(_instances(ask)) == 3
    assert ask(*CREATE, "-g", "other").code == 0


def test_an_update_tells_which_instances_still_have_the_old_model(ask, server):
    assert "upgrade policy          Manual" in ask(*CREATE).out
    told = ask("vmss", "update", "-n", "web", *NOTICE)
    assert told.err == (
        "3 instances still have the old model; bring them up to date with:"
        f" lastcall vmss update-instances -n web --instance-ids '*' --state {server.state}\n"
    )
    mode = ("--upgrade-policy-mode", "Automatic", "--terminate-notification-time", "7m")
    assert ask("vmss", "update", "-n", "web", *mode).err == ""


def test_instances_are_listed_with_their_state(ask):
    ask(*CREATE)
    lines = ask("vmss", "list-instances", "-n", "web").out.splitlines()
    assert lines[1].split() == ["0", "web_0", "Succeeded", "running", "yes"]
    listed = ask("instances", "--json").json
    assert [each["name"] for each in listed] == ["web_0", "web_1", "web_2"]
    assert ask("instances").out.startswith("NAME")


def test_an_instance_is_protected_and_the_set_says_so(ask):
    ask(*CREATE)
    update = ("vmss", "update", "-n", "web")
    done = ask(*update, "--instance-id", "1", "--protect-from-scale-in", "--json").json
    assert done["properties"]["protectionPolicy"]["protectFromScaleIn"] is True
    assert "scale-in" in ask("vmss", "list-instances", "-n", "web").out
    assert ask(*update).code == 2
    assert ask(*update, "--instance-id", "1").code == 2
    assert ask(*update, "--protect-from-scale-in", "true").code == 2


def test_the_notification_is_turned_on_and_off(ask):
    ask(*CREATE)
    update = ("vmss", "update", "-n", "web", "--enable-terminate-notification")
    assert "PT7M" in ask(*update, "true", "--terminate-notification-time", "7").out
    assert "off" in ask(*update, "false").out


def test_a_deletion_with_no_wait_holds_the_instances(ask):
    ask(*CREATE, *NOTICE)
    delete = ("vmss", "delete-instances", "-n", "web", "--instance-ids", "0", "2")
    assert ask(*delete, "--no-wait", "--json").json["status"] == "Accepted"
    held = ask("events", "list", "--json").json
    assert sorted(each["resources"][0] for each in held) == ["web_0", "web_2"]
    assert {each["type"] for each in held} == {"Terminate"}
    ask("clock", "advance", "10m")
    assert [each["instanceId"] for each in _instances(ask)] == ["1"]


def test_a_forced_deletion_does_not_wait(ask):
    ask(*CREATE, *NOTICE)
    delete = ("vmss", "delete-instances", "-n", "web", "--instance-ids", "*", "--force-deletion")
    assert ask(*delete).out == "Done: deleting instances of web.\n"
    assert _instances(ask) == []


def test_scaling_waits_until_it_is_done(ask):
    ask(*CREATE)
    scaled = ask("vmss", "scale", "-n", "web", "--new-capacity", "5", "--json").json
    assert scaled["sku"]["capacity"] == 5
    assert len(_instances(ask)) == 5


def test_an_action_goes_by_the_name_of_its_command(ask):
    ask(*CREATE)
    assert ask("vmss", "stop", "-n", "web").out == "Done: stop of web.\n"


@pytest.mark.parametrize("verb", ["stop", "deallocate", "start", "reimage"])
def test_actions_without_events_are_done_at_once(ask, verb):
    ask(*CREATE)
    done = ask("vmss", verb, "-n", "web", "--instance-ids", "0", "1", "--json")
    assert done.json["status"] == "Succeeded"


@pytest.mark.parametrize(("verb", "kind"), [("restart", "Reboot"), ("redeploy", "Redeploy")])
def test_actions_with_events_announce_them(ask, verb, kind):
    ask(*CREATE)
    assert ask("vmss", verb, "-n", "web", "--no-wait").code == 0
    events = ask("events", "list", "--json").json
    assert {each["type"] for each in events} == {kind}
    assert len(events) == 3


def test_instances_are_brought_up_to_date_and_viewed(ask):
    ask(*CREATE)
    ask("vmss", "update", "-n", "web", *NOTICE)
    assert "no" in ask("vmss", "list-instances", "-n", "web").out.splitlines()[1].split()
    assert ask("vmss", "update-instances", "-n", "web", "--instance-ids", "*").code == 0
    assert "yes" in ask("vmss", "list-instances", "-n", "web").out.splitlines()[1].split()
    assert (
        "PowerState/running"
        in ask("vmss", "get-instance-view", "-n", "web", "--instance-id", "0").out
    )
    counted = ask("vmss", "get-instance-view", "-n", "web").out
    assert "instances in ProvisioningState/succeeded  3" in counted


def test_a_spot_instance_is_evicted(ask):
    ask(*CREATE, "--priority", "spot", "--eviction-policy", "Delete")
    assert ask("vmss", "simulate-eviction", "-n", "web", "--instance-id", "0").code == 0
    assert ask("events", "list", "--json").json[0]["type"] == "Preempt"


def test_a_set_is_deleted(ask):
    ask(*CREATE)
    assert ask("vmss", "delete", "-n", "web").out == "Done: deleting web.\n"
    assert ask("vmss", "list", "--json").json == []


def test_without_a_server_commands_say_how_to_start_one(run, tmp_path):
    done = run("vmss", "list", "--state", str(tmp_path))
    assert done.code == 1
    assert done.err == (
        f"No lastcall is running on {tmp_path}; start one with: lastcall up --state {tmp_path}\n"
    )
    assert run("clock", "show", "--portal", "127.0.0.1:1").code == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ("nonsense",),
        ("vmss", "nonsense"),
        ("vmss", "list", "--nonsense"),
        ("vmss", "create"),
        ("vmss", "create", "-n", "web", "--priority", "High"),
        ("vmss", "delete-instances", "-n", "web"),
        ("clock", "advance", "soon"),
        ("up", "--nonsense"),
        ("up", "--clock", "broken"),
        ("up", "--portal", "nowhere"),
        ("up", "--pace", "0"),
        ("up", "--driver", "cloud"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, wrong):
    assert run(*wrong).code == 2


def test_the_version_is_told(run):
    assert run("--version").out.startswith("lastcall ")


def _commands():
    groups = build(()).registered_groups
    grouped = [
        (group.name, command.name)
        for group in groups
        for command in group.typer_instance.registered_commands
    ]
    assert {group for group, _ in grouped} < set(NOUNS)
    return [*grouped, ("up",), ("instances",), ()]


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_every_help_has_an_example(run, command):
    shown = run(*command, "--help")
    assert shown.code == 0
    assert "…" not in shown.out
    assert "..." not in shown.out.replace(" ...", "").replace("[ARGS]...", "")
    assert f"Example: lastcall {' '.join(command)}".rstrip() in " ".join(shown.out.split())


def _instances(ask):
    return ask("vmss", "list-instances", "-n", "web", "--json").json
