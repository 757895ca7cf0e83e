"""Autoscale settings as clients write them, and what can be read of what they did."""

from typing import Any

from tests.web.desk import OURS, SUBSCRIPTION, WEB, Desk

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/Group/providers/Microsoft.Insights"
SETTINGS = f"{GROUP}/autoscalesettings"
AUTO = f"{SETTINGS}/auto"
INSIGHTS = "2022-10-01"
CPU = "Percentage CPU"


def a_rule(
    operator: str = "GreaterThan",
    threshold: float = 75.0,
    direction: str = "Increase",
    trigger: dict[str, Any] | None = None,
    **action: Any,
) -> dict[str, Any]:
    """What `az monitor autoscale rule create` adds."""
    return {
        "metricTrigger": {
            "metricName": CPU,
            "metricResourceUri": WEB,
            "operator": operator,
            "statistic": "Average",
            "threshold": threshold,
            "timeAggregation": "Average",
            "timeGrain": "PT1M",
            "timeWindow": "PT5M",
            **(trigger or {}),
        },
        "scaleAction": {
            "cooldown": "PT5M",
            "direction": direction,
            "type": "ChangeCount",
            "value": "1",
            **action,
        },
    }


SCALE_OUT, SCALE_IN = a_rule(), a_rule("LessThan", 25.0, "Decrease")


def a_profile(*rules: Any, name: str = "default", counts: str = "1 2 5", **more: Any) -> Any:
    least, usual, most = counts.split()
    capacity = {"default": usual, "maximum": most, "minimum": least}
    return {"capacity": capacity, "name": name, "rules": list(rules), **more}


def a_setting(*profiles: Any, **properties: Any) -> dict[str, Any]:
    """What `az monitor autoscale create` sends."""
    email = {"customEmails": []}
    return {
        "location": "westus",
        "properties": {
            "enabled": True,
            "name": "auto",
            "notifications": [{"email": email, "operation": "scale", "webhooks": []}],
            "profiles": list(profiles or (a_profile(SCALE_OUT, SCALE_IN),)),
            "targetResourceUri": WEB,
            **properties,
        },
        "tags": {"a": "b"},
    }


async def report(desk: Desk, value: float, **more: Any) -> Any:
    """Post one sample of the set's metric."""
    body = {"resource": WEB, "name": CPU, "value": value, **more}
    return await desk.send("POST", f"{OURS}/metrics", body)


async def put(desk, body=None, path=AUTO, version=INSIGHTS):
    return await desk.arm("PUT", path, body or a_setting(), version)


async def capacity(desk):
    return (await desk.arm("GET", WEB)).json()["sku"]["capacity"]


async def metrics_of(desk, query=""):
    return (await desk.send("GET", f"{OURS}/metrics{query}")).json()["value"]
