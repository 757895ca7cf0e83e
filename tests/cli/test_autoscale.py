"""`lastcall autoscale`, `metric` and `activities` against a real server."""

import pytest

pytestmark = pytest.mark.acceptance

WEB = ("vmss", "create", "-n", "web", "--instance-count", "2")
AUTO = ("--min-count", "1", "--max-count", "5", "--count", "2")
RULE = ("autoscale", "rule", "create", "--autoscale-name", "web")
OUT = (*RULE, "--condition", "Percentage CPU > 75 avg 5m", "--scale", "out", "1")
IN = (*RULE, "--condition", "Percentage CPU < 25 avg 5m", "--scale", "in", "1", "--cooldown", "1")


def capacity(ask):
    return ask("vmss", "show", "-n", "web", "--json").json["sku"]["capacity"]


def test_a_set_is_scaled_by_what_is_posted(ask):
    ask(*WEB)
    created = ask("autoscale", "create", "--resource", "web", *AUTO, "--tags", "a=b", "--json").json
    assert created["name"] == "web"
    assert created["tags"] == {"a": "b"}
    assert ask(*OUT).code == 0
    assert ask(*IN).code == 0
    shown = ask("autoscale", "show", "-n", "web", "--json").json
    assert [len(profile["rules"]) for profile in shown["properties"]["profiles"]] == [2]
    assert "Percentage CPU > 75 avg 5m: out 1" in ask("autoscale", "show", "-n", "web").out
    row = ask("autoscale", "list").out.splitlines()[1].split()
    assert row == ["web", "lastcall", "web", "yes", "1", "5", "2", "2"]

    posted = ask("metric", "post", "--resource", "web", "-n", "Percentage CPU", "--value", "90")
    assert posted.out == "Posted: Percentage CPU 90.\n"
    ask("clock", "advance", "1m")
    assert capacity(ask) == 3
    table = ask("metric", "list").out.splitlines()[1]
    assert table.split()[:3] == ["web", "Percentage", "CPU"]

    found = ask("activities", "--json").json
    scaled = "Microsoft.Insights/autoscaleSettings/Scaleup/action"
    assert scaled in [each["operation"] for each in found if each["caller"] == "autoscale"]
    lines = ask("activities", "-g", "lastcall", "--limit", "5").out.splitlines()
    assert len(lines) == 6
    assert lines[0].split()[0] == "AT"


def test_rules_are_listed_and_deleted_by_their_index(ask):
    ask(*WEB)
    ask("autoscale", "create", "--resource", "web", *AUTO)
    ask(*OUT)
    ask(*IN)
    rules = ("autoscale", "rule")
    setting = ("--autoscale-name", "web")
    assert [each["index"] for each in ask(*rules, "list", *setting, "--json").json] == [0, 1]

    ask(*rules, "delete", *setting, "--index", "0")
    lines = ask(*rules, "list", *setting).out.splitlines()
    assert lines[1:] == ["0      Percentage CPU < 25 avg 5m: in 1"]
    assert ask(*rules, "delete", *setting, "--index", "7").code == 3
    assert ask(*rules, "delete", *setting, "--index", "*").code == 0
    assert ask(*rules, "list", *setting).out == "No rules.\n"
    assert ask(*rules, "list", *setting, "--profile-name", "nope").code == 3


def test_what_is_not_there_is_exit_code_3_and_a_hint(ask, server):
    hint = f"see: lastcall autoscale list --state {server.state}"
    for command in (("show", "-n"), ("delete", "-n"), ("rule", "list", "--autoscale-name")):
        missing = ask("autoscale", *command, "nope")
        assert missing.code == 3
        assert missing.err.splitlines()[1:] == [hint]
    assert ask("autoscale", "list").out.startswith("No autoscale settings")
    assert ask("metric", "list").out.startswith("No metrics")
    assert ask("activities", "-g", "nobody").out == "Nobody has asked for anything.\n"


def test_a_setting_can_be_made_disabled_for_an_id_and_deleted(ask):
    ask(*WEB)
    web = ask("vmss", "show", "-n", "web", "--json").json["id"]
    ask("autoscale", "create", "--resource", web, "--count", "4", "-n", "auto", "--disabled")
    ask("clock", "advance", "5m")
    assert capacity(ask) == 2
    assert ask("autoscale", "delete", "-n", "auto").out == "Deleted: auto.\n"
    assert ask("autoscale", "create", "--resource", "", "--count", "4").code == 2
