"""Wrong usage is told before any server is asked, in words of the command line."""

import json

import pytest

CREATE = ("vmss", "create", "-n", "web")
UPDATE = ("vmss", "update", "-n", "web")
ANNOUNCE = ("events", "announce", "--instances", "web_0", "--type")
RULE = ("autoscale", "rule", "create", "--autoscale-name", "web")
NOTICE_TIME = "--terminate-notification-time is 5 to 15 minutes, such as 10"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        *(
            ((*CREATE, "--terminate-notification-time", value), NOTICE_TIME)
            for value in ("4", "16", "99", "10h", "PT16M", "soon", "-5", "4m59s", "")
        ),
        (("vmss", "show", "-n", ""), "--name is empty; name the scale set, such as web."),
        (
            (*UPDATE, "--enable-terminate-notification", "maybe"),
            "--enable-terminate-notification is true or false, not 'maybe'.",
        ),
        (
            (*UPDATE, "--instance-id", "2", "--tags", "a=b"),
            "--instance-id cannot be combined with flags of the set.",
        ),
        ((*CREATE, "--eviction-policy", "Delete"), "--eviction-policy needs --priority Spot."),
        (
            (*ANNOUNCE, "Freeze", "--notice", "1m"),
            "--notice of a Freeze is at least 15m; add --short to give less.",
        ),
        (
            (*ANNOUNCE, "Freeze", "--duration", "-5"),
            "--duration is 0 to 86400 seconds, or -1 when unknown.",
        ),
        (
            (*ANNOUNCE, "Freeze", "--started", "--notice", "20m"),
            "--started and --notice cannot be combined.",
        ),
        *(
            (
                (*RULE, "--condition", *condition.split(), "--scale", "out", "1"),
                '--condition is such as "Percentage CPU > 75 avg 5m".',
            )
            for condition in ("CPU", "CPU > many avg 5m", "CPU > 5 often 5m", "> 5 avg 5m")
        ),
        (
            (*RULE, "--condition", "CPU > 5 avg soon", "--scale", "out", "1"),
            "'soon' is not a duration such as 10m, 90s, 1h30m or PT10M.",
        ),
        (
            (*RULE, "--condition", "CPU > 5 avg 5m where x", "--scale", "out", "1"),
            "after where comes such as: VMName == web_0 or web_1.",
        ),
        *(
            (
                (*RULE, "--condition", "CPU > 5 avg 5m", "--scale", *scale.split()),
                "--scale is such as: out 1, in 50% or to 3.",
            )
            for scale in ("up 1", "out", "out much")
        ),
        (
            (*RULE, "--condition", "CPU > 5 avg 5m", "--scale", "out 1", "--timegrain", "1m"),
            "--timegrain is such as: avg 1m.",
        ),
        (
            ("clock", "advance", "-5m"),
            "the clock only moves forward, by a duration such as 10m.",
        ),
        (
            ("clock", "advance", "-PT1H"),
            "the clock only moves forward, by a duration such as 10m.",
        ),
    ],
)
def test_wrong_usage_is_one_sentence(run, wrong, sentence):
    done = run(*wrong)
    assert (done.code, done.out, done.err) == (2, "", f"error: {sentence}\n")


def test_a_terminate_is_not_announced_but_requested(run):
    refused = run(*ANNOUNCE, "Terminate")
    assert refused.code == 2
    assert "Terminate" not in run("events", "announce", "-h").out


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        ((*CREATE, "--terminate-notification-time", "99"), 2, "WrongUsage"),
        (("vmss", "list", "--nonsense"), 2, "WrongUsage"),
        (("vmss", "list", "--portal", "127.0.0.1:1"), 1, "Failed"),
    ],
)
def test_a_program_gets_failures_as_json(run, arguments, exit_code, code):
    done = run(*arguments, "--json")
    assert done.code == exit_code
    error = json.loads(done.out)["error"]
    assert error["code"] == code
    assert error["message"] in done.err


@pytest.mark.acceptance
def test_a_program_gets_the_servers_refusal_as_json(ask):
    done = ask("vmss", "show", "-n", "nope", "--json")
    assert done.code == 3
    error = json.loads(done.out)["error"]
    assert error["code"] == "ResourceGroupNotFound"
    assert f"error: {error['message']} (ResourceGroupNotFound)\n" in done.err


@pytest.mark.acceptance
def test_the_metadata_address_is_not_taken_for_the_api(run, server):
    done = run("clock", "show", "--portal", server.endpoints.metadata)
    assert (done.code, done.err) == (
        1,
        "error: that is the metadata address; the API is elsewhere (see endpoints.json).\n",
    )


@pytest.mark.acceptance
def test_zones_and_notices_are_read_in_every_notation(ask):
    for number, notice in enumerate(("10", "10m", "PT10M", "pt10m")):
        name = ("vmss", "create", "-n", f"web{number}", "--instance-count", "0")
        flags = ("-z", "1,2", "--terminate-notification-time", notice)
        assert ask(*name, *flags, "--json").json["zones"] == ["1", "2"]
    assert {line.split()[4] for line in ask("vmss", "list").out.splitlines()[1:]} == {"PT10M"}
