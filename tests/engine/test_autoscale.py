"""How many instances a setting wants, and why."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.autoscale import (
    Comparison,
    Direction,
    Profile,
    Rule,
    ScaleType,
    Setting,
    Stand,
    evaluate,
)
from lastcall.engine.measuring import Aggregation, Measure, Sample, Statistic, with_sample
from lastcall.engine.resources import ResourceId
from lastcall.engine.schedules import Fixed

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WEB, QUEUE = ResourceId("/web"), ResourceId("/queue")
CPU = "Percentage CPU"


def a_rule(direction=Direction.INCREASE, comparison=Comparison.GREATER, threshold=75, **changes):
    measure = Measure(
        resource=changes.pop("resource", WEB),
        metric=changes.pop("metric", CPU),
        grain=MINUTE,
        statistic=changes.pop("statistic", Statistic.AVERAGE),
        window=5 * MINUTE,
        aggregation=Aggregation.AVERAGE,
    )
    return Rule(
        **{
            "measure": measure,
            "comparison": comparison,
            "threshold": threshold,
            "direction": direction,
            "type": ScaleType.CHANGE,
            "value": 1,
            "cooldown": 5 * MINUTE,
        }
        | changes
    )


def scale_in(threshold=25, comparison=Comparison.LESS, **changes):
    return a_rule(Direction.DECREASE, comparison, threshold, **changes)


OUT, IN = a_rule(), scale_in()


def a_setting(*rules, minimum=1, maximum=5, default=2, **changes):
    profile = Profile(
        name="default", minimum=minimum, maximum=maximum, default=default, rules=rules, **changes
    )
    return Setting(target=WEB, profiles=(profile,), enabled=True)


def at(value, name=CPU, resource=WEB):
    points = with_sample((), Sample(at=NOON, value=value), NOON)
    return {(resource, name.lower()): points}


def wanted(setting, metrics, capacity=2, scaled_at=None):
    return evaluate(setting, metrics, Stand(capacity=capacity, now=NOON, scaled_at=scaled_at))


def test_a_rule_that_fires_scales_out_and_says_why():
    verdict = wanted(a_setting(OUT, IN), at(90))

    assert verdict.capacity == 3
    assert verdict.reason == "Percentage CPU is 90, GreaterThan 75."


def test_nothing_fires_nothing_changes():
    assert wanted(a_setting(OUT, IN), at(50)).capacity == 2
    assert wanted(a_setting(), {}).capacity == 2


@pytest.mark.parametrize(
    ("comparison", "fires_at"),
    [
        (Comparison.EQUALS, {75}),
        (Comparison.NOT_EQUALS, {74, 76}),
        (Comparison.GREATER, {76}),
        (Comparison.GREATER_OR_EQUAL, {75, 76}),
        (Comparison.LESS, {74}),
        (Comparison.LESS_OR_EQUAL, {74, 75}),
    ],
)
def test_every_comparison(comparison, fires_at):
    setting = a_setting(a_rule(comparison=comparison))

    assert {value for value in (74, 75, 76) if wanted(setting, at(value)).capacity == 3} == fires_at


def test_any_rule_scales_out_and_the_one_for_the_most_counts():
    setting = a_setting(OUT, a_rule(threshold=80, value=3), a_rule(threshold=95, value=9))

    assert wanted(setting, at(90)).capacity == 5
    assert wanted(setting, at(78)).capacity == 3


def test_all_rules_must_agree_to_scale_in_and_the_gentlest_counts():
    setting = a_setting(scale_in(30, value=3), scale_in(10, value=1))

    assert wanted(setting, at(20), capacity=5).capacity == 5
    assert wanted(setting, at(5), capacity=5).capacity == 4


def test_a_rule_without_data_does_not_agree():
    setting = a_setting(scale_in(30), scale_in(30, metric="Memory"))

    assert wanted(setting, at(5), capacity=5).capacity == 5


def test_out_wins_over_in():
    setting = a_setting(scale_in(95), OUT)

    assert wanted(setting, at(90)).capacity == 3


def test_out_wins_over_in_even_when_it_cannot_have_its_way():
    setting = a_setting(scale_in(95), OUT)

    assert wanted(setting, at(90), capacity=5).capacity == 5
    assert wanted(setting, at(90), capacity=3, scaled_at=NOON).capacity == 3


def test_a_rule_waits_for_its_cooldown():
    setting = a_setting(OUT, IN)

    early = wanted(setting, at(90), scaled_at=NOON - 5 * MINUTE + timedelta(seconds=1))
    assert early.capacity == 2
    assert early.reason == "The last change is too recent for another."
    assert wanted(setting, at(90), scaled_at=NOON - 5 * MINUTE).capacity == 3
    assert wanted(setting, at(1), capacity=3, scaled_at=NOON).capacity == 3


def test_a_rule_that_has_waited_is_not_held_up_by_one_that_has_not():
    setting = a_setting(OUT, a_rule(value=3, cooldown=60 * MINUTE))

    assert wanted(setting, at(90), scaled_at=NOON - 10 * MINUTE).capacity == 3


@pytest.mark.parametrize(("capacity", "expected"), [(0, 1), (9, 5), (1, 1), (5, 5)])
def test_the_bounds_are_kept_at_once_whatever_is_measured(capacity, expected):
    verdict = wanted(a_setting(OUT, IN), at(50), capacity=capacity, scaled_at=NOON)

    assert verdict.capacity == expected


def test_the_bounds_are_said_to_be_the_reason():
    assert wanted(a_setting(), {}, capacity=9).reason == "Profile 'default' has 1 to 5 instances."


def test_without_metrics_there_are_at_least_as_many_as_the_default():
    setting = a_setting(OUT, IN, default=3)

    assert wanted(setting, {}, capacity=2).capacity == 3
    assert wanted(setting, {}, capacity=4).capacity == 4
    assert wanted(setting, at(50), capacity=2).capacity == 2


def test_without_a_profile_nothing_changes():
    setting = a_setting(OUT, fixed=Fixed(start=NOON + MINUTE, end=NOON + 2 * MINUTE))

    assert wanted(setting, at(99), capacity=99).capacity == 99


@pytest.mark.parametrize(
    ("rule", "capacity", "expected"),
    [
        (a_rule(type=ScaleType.PERCENT, value=50), 5, 8),
        (a_rule(type=ScaleType.PERCENT, value=1), 5, 6),
        (a_rule(type=ScaleType.EXACT, value=7), 5, 7),
        (a_rule(type=ScaleType.EXACT, value=3), 5, 5),
        (a_rule(Direction.DECREASE, type=ScaleType.PERCENT, value=50), 5, 3),
        (a_rule(Direction.DECREASE, type=ScaleType.PERCENT, value=1), 5, 4),
        (a_rule(Direction.DECREASE, type=ScaleType.EXACT, value=3), 5, 3),
        (a_rule(Direction.DECREASE, type=ScaleType.EXACT, value=7), 5, 5),
        (a_rule(Direction.DECREASE, value=90), 5, 0),
        (a_rule(Direction.NONE, type=ScaleType.EXACT, value=7), 5, 7),
        (a_rule(Direction.NONE, type=ScaleType.EXACT, value=3), 5, 3),
        (a_rule(Direction.NONE, type=ScaleType.EXACT, value=5), 5, 5),
        (a_rule(Direction.NONE, value=3), 5, 5),
    ],
)
def test_every_kind_of_action(rule, capacity, expected):
    setting = a_setting(rule, minimum=0, maximum=100)

    assert wanted(setting, at(90), capacity=capacity).capacity == expected


def test_no_scale_in_that_would_be_undone_at_once():
    setting = a_setting(a_rule(threshold=60), scale_in(50))

    # 45 on two is 90 on one: that would be scaled out again.
    verdict = wanted(setting, at(45), capacity=2)
    assert verdict.capacity == 2
    assert verdict.reason == "Fewer instances would be scaled out again at once."
    assert wanted(setting, at(29), capacity=2).capacity == 1


def test_a_scale_in_that_goes_too_far_goes_as_far_as_it_can():
    setting = a_setting(a_rule(threshold=60), scale_in(50, value=3))

    # 40 on five is 50 on four and 66 on three.
    assert wanted(setting, at(40), capacity=5).capacity == 4


def test_what_others_carry_is_not_shared_by_our_instances():
    other = {"resource": QUEUE, "metric": "Messages"}
    setting = a_setting(a_rule(threshold=60, **other), scale_in(50))
    metrics = at(45) | at(45, "Messages", QUEUE)

    assert wanted(setting, metrics, capacity=2).capacity == 1
    assert wanted(setting, at(45), capacity=2).capacity == 1
    divided = a_setting(
        a_rule(threshold=40, per_instance=True, **other), scale_in(30, per_instance=True, **other)
    )
    # 54 for two is 27 for each, and 54 for one.
    assert wanted(divided, at(54, "Messages", QUEUE), capacity=2).capacity == 2
    assert wanted(divided, at(38, "Messages", QUEUE), capacity=2).capacity == 1


def test_a_sum_is_the_same_for_fewer():
    total = {"statistic": Statistic.SUM}
    setting = a_setting(a_rule(threshold=60, **total), scale_in(50, **total))

    assert wanted(setting, at(45), capacity=2).capacity == 1


def test_none_at_all_only_where_there_is_nothing_to_carry():
    setting = a_setting(a_rule(threshold=60), scale_in(50), minimum=0, default=0)

    assert wanted(setting, at(1), capacity=1).capacity == 1
    assert wanted(setting, at(0), capacity=1).capacity == 0
    per_instance = a_setting(a_rule(threshold=60, per_instance=True), minimum=0, default=0)
    assert wanted(per_instance, at(90), capacity=0).capacity == 1


COUNTS = st.integers(0, 50)
RULES = st.builds(
    a_rule,
    direction=st.sampled_from(Direction),
    comparison=st.sampled_from(Comparison),
    threshold=st.integers(-10, 110),
    type=st.sampled_from(ScaleType),
    value=st.integers(1, 100),
    per_instance=st.booleans(),
    statistic=st.sampled_from(Statistic),
)


@st.composite
def settings_of(draw, rules):
    low, middle, high = sorted(draw(st.tuples(COUNTS, COUNTS, COUNTS)))
    given_rules = draw(st.lists(rules, max_size=5))
    return a_setting(*given_rules, minimum=low, default=middle, maximum=high)


@given(settings_of(RULES), st.floats(-1000, 1000) | st.none(), COUNTS, st.integers(0, 20))
def test_never_outside_the_bounds(setting, value, capacity, ago):
    profile = setting.profiles[0]
    metrics = {} if value is None else at(value)

    verdict = wanted(setting, metrics, capacity, NOON - ago * MINUTE)

    assert profile.minimum <= verdict.capacity <= profile.maximum
    assert verdict.reason.endswith(".")


OUT_RULES = st.builds(a_rule, threshold=st.integers(0, 100), value=st.integers(1, 9))
IN_RULES = st.builds(scale_in, threshold=st.integers(0, 100), value=st.integers(1, 9))


@given(settings_of(OUT_RULES | IN_RULES), st.floats(0, 100), st.floats(0, 100), COUNTS)
def test_more_load_never_means_fewer_instances(setting, one, other, capacity):
    less, more = sorted((one, other))

    fewer = wanted(setting, at(less), capacity).capacity

    assert fewer <= wanted(setting, at(more), capacity).capacity


@given(settings_of(OUT_RULES | IN_RULES), st.floats(0, 100), COUNTS)
def test_what_was_scaled_in_is_not_scaled_out_by_the_same_load(setting, value, capacity):
    profile = setting.profiles[0]
    start = min(max(capacity, profile.minimum), profile.maximum)

    fewer = wanted(setting, at(value), start).capacity

    if 0 < fewer < start:
        assert wanted(setting, at(value * start / fewer), fewer).capacity <= fewer
