"""What rules look at: samples, minute by minute, and the one number made of them."""

from datetime import UTC, datetime, timedelta

import pytest

from lastcall.engine.limits import METRIC_KEPT, METRIC_POINTS_MAX
from lastcall.engine.measuring import (
    Aggregation,
    Dimension,
    Measure,
    Point,
    Sample,
    Statistic,
    measured,
    with_sample,
)
from lastcall.engine.resources import ResourceId

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def a_measure(**changes):
    return Measure(
        **{
            "resource": ResourceId("/web"),
            "metric": "Percentage CPU",
            "grain": MINUTE,
            "statistic": Statistic.AVERAGE,
            "window": 5 * MINUTE,
            "aggregation": Aggregation.AVERAGE,
        }
        | changes
    )


def reported(*samples):
    """Points of (minutes before noon, value, instance)."""
    points = ()
    for ago, value, instance in samples:
        sample = Sample(at=NOON - ago * MINUTE, value=value, instance=instance)
        points = with_sample(points, sample, NOON)
    return points


SOME = reported((2, 10, "a"), (2, 20, "a"), (2, 60, "b"), (1, 40, "a"), (0, 50, "b"))


def test_samples_of_one_instance_in_one_minute_are_one_point():
    first = Sample(at=NOON + timedelta(seconds=10), value=10.0, instance="a")
    second = Sample(at=NOON + timedelta(seconds=50), value=30.0, instance="a")

    points = with_sample(with_sample((), first, NOON), second, NOON)

    assert points == (Point(at=NOON, count=2, total=40.0, least=10.0, most=30.0, instance="a"),)


def test_points_are_in_order_and_old_ones_go():
    old = Sample(at=NOON - METRIC_KEPT, value=1.0)
    points = with_sample((), old, NOON - METRIC_KEPT)
    points = with_sample(points, Sample(at=NOON, value=2.0), NOON)
    points = with_sample(points, Sample(at=NOON - MINUTE, value=3.0), NOON)

    assert [point.total for point in points] == [3.0, 2.0]


def test_only_so_many_points_are_kept_the_newest():
    points = ()
    for number in range(METRIC_POINTS_MAX + 5):
        sample = Sample(at=NOON, value=1.0, instance=f"{number:06}")
        points = with_sample(points, sample, NOON)

    assert len(points) == METRIC_POINTS_MAX
    assert points[0].instance == "000005"


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        (Statistic.AVERAGE, (30 + 40 + 50) / 3),
        (Statistic.MIN, (10 + 40 + 50) / 3),
        (Statistic.MAX, (60 + 40 + 50) / 3),
        (Statistic.SUM, (90 + 40 + 50) / 3),
        (Statistic.COUNT, (3 + 1 + 1) / 3),
    ],
)
def test_the_statistic_joins_the_samples_of_a_grain(statistic, value):
    assert measured(a_measure(statistic=statistic), SOME, NOON) == value


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [
        (Aggregation.AVERAGE, 40),
        (Aggregation.MINIMUM, 30),
        (Aggregation.MAXIMUM, 50),
        (Aggregation.TOTAL, 120),
        (Aggregation.COUNT, 5),
        (Aggregation.LAST, 50),
    ],
)
def test_the_aggregation_joins_the_grains_of_the_window(aggregation, value):
    assert measured(a_measure(aggregation=aggregation), SOME, NOON) == value


def test_a_longer_grain_joins_minutes_before_they_are_aggregated():
    five = a_measure(grain=5 * MINUTE, aggregation=Aggregation.MAXIMUM)

    # Four minutes of the window in one grain, the fifth, just beginning, in another.
    assert measured(five, reported((4, 0, ""), (3, 100, "")), NOON) == 50
    assert measured(five, (), NOON) is None


def test_only_the_window_counts():
    points = reported((6, 1000, ""), (5, 10, ""), (0, 30, ""))
    ahead = with_sample(points, Sample(at=NOON + MINUTE, value=1000.0), NOON)

    assert measured(a_measure(), ahead, NOON) == 20
    assert measured(a_measure(), reported((6, 1000, "")), NOON) is None


def about(*values, name="vmname", is_one_of=True):
    return (Dimension(name=name, is_one_of=is_one_of, values=frozenset(values)),)


def test_dimensions_choose_instances():
    last = {"aggregation": Aggregation.LAST}

    assert measured(a_measure(dimensions=about("a"), **last), SOME, NOON) == 40
    assert measured(a_measure(dimensions=about("a", is_one_of=False), **last), SOME, NOON) == 50
    assert measured(a_measure(dimensions=about("a", name="lun"), **last), SOME, NOON) is None
