"""Metrics: posted, kept for a while, read back, and of nothing that does not exist."""

from datetime import timedelta

import pytest

from tests.web.desk import OURS, SETS, SUBSCRIPTION, WEB, a_desk
from tests.web.settings import CPU, SETTINGS, capacity, metrics_of, put, report

MINUTE = timedelta(minutes=1)


async def test_samples_are_kept_by_the_minute_and_shown(web):
    await report(web, 10, instance="web_0")
    await report(web, 30, instance="web_0")
    await report(web, 50, at="2026-03-05T11:58:30Z")
    await report(web, 50, name="Memory")

    found = {each["name"]: each for each in await metrics_of(web)}

    assert found.keys() == {CPU, "Memory"}
    assert found[CPU]["resource"] == WEB
    assert found[CPU]["points"] == [
        {
            "at": "2026-03-05T11:58:00Z",
            "instance": "",
            "count": 1,
            "average": 50.0,
            "minimum": 50.0,
            "maximum": 50.0,
        },
        {
            "at": "2026-03-05T12:00:00Z",
            "instance": "web_0",
            "count": 2,
            "average": 20.0,
            "minimum": 10.0,
            "maximum": 30.0,
        },
    ]
    assert len(await metrics_of(web, f"?resource={WEB}")) == 2
    assert await metrics_of(web, f"?resource={WEB}2") == []


@pytest.mark.parametrize(
    "change",
    [
        {"resource": "web"},
        {"resource": f"/subscriptions/{SUBSCRIPTION}"},
        {"name": ""},
        {"name": "a/b"},
        {"name": "x" * 129},
        {"value": "90"},
        {"value": 1e300},
        {"value": None},
        {"at": "yesterday"},
        {"at": "2026-03-05T12:02:00Z"},
        {"at": "2026-03-05T00:00:00Z"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"instance": "x" * 65},
        {"more": 1},
    ],
)
async def test_a_wrong_sample_is_refused(web, change):
    before = web.dump()

    refused = await report(web, **{"value": 1.0, **change})

    assert refused.status_code == 400, refused.text
    assert refused.json()["error"]["message"].endswith(".")
    assert web.dump() == before


async def test_there_are_only_so_many_metrics_and_old_ones_go(web):
    for number in range(200):
        assert (await report(web, 1.0, name=f"m{number}")).status_code == 204
    assert (await report(web, 1.0, name="m0")).status_code == 204
    refused = await report(web, 1.0, name="another")
    assert refused.status_code == 409

    await web.settle(timedelta(hours=12))
    await report(web, 1.0, name="m1")
    await web.settle(timedelta(minutes=2))

    assert [each["name"] for each in await metrics_of(web)] == ["m1"]


async def test_metrics_and_what_was_decided_survive_a_restart(web):
    await put(web)
    await report(web, 90)
    await web.settle(MINUTE)
    assert await capacity(web) == 3

    async with a_desk(web.platform.clock, web.store) as again:
        await again.settle(3 * MINUTE)
        assert await capacity(again) == 3, "the cooldown goes on"
        await report(again, 90)
        await again.settle(2 * MINUTE)
        assert await capacity(again) == 4


async def test_the_monitoring_provider_shows_what_was_reported(web):
    """`az monitor metrics list` encodes its timespan twice, and asks as of 2018-01-01."""
    await report(web, 10, instance="web_0")
    await report(web, 30, instance="web_1")
    await report(web, 7, name="Memory")
    span = "2026-03-05T11%253A00%253A37.1%252F2026-03-05T12%253A30%253A00.0"
    query = f"interval=PT1M&metricnames=Percentage%20CPU&timespan={span}&top=10"
    path = f"{WEB}/providers/Microsoft.Insights/metrics"

    shown = (await web.arm("GET", f"{path}?{query}", version="2018-01-01")).json()

    assert [metric["name"]["value"] for metric in shown["value"]] == [CPU]
    assert shown["value"][0]["timeseries"][0]["data"] == [
        {"timeStamp": "2026-03-05T12:00:00.000000Z", "average": 20.0}
    ]
    every = (
        "aggregation=Count,total,Minimum,maximum&timespan=2026-03-05T00:00:00/2026-03-06T00:00:00"
    )
    both = (await web.arm("GET", f"{path}?{every}", version="2018-01-01")).json()
    assert len(both["value"]) == 2
    data = both["value"][1]["timeseries"][0]["data"][0]
    assert (data["count"], data["total"], data["minimum"], data["maximum"]) == (2, 40, 10, 30)
    await web.settle(MINUTE)
    assert (await web.arm("GET", path, version="2018-01-01")).json()["interval"] == "PT1M"


@pytest.mark.parametrize(
    "query", ["timespan=x", "timespan=x/y", "interval=PT1S", "interval=soon", "aggregation=median"]
)
async def test_a_wrong_question_about_metrics_is_refused(web, query):
    refused = await web.arm("GET", f"{WEB}/providers/microsoft.insights/metrics?{query}")

    assert refused.status_code == 400
    assert refused.json()["error"]["target"] == query.partition("=")[0]


async def test_metrics_of_an_unknown_set_are_not_found(web):
    missing = await web.arm("GET", f"{WEB}2/providers/microsoft.insights/metrics")
    assert missing.status_code == 404


async def test_the_versions_are_those_of_the_monitoring_provider(web):
    old = await web.arm("GET", SETTINGS, version="2013-01-01")

    assert old.status_code == 400
    assert "2022-10-01" in old.json()["error"]["message"]
    assert (await web.arm("GET", SETTINGS, version="2014-04-01")).status_code == 200


async def test_what_does_not_exist_has_no_metrics(desk):
    body = {"resource": f"{SETS}/nope", "name": "cpu", "value": 1}
    answer = await desk.send("POST", f"{OURS}/metrics", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "ResourceNotFound")
    assert (await desk.send("GET", f"{OURS}/metrics")).json()["value"] == []
