"""Autoscale rules as az writes them: --condition "Percentage CPU > 75 avg 5m" --scale out 1."""

import re
from collections.abc import Sequence
from typing import Any, Final

from lastcall.cli.failures import WrongUsageError
from lastcall.cli.flags import duration, iso_duration, short_duration

Json = dict[str, Any]

OPERATORS: Final = {
    "==": "Equals",
    "!=": "NotEquals",
    ">": "GreaterThan",
    ">=": "GreaterThanOrEqual",
    "<": "LessThan",
    "<=": "LessThanOrEqual",
}
AGGREGATIONS: Final = {
    "avg": "Average",
    "min": "Minimum",
    "max": "Maximum",
    "total": "Total",
    "count": "Count",
}
STATISTICS: Final = {"avg": "Average", "min": "Min", "max": "Max", "sum": "Sum"}
DIRECTIONS: Final = {"out": "Increase", "in": "Decrease", "to": "None"}
CONDITION: Final = re.compile(
    r"(?P<metric>[^<>=!]+?)\s*(?P<operator>[=!<>]=|<|>)\s*(?P<threshold>-?[0-9]+(?:\.[0-9]+)?)"
    r"\s+(?P<aggregation>avg|min|max|total|count)\s+(?P<window>\S+)(?:\s+where\s+(?P<where>.+))?"
)
DIMENSION: Final = re.compile(r"(?P<name>\S+)\s*(?P<operator>==|!=)\s*(?P<values>.+)")


def condition(words: Sequence[str]) -> Json:
    """Read METRIC {==,!=,>,>=,<,<=} THRESHOLD {avg,min,max,total,count} PERIOD [where ...]."""
    match = CONDITION.fullmatch(" ".join(words).strip())
    if match is None:
        raise WrongUsageError('--condition is such as "Percentage CPU > 75 avg 5m".')
    trigger = {
        "metricName": match["metric"].strip().strip('"'),
        "operator": OPERATORS[match["operator"]],
        "threshold": float(match["threshold"]),
        "timeAggregation": AGGREGATIONS[match["aggregation"]],
        "timeWindow": iso_duration(match["window"]),
    }
    if match["where"] is not None:
        parts = re.split(r"\s+and\s+", match["where"])
        trigger["dimensions"] = [_dimension(part) for part in parts]
    return trigger


def _dimension(text: str) -> Json:
    match = DIMENSION.fullmatch(text.strip())
    if match is None:
        raise WrongUsageError("after where comes such as: VMName == web_0 or web_1.")
    return {
        "DimensionName": match["name"],
        "Operator": OPERATORS[match["operator"]],
        "Values": re.split(r"\s+or\s+", match["values"].strip()),
    }


def grain(words: Sequence[str]) -> Json:
    """Read {avg,min,max,sum} PERIOD: over which spans, and how, samples become one number."""
    statistic, _, period = " ".join(words).strip().partition(" ")
    if statistic not in STATISTICS or not period:
        raise WrongUsageError("--timegrain is such as: avg 1m.")
    return {"statistic": STATISTICS[statistic], "timeGrain": iso_duration(period.strip())}


def scale(words: Sequence[str]) -> Json:
    """Read {out,in,to} VALUE[%]."""
    way, _, amount = " ".join(words).strip().partition(" ")
    digits = amount.strip().removesuffix("%")
    if way not in DIRECTIONS or not (digits.isascii() and digits.isdigit()):
        raise WrongUsageError("--scale is such as: out 1, in 50% or to 3.")
    if way == "to":
        kind = "ExactCount"
    else:
        kind = "PercentChangeCount" if amount.strip().endswith("%") else "ChangeCount"
    return {"direction": DIRECTIONS[way], "type": kind, "value": digits}


def sentence(rule: Json) -> str:
    """Return a rule as it could be written."""
    trigger, action = rule["metricTrigger"], rule["scaleAction"]
    signs = {word: sign for sign, word in OPERATORS.items()}
    ways = {word: way for way, word in DIRECTIONS.items()}
    words = {name: word for word, name in AGGREGATIONS.items()} | {"Last": "last"}
    percent = "%" if action["type"] == "PercentChangeCount" else ""
    return (
        f"{trigger['metricName']} {signs[trigger['operator']]} {trigger['threshold']:g}"
        f" {words[trigger['timeAggregation']]} {short_duration(duration(trigger['timeWindow']))}:"
        f" {ways[action['direction']]} {action.get('value', '1')}{percent}"
    )
