"""Operations in Azure's words, and the filters of the activity log."""

from datetime import UTC, datetime

import pytest

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.resources import Activity
from lastcall.wire.activities import asked_for, encode_activity, parse_filter, select

GROUP = "/subscriptions/s/resourceGroups/Group"
WEB = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/web"
SINCE = "eventTimestamp ge '2026-03-05T12:00:00Z'"
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def an_activity(**changes):
    given = {
        "at": NOON,
        "operation": "Microsoft.Compute/virtualMachineScaleSets/delete/action",
        "path": WEB,
        "group": "group",
        "caller": "Me",
        "status": "Accepted",
        "correlation": "C-1",
        "seq": 7,
    }
    return Activity(**(given | changes))


@pytest.mark.parametrize(
    ("method", "path", "operation", "at"),
    [
        ("PUT", WEB, "Microsoft.Compute/virtualMachineScaleSets/write", WEB),
        ("PATCH", WEB, "Microsoft.Compute/virtualMachineScaleSets/write", WEB),
        ("DELETE", WEB, "Microsoft.Compute/virtualMachineScaleSets/delete", WEB),
        ("POST", f"{WEB}/delete", "Microsoft.Compute/virtualMachineScaleSets/delete/action", WEB),
        (
            "POST",
            f"{WEB}/virtualMachines/0/restart",
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action",
            f"{WEB}/virtualMachines/0",
        ),
        ("PUT", GROUP, "Microsoft.Resources/subscriptions/resourceGroups/write", GROUP),
        (
            "POST",
            "/subscriptions/s/providers/Microsoft.Compute/register",
            "Microsoft.Compute/register/action",
            "/subscriptions/s/providers/Microsoft.Compute",
        ),
    ],
)
def test_operations_are_called_as_azure_calls_them(method, path, operation, at):
    asked = asked_for(method, path, "me")

    assert (asked.operation, asked.path, asked.caller) == (operation, at, "me")
    assert asked.group == ("group" if GROUP in path else "")


def test_a_path_is_kept_up_to_a_length():
    assert len(asked_for("PUT", f"{WEB}{'x' * 5000}", "me").path) == 1024


def test_a_filter_names_its_span_and_more():
    wanted = parse_filter(
        f"{SINCE} and eventTimestamp le 2026-03-05T13:00:00.1234567"
        " AND resourceGroupName eq 'It''s' and eventChannels eq 'Admin, Operation'"
        " and status eq 'Failed'"
    )

    assert wanted.since == NOON
    assert wanted.until == datetime(2026, 3, 5, 13, 0, 0, 123456, tzinfo=UTC)
    assert (wanted.group, wanted.status) == ("it's", "failed")


@pytest.mark.parametrize(
    ("condition", "lets"),
    [
        ("", True),
        ("correlationId eq 'c-1'", True),
        ("correlationId eq 'c-2'", False),
        ("caller eq 'ME'", True),
        ("caller eq 'you'", False),
        ("status eq 'accepted'", True),
        ("status eq 'Failed'", False),
        (f"resourceUri eq '{WEB.upper()}/'", True),
        (f"resourceId eq '{GROUP}'", True),
        (f"resourceUri eq '{WEB[:-1]}'", False),
        ("resourceProvider eq 'microsoft.compute'", True),
        ("resourceProvider eq 'Microsoft.Comp'", False),
    ],
)
def test_what_a_filter_lets_through(condition, lets):
    wanted = parse_filter(f"{SINCE} and {condition}" if condition else SINCE)

    assert wanted.lets(an_activity()) is lets


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "x",
        "caller eq 'me'",
        "eventTimestamp le '2026-03-05T13:00:00Z'",
        "eventTimestamp eq '2026-03-05T13:00:00Z'",
        "eventTimestamp ge 'soon'",
        "eventTimestamp ge '0001-01-01T00:00:00+14:00'",
        f"{SINCE} or caller eq 'me'",
        f"{SINCE} and",
        f"{SINCE} and colour eq 'red'",
        f"{SINCE} and caller gt 'me'",
        f"{SINCE} and caller eq 'me",
    ],
)
def test_no_other_syntax_is_allowed(text):
    with pytest.raises(InvalidParameterError) as refused:
        parse_filter(text)

    assert refused.value.target == "$filter"
    assert str(refused.value).endswith(".")


def test_an_event_looks_as_azures_do():
    event = encode_activity(an_activity(), "s", "t")

    assert event["authorization"] == {
        "action": "Microsoft.Compute/virtualMachineScaleSets/delete/action",
        "scope": WEB,
    }
    assert event["eventTimestamp"] == "2026-03-05T12:00:00.000000Z"
    assert event["eventName"] == {"value": "BeginRequest", "localizedValue": "Begin request"}
    assert event["category"]["value"] == "Administrative"
    assert event["level"] == "Informational"
    assert event["resourceGroupName"] == "Group"
    assert event["resourceProviderName"]["value"] == "Microsoft.Compute"
    assert event["resourceType"]["value"] == "Microsoft.Compute/virtualMachineScaleSets"
    assert event["subStatus"]["value"] == ""
    assert event["id"] == (
        f"{WEB}/events/00000000-0000-0000-0000-000000000007/ticks/639083088000000000"
    )
    assert (event["operationId"], event["correlationId"]) == ("C-1", "C-1")


def test_a_failure_says_why():
    failed = an_activity(status="Failed", code=409, reason="Conflict", message="It is busy.")
    event = encode_activity(failed, "s", "t")

    assert event["level"] == "Error"
    assert event["eventName"]["value"] == "EndRequest"
    assert event["subStatus"] == {
        "value": "Conflict",
        "localizedValue": "Conflict (HTTP Status Code: 409)",
    }
    assert event["properties"]["statusMessage"] == "It is busy."
    later = encode_activity(an_activity(status="Failed", reason="Preempted"), "s", "t")
    assert later["subStatus"]["localizedValue"] == "Preempted"


def test_a_scale_action_and_a_provider_have_their_own_words():
    scaled = an_activity(operation="Microsoft.Insights/autoscaleSettings/Scaleup/action")
    registered = an_activity(
        operation="Microsoft.Compute/register/action",
        path="/subscriptions/s/providers/Microsoft.Compute",
    )

    assert encode_activity(scaled, "s", "t")["category"]["value"] == "Autoscale"
    event = encode_activity(registered, "s", "t")
    assert event["resourceType"]["value"] == "Microsoft.Compute/register"
    assert event["resourceGroupName"] == ""


def test_only_what_is_selected_is_shown():
    event = encode_activity(an_activity(), "s", "t")

    assert select(event, None) == event
    assert select(event, "Caller , status,nothing") == {
        "caller": "Me",
        "status": {"value": "Accepted", "localizedValue": "Accepted"},
    }
