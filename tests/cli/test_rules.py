"""Rules are read as az reads them."""

import pytest

from lastcall.cli.rules import condition, grain, scale, sentence


@pytest.mark.parametrize(
    ("text", "metric", "operator", "threshold", "aggregation", "window"),
    [
        ("Percentage CPU > 75 avg 5m", "Percentage CPU", "GreaterThan", 75.0, "Average", "PT5M"),
        ("CPU>=7.5 min 1h", "CPU", "GreaterThanOrEqual", 7.5, "Minimum", "PT1H"),
        ("CPU < -1 max 5m", "CPU", "LessThan", -1.0, "Maximum", "PT5M"),
        ("CPU <= 1 total 5m", "CPU", "LessThanOrEqual", 1.0, "Total", "PT5M"),
        ('"CPU" == 1 count 5m', "CPU", "Equals", 1.0, "Count", "PT5M"),
        ("CPU != 1 avg PT5M", "CPU", "NotEquals", 1.0, "Average", "PT5M"),
    ],
)
def test_conditions(text, metric, operator, threshold, aggregation, window):
    expected = {
        "metricName": metric,
        "operator": operator,
        "threshold": threshold,
        "timeAggregation": aggregation,
        "timeWindow": window,
    }

    assert condition([text]) == expected
    assert condition(text.split()) == expected


def test_dimensions():
    found = condition(["CPU > 1 avg 5m where VMName == web_0 or web_1 and Lun != 3"])

    assert found["dimensions"] == [
        {"DimensionName": "VMName", "Operator": "Equals", "Values": ["web_0", "web_1"]},
        {"DimensionName": "Lun", "Operator": "NotEquals", "Values": ["3"]},
    ]


@pytest.mark.parametrize(
    ("text", "direction", "kind", "value"),
    [
        ("out 1", "Increase", "ChangeCount", "1"),
        ("in 50%", "Decrease", "PercentChangeCount", "50"),
        ("to 3", "None", "ExactCount", "3"),
    ],
)
def test_scaling(text, direction, kind, value):
    assert scale([text]) == {"direction": direction, "type": kind, "value": value}


def test_the_grain():
    assert grain(["avg", "1m"]) == {"statistic": "Average", "timeGrain": "PT1M"}
    assert grain(["sum 5m"]) == {"statistic": "Sum", "timeGrain": "PT5M"}


def test_a_rule_is_told_as_it_could_be_written():
    rule = {
        "metricTrigger": condition(["Percentage CPU < 25 avg 5m"]),
        "scaleAction": scale(["in 50%"]),
    }

    assert sentence(rule) == "Percentage CPU < 25 avg 5m: in 50%"
