"""Autoscale settings over HTTP, as az and the SDKs write them, and what the platform does then."""

from copy import deepcopy
from datetime import timedelta

import pytest

from tests.web.desk import GROUP, OURS, SUBSCRIPTION, WEB, with_notice
from tests.web.insights import validator
from tests.web.settings import (
    AUTO,
    CPU,
    INSIGHTS,
    SCALE_OUT,
    SETTINGS,
    a_profile,
    a_rule,
    a_setting,
    capacity,
    metrics_of,
    put,
    report,
)
from tests.web.test_deployments import a_deployment, a_set, deploy

MINUTE = timedelta(minutes=1)
EVERYWHERE = f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.insights/autoscalesettings"
FILES = {
    "2015-04-01": "insights_2015-04-01_autoscale.json",
    "2022-10-01": "insights_2022-10-01_autoscale.json",
}


# What az sends, in the order in which it does


async def test_a_setting_is_created_shown_listed_and_deleted(web):
    created = await put(web)
    assert created.status_code == 201
    assert (await put(web)).status_code == 200

    shown = (await web.arm("GET", AUTO, version=INSIGHTS)).json()
    assert shown == created.json()
    assert shown["name"] == "auto"
    assert shown["type"] == "Microsoft.Insights/autoscaleSettings"
    assert shown["id"].endswith(
        "/resourceGroups/Group/providers/Microsoft.Insights/autoscaleSettings/auto"
    )
    assert shown["properties"]["notifications"][0]["operation"] == "Scale"
    for path in (SETTINGS, EVERYWHERE):
        assert (await web.arm("GET", path, version=INSIGHTS)).json() == {"value": [shown]}
    other = SETTINGS.replace("Group", "other")
    for method, path in (("GET", other), ("DELETE", f"{other}/auto")):
        lost = await web.arm(method, path, version=INSIGHTS)
        assert (lost.status_code, lost.json()["error"]["code"]) == (404, "ResourceGroupNotFound")

    assert (await web.arm("DELETE", AUTO, version=INSIGHTS)).status_code == 200
    assert (await web.arm("DELETE", AUTO, version=INSIGHTS)).status_code == 204
    assert (await web.arm("GET", AUTO, version=INSIGHTS)).status_code == 404


async def test_rules_and_profiles_are_added_by_writing_back_what_was_read(web):
    """`rule create`, `profile create` and `rule delete` each are a GET and a PUT of everything."""
    await put(web, a_setting(a_profile()))
    document = (await web.arm("GET", AUTO, version=INSIGHTS)).json()
    for read_only in ("id", "type", "name"):
        del document[read_only]
    dimension = {"DimensionName": "VMName", "Operator": "Equals", "Values": ["web_0"]}
    rules = [a_rule(), a_rule("LessThan", 25.0, "Decrease", {"dimensions": [dimension]})]
    week = {
        "days": ["Saturday", "Sunday"],
        "hours": [23],
        "minutes": [59],
        "timeZone": "W. Europe Standard Time",
    }
    profiles = document["properties"]["profiles"]
    profiles[0]["rules"] = rules
    profiles += [
        a_profile(
            *rules,
            name="christmas",
            counts="3 3 3",
            fixedDate={
                "end": "2030-12-26T00:00:00.000Z",
                "start": "2030-12-24T00:00:00.000Z",
                "timeZone": "Pacific Standard Time",
            },
        ),
        a_profile(
            name='{"name": "default", "for": "weekend"}',
            recurrence={"frequency": "Week", "schedule": week},
        ),
    ]

    written = await put(web, document)

    assert written.status_code == 200, written.text
    assert written.json()["properties"]["profiles"] == profiles


async def test_a_change_replaces_the_members_that_it_has(web):
    await put(web)

    changed = await web.arm(
        "PATCH", AUTO, {"properties": {"enabled": False}, "tags": {"c": "d"}}, INSIGHTS
    )

    assert changed.status_code == 200
    assert changed.json()["tags"] == {"c": "d"}
    assert changed.json()["properties"]["enabled"] is False
    assert changed.json()["properties"]["profiles"] == a_setting()["properties"]["profiles"]
    untagged = await web.arm("PATCH", AUTO, {}, INSIGHTS)
    assert untagged.json() == changed.json()
    assert (await web.arm("PATCH", f"{AUTO}2", {}, INSIGHTS)).status_code == 404


async def test_what_is_written_in_another_spelling_is_shown_in_the_documented_one(web):
    body = {
        "Location": "West US",
        "PROPERTIES": {
            "Profiles": [
                {
                    "NAME": "default",
                    "Capacity": {"Minimum": 1, "maximum": 5, "Default": 2},
                    "rules": [
                        a_rule(
                            "greaterthan",
                            direction="increase",
                            trigger={
                                "dimensions": [
                                    {"dimensionName": "x", "operator": "equals", "values": ["y"]}
                                ]
                            },
                            value=1,
                        )
                    ],
                }
            ],
            "targetResourceURI": WEB,
            "enabled": "true",
            "predictiveAutoscalePolicy": None,
        },
    }

    shown = (await put(web, body)).json()

    profile = shown["properties"]["profiles"][0]
    assert shown["location"] == "westus"
    assert profile["capacity"] == {"minimum": "1", "maximum": "5", "default": "2"}
    trigger = profile["rules"][0]["metricTrigger"]
    assert trigger["operator"] == "GreaterThan"
    assert trigger["dimensions"] == [{"DimensionName": "x", "Operator": "Equals", "Values": ["y"]}]
    assert profile["rules"][0]["scaleAction"]["value"] == "1"
    assert shown["properties"]["enabled"] is True
    assert "predictiveAutoscalePolicy" not in shown["properties"]


@pytest.mark.parametrize("version", FILES)
async def test_requests_and_answers_are_as_the_vendor_describes_them(web, version):
    resource = validator(FILES[version], "AutoscaleSettingResource")
    listed = validator(FILES[version], "AutoscaleSettingResourceCollection")
    policy = {"scaleMode": "ForecastOnly", "scaleLookAheadTime": "PT10M"}
    hook = {"serviceUri": "http://x.example", "properties": {"a": "b"}}
    note = {
        "operation": "Scale",
        "email": {"customEmails": ["a@x.example"], "sendToSubscriptionAdministrator": True},
        "webhooks": [hook],
    }
    body = a_setting(notifications=[note], predictiveAutoscalePolicy=policy)
    resource.validate(body)

    answer = await put(web, body, version=version)

    resource.validate(answer.json())
    resource.validate((await put(web, version=version)).json())
    listed.validate((await web.arm("GET", SETTINGS, version=version)).json())
    patched = await web.arm("PATCH", AUTO, {"properties": a_setting()["properties"]}, version)
    resource.validate(patched.json())


# What is not taken


def spoiled(path, value):
    """A setting in which something at a path is something else."""
    body = deepcopy(a_setting())
    here = body
    *steps, last = path
    for step in steps:
        here = here[step]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return body


PROPERTIES = ("properties",)
PROFILE = ("properties", "profiles", 0)
TRIGGER = (*PROFILE, "rules", 0, "metricTrigger")
ACTION = (*PROFILE, "rules", 0, "scaleAction")
DAYS = {"days": ["Monday"], "hours": [8], "minutes": [0], "timeZone": "UTC"}
SPOILED = [
    (("properties",), ...),
    (("properties",), []),
    ((*PROPERTIES, "profiles"), ...),
    ((*PROPERTIES, "profiles"), []),
    ((*PROPERTIES, "profiles"), [a_profile(name=str(n)) for n in range(21)]),
    ((*PROPERTIES, "profiles"), ["x"]),
    ((*PROPERTIES, "profiles"), [a_profile(), a_profile(name="DEFAULT")]),
    ((*PROPERTIES, "enabled"), "maybe"),
    ((*PROPERTIES, "targetResourceUri"), "web"),
    ((*PROPERTIES, "targetResourceUri"), f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Group"),
    ((*PROPERTIES, "notifications"), [{"operation": "Sing"}]),
    ((*PROPERTIES, "notifications"), [{"operation": "Scale", "webhooks": [{"serviceUri": 1}]}]),
    (
        (*PROPERTIES, "notifications"),
        [{"operation": "Scale", "webhooks": [{"properties": {"a": 1}}]}],
    ),
    ((*PROPERTIES, "notifications"), [{"operation": "Scale", "email": {"customEmails": [1]}}]),
    ((*PROPERTIES, "predictiveAutoscalePolicy"), {"scaleMode": "Guess"}),
    (
        (*PROPERTIES, "predictiveAutoscalePolicy"),
        {"scaleMode": "Enabled", "scaleLookAheadTime": "PT2H"},
    ),
    ((*PROFILE, "name"), ...),
    ((*PROFILE, "capacity"), ...),
    ((*PROFILE, "capacity", "minimum"), "none"),
    ((*PROFILE, "capacity", "maximum"), "1001"),
    ((*PROFILE, "capacity", "maximum"), "1"),
    ((*PROFILE, "capacity", "default"), "0"),
    ((*PROFILE, "rules"), ...),
    ((*PROFILE, "rules"), [SCALE_OUT] * 11),
    ((*PROFILE, "fixedDate"), {"start": "2030-01-02", "end": "2030-01-01"}),
    ((*PROFILE, "fixedDate"), {"start": "soon", "end": "2030-01-01"}),
    ((*PROFILE, "fixedDate"), {"start": "0001-01-01T00:00:00+14:00", "end": "2030-01-01"}),
    (
        (*PROFILE, "fixedDate"),
        {"start": "2030-01-01", "end": "2030-01-02", "timeZone": "Middle-earth"},
    ),
    ((*PROFILE, "recurrence"), {"frequency": "Day", "schedule": DAYS}),
    ((*PROFILE, "recurrence"), {"frequency": "Week"}),
    ((*PROFILE, "recurrence"), {"frequency": "Week", "schedule": DAYS | {"days": ["Caturday"]}}),
    ((*PROFILE, "recurrence"), {"frequency": "Week", "schedule": DAYS | {"days": []}}),
    ((*PROFILE, "recurrence"), {"frequency": "Week", "schedule": DAYS | {"hours": [24]}}),
    ((*PROFILE, "recurrence"), {"frequency": "Week", "schedule": DAYS | {"minutes": [True]}}),
    ((*PROFILE, "recurrence"), {"frequency": "Week", "schedule": DAYS | {"timeZone": "../x"}}),
    (TRIGGER, ...),
    *[((*TRIGGER, name), ...) for name in SCALE_OUT["metricTrigger"]],
    ((*TRIGGER, "timeGrain"), "PT30S"),
    ((*TRIGGER, "timeGrain"), "PT10M"),
    ((*TRIGGER, "timeWindow"), "PT4M"),
    ((*TRIGGER, "timeWindow"), "P1D"),
    ((*TRIGGER, "statistic"), "Median"),
    ((*TRIGGER, "operator"), "Above"),
    ((*TRIGGER, "threshold"), "75"),
    ((*TRIGGER, "threshold"), True),
    ((*TRIGGER, "metricResourceUri"), "web"),
    ((*TRIGGER, "dividePerInstance"), 1),
    ((*TRIGGER, "dimensions"), [{"DimensionName": "x", "Operator": "LessThan", "Values": ["y"]}]),
    ((*TRIGGER, "dimensions"), [{"DimensionName": "x", "Operator": "Equals", "Values": []}]),
    (ACTION, ...),
    *[((*ACTION, name), ...) for name in ("direction", "type", "cooldown")],
    ((*ACTION, "direction"), "Sideways"),
    ((*ACTION, "type"), "ServiceAllowedNextValue"),
    ((*ACTION, "value"), "0"),
    ((*ACTION, "cooldown"), "PT59S"),
    ((*ACTION, "cooldown"), "P8D"),
    (("location",), ...),
    (("location",), 7),
    (("tags",), {"a": 1}),
]


@pytest.mark.parametrize(("path", "value"), SPOILED, ids=lambda given: str(given)[:60])
async def test_a_wrong_setting_is_refused_in_one_sentence(web, path, value):
    await put(web)
    before = web.dump()

    refused = await put(web, spoiled(path, value))

    assert refused.status_code == 400, refused.text
    error = refused.json()["error"]
    assert error["code"] in ("InvalidParameter", "LocationRequired")
    assert error["message"].endswith(".")
    assert web.dump() == before


async def test_a_profile_has_a_fixed_date_or_recurs(web):
    both = a_profile(
        fixedDate={"start": "2030-01-01", "end": "2030-01-02"},
        recurrence={"frequency": "Week", "schedule": DAYS},
    )

    refused = await put(web, a_setting(both))

    assert "can have one of them" in refused.json()["error"]["message"]


async def test_a_target_has_one_setting(web):
    await put(web)

    refused = await put(web, path=f"{SETTINGS}/another")

    assert refused.status_code == 409
    assert "'auto' already" in refused.json()["error"]["message"]
    assert (await put(web, path=f"{SETTINGS}/AUTO")).status_code == 200
    elsewhere = a_setting(targetResourceUri=f"{WEB}2")
    assert (await put(web, elsewhere, path=f"{SETTINGS}/another")).status_code == 201


@pytest.mark.parametrize("name", ["a%2Fb", "x" * 261, "a%3Cb", "a.", "%00", "a%3Fb"])
async def test_a_setting_cannot_have_just_any_name(web, name):
    for method in ("PUT", "PATCH", "GET", "DELETE"):
        refused = await web.arm(method, f"{SETTINGS}/{name}", a_setting(), INSIGHTS)
        assert refused.status_code == 400


# What the platform does


async def test_load_scales_out_waits_and_scales_in_with_notice(web):
    """A metric, a scale-out, its cooldown, a scale-in, and the Terminate that goes with it."""
    await put(web)
    assert await capacity(web) == 2

    assert (await report(web, 90)).status_code == 204
    await web.settle(MINUTE)
    assert await capacity(web) == 3

    await report(web, 99)
    await web.settle(4 * MINUTE)
    assert await capacity(web) == 3, "five minutes must pass between two changes"
    await web.settle(MINUTE)
    assert await capacity(web) == 4

    await web.settle(5 * MINUTE)
    for value in (10, 12):
        await report(web, value)
    await web.settle(MINUTE)
    assert await capacity(web) == 3

    events = (await web.send("GET", f"{OURS}/events")).json()["value"]
    assert [(event["type"], event["status"]) for event in events] == [("Terminate", "Scheduled")]
    leaving = events[0]["resources"]
    members = (await web.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    assert len(members) == 4, "it is held until its notice ends"
    await web.settle(10 * MINUTE)
    members = (await web.arm("GET", f"{WEB}/virtualMachines")).json()["value"]
    assert leaving[0] not in [member["name"] for member in members]

    lines = (await web.send("GET", f"{OURS}/history")).json()["value"]
    scaled = [(line["by"], line["text"]) for line in lines if line["what"] == "scaled"]
    assert scaled[0] == (
        "autoscale",
        "Scaled web from 2 to 3: Percentage CPU is 90, GreaterThan 75.",
    )
    assert scaled[2] == (
        "autoscale",
        "Scaled web from 4 to 3: Percentage CPU is 11, LessThan 25.",
    )


async def test_bounds_are_kept_at_once(web):
    await put(web, a_setting(a_profile(counts="4 4 6")))
    assert await capacity(web) == 4

    await web.arm("PATCH", WEB, {"sku": {"capacity": 9}})
    await web.settle(MINUTE)

    assert await capacity(web) == 6


async def test_a_schedule_brings_its_own_bounds(web):
    night = {"frequency": "Week", "schedule": DAYS | {"days": ["Thursday"], "hours": [13]}}
    day = {"frequency": "Week", "schedule": DAYS | {"days": ["Thursday"], "hours": [9]}}
    await put(
        web,
        a_setting(
            a_profile(name="day", counts="5 5 5", recurrence=day),
            a_profile(name="night", counts="1 1 1", recurrence=night),
        ),
    )
    assert await capacity(web) == 5

    await web.settle(timedelta(minutes=59))
    assert await capacity(web) == 5
    await web.settle(MINUTE)
    assert await capacity(web) == 1


async def test_a_setting_that_is_not_enabled_does_nothing(web):
    await put(web, a_setting(a_profile(counts="5 5 5"), enabled=False))
    await web.settle(10 * MINUTE)
    assert await capacity(web) == 2

    await web.arm("PATCH", AUTO, {"properties": {"enabled": True}}, INSIGHTS)
    assert await capacity(web) == 5


async def test_a_setting_that_is_deleted_does_nothing_more(web):
    await put(web)
    await web.arm("DELETE", AUTO, version=INSIGHTS)
    await report(web, 99)
    await web.settle(10 * MINUTE)

    assert await capacity(web) == 2


async def failures(desk):
    found = (await desk.send("GET", f"{OURS}/activities")).json()["value"]
    return [each["message"] for each in found if each["status"] == "Failed"]


async def test_a_target_that_is_missing_is_told_once_and_scaled_when_it_comes(desk):
    await put(desk, a_setting(a_profile(counts="3 3 3")))
    await desk.settle(10 * MINUTE)
    assert await failures(desk) == [f"The scale set '{WEB}' does not exist, so it is not scaled."]

    await desk.arm("PUT", WEB, with_notice())
    await desk.settle(MINUTE)

    assert await capacity(desk) == 3


async def test_what_is_no_scale_set_is_not_scaled(web):
    other = WEB.replace("virtualMachineScaleSets", "virtualMachines")
    await put(web, a_setting(targetResourceUri=other))
    nowhere = a_setting()
    del nowhere["properties"]["targetResourceUri"]
    await put(web, nowhere, path=f"{SETTINGS}/nowhere")
    await web.settle(MINUTE)

    told = await failures(web)
    assert len(told) == 2
    assert all("is not a scale set" in each for each in told)


async def test_what_the_set_refuses_is_told_and_tried_again(web):
    await put(web, a_setting(a_profile(counts="1 1 1")))
    await web.arm("DELETE", WEB)
    await web.settle(3 * MINUTE)

    assert await failures(web) == ["The scale set 'web' is being deleted."]


async def test_a_rule_is_looked_at_as_often_as_it_measures(web):
    slow = a_rule(trigger={"timeGrain": "PT15M", "timeWindow": "PT30M"})
    await put(web, a_setting(a_profile(slow)))
    await report(web, 90)

    await web.settle(14 * MINUTE)
    assert await capacity(web) == 2
    await web.settle(MINUTE)
    assert await capacity(web) == 3


# With everything else in a group


async def test_a_setting_is_in_a_group_that_exists_and_goes_with_it(web):
    nowhere = await put(web, path=AUTO.replace("Group", "nowhere"))
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "ResourceGroupNotFound")
    await put(web)
    await report(web, 90)

    await web.arm("DELETE", GROUP)
    leaving = await put(web)
    assert leaving.status_code == 409
    await web.settle(timedelta(hours=1))

    assert (await web.arm("GET", EVERYWHERE, version=INSIGHTS)).json() == {"value": []}
    assert await metrics_of(web) == []


async def test_a_template_deploys_a_setting_with_its_set(desk):
    setting = {
        "type": "Microsoft.Insights/autoscaleSettings",
        "apiVersion": "2022-10-01",
        "name": "auto",
        "dependsOn": [],
        **a_setting(
            a_profile(counts="4 4 4"),
            targetResourceUri="[resourceId('Microsoft.Compute/virtualMachineScaleSets', 'web')]",
        ),
    }
    deployed = await deploy(desk, a_deployment(a_set(), setting))
    assert deployed["status"] == "Succeeded", deployed
    assert await capacity(desk) == 4
    await report(desk, 90)

    complete = await deploy(desk, a_deployment(a_set(), mode="complete"))

    assert complete["status"] == "Succeeded", complete
    assert (await desk.arm("GET", AUTO, version=INSIGHTS)).status_code == 404
    assert len(await metrics_of(desk)) == 1, "what was measured is no resource of a template"
    wrong = setting | {"properties": {"profiles": []}}
    failed = await deploy(desk, a_deployment(wrong))
    assert failed["status"] == "Failed"


async def test_a_setting_stays_where_it_is(web):
    await put(web)
    before = web.dump()
    moved = await put(web, a_setting() | {"location": "eastus"})

    assert (moved.status_code, moved.json()["error"]["code"]) == (409, "InvalidResourceLocation")
    assert web.dump() == before
    assert (await put(web, a_setting() | {"location": "West US"})).status_code == 200


async def test_what_hung_below_a_set_goes_with_it(web):
    other = f"{WEB}2"
    child = "/providers/Microsoft.Insights/diagnosticSettings/x"
    await web.arm("PUT", other, with_notice())
    for path in (WEB, other):
        assert (await web.arm("PUT", f"{path}{child}", {"properties": {}})).status_code == 201
    await report(web, 90)

    await web.arm("DELETE", f"{WEB.upper()}?forceDeletion=true")

    assert (await web.arm("GET", f"{WEB}{child}")).status_code == 404
    assert (await web.arm("GET", f"{other}{child}")).status_code == 200
    assert await metrics_of(web) == []
    await web.arm("PUT", WEB, with_notice())
    await put(web)
    await web.settle(MINUTE)
    assert await capacity(web) == 2, "the new set has measured nothing"


async def test_what_was_measured_is_nobody_elses_to_write(web):
    await report(web, 90)
    series = f"{WEB}/providers/lastcall/metrics/{CPU}".replace(" ", "%20")

    for method in ("GET", "PUT", "DELETE"):
        refused = await web.arm(method, series, {"location": "westus"})
        assert refused.status_code == 404
    assert len(await metrics_of(web)) == 1
    names = (await web.arm("GET", f"{GROUP}/resources")).json()["value"]
    assert [each["name"] for each in names] == ["web"]
