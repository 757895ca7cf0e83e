"""Which profile counts: fixed dates, then what recurs, then the default."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.autoscale import Profile
from lastcall.engine.schedules import Fixed, Recurring, active

# A Thursday.
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
PACIFIC = ZoneInfo("America/Los_Angeles")
EVERY_DAY = frozenset(range(7))


def a_profile(name, *, fixed=None, recurring=None):
    return Profile(name=name, minimum=1, maximum=9, default=1, fixed=fixed, recurring=recurring)


def daily(hour, minute=0, days=EVERY_DAY, zone=UTC):
    return Recurring(days=days, times=(time(hour, minute),), zone=zone)


DEFAULT = a_profile("default")


def chosen(*profiles, now=NOON):
    found = active(profiles, now)
    return None if found is None else found.name


def test_the_default_counts_where_nothing_else_does():
    over = a_profile("over", fixed=Fixed(start=NOON - 2 * HOUR, end=NOON - HOUR))

    assert chosen(DEFAULT) == "default"
    assert chosen(over, DEFAULT) == "default"
    assert chosen(over) is None


def test_a_fixed_date_counts_from_its_start_up_to_its_end():
    fixed = a_profile("fixed", fixed=Fixed(start=NOON, end=NOON + HOUR))

    assert chosen(DEFAULT, fixed, now=NOON - timedelta(seconds=1)) == "default"
    assert chosen(DEFAULT, fixed) == "fixed"
    assert chosen(DEFAULT, fixed, now=NOON + HOUR - timedelta(seconds=1)) == "fixed"
    assert chosen(DEFAULT, fixed, now=NOON + HOUR) == "default"


def test_a_fixed_date_is_before_what_recurs_and_that_is_before_the_default():
    fixed = a_profile("fixed", fixed=Fixed(start=NOON, end=NOON + HOUR))
    recurring = a_profile("recurring", recurring=daily(8))

    assert chosen(DEFAULT, recurring, fixed) == "fixed"
    assert chosen(DEFAULT, recurring, fixed, now=NOON + HOUR) == "recurring"


def test_what_recurs_counts_until_the_next_one_begins():
    day, night = a_profile("day", recurring=daily(8)), a_profile("night", recurring=daily(20, 30))

    def at(hour, minute=0):
        return chosen(DEFAULT, day, night, now=NOON.replace(hour=hour, minute=minute))

    assert [at(7, 59), at(8), at(20, 29), at(20, 30), at(0)] == [
        "night",
        "day",
        "day",
        "night",
        "night",
    ]


def test_a_weekday_can_be_a_week_ago():
    thursdays = a_profile("thursdays", recurring=daily(13, days=frozenset({3})))
    fridays = a_profile("fridays", recurring=daily(13, days=frozenset({4})))

    # It is Thursday noon: this week's Thursday at one is to come, so last Friday was the latest.
    assert chosen(thursdays, fridays) == "fridays"
    assert chosen(thursdays) == "thursdays"
    assert chosen(thursdays, fridays, now=NOON + HOUR) == "thursdays"


def test_times_are_those_of_the_clock_on_the_wall_there():
    early = a_profile("early", recurring=daily(4, zone=PACIFIC))
    late = a_profile("late", recurring=daily(5, zone=PACIFIC))

    # Noon UTC is four o'clock in winter and five o'clock in summer.
    assert chosen(early, late) == "early"
    assert chosen(early, late, now=NOON.replace(month=7)) == "late"


def test_of_two_that_begin_together_the_first_counts():
    assert chosen(a_profile("a", recurring=daily(8)), a_profile("b", recurring=daily(8))) == "a"


@given(
    st.integers(0, 10 * 366 * 24 * 60).map(lambda minutes: NOON + timedelta(minutes=minutes)),
    st.sets(st.integers(0, 6), min_size=1),
    st.integers(0, 23),
    st.sampled_from(["UTC", "America/Los_Angeles", "Asia/Kathmandu", "Australia/Lord_Howe"]),
)
def test_something_that_recurs_always_counts(now, days, hour, zone):
    recurring = daily(hour, days=frozenset(days), zone=ZoneInfo(zone))

    assert chosen(DEFAULT, a_profile("recurring", recurring=recurring), now=now) == "recurring"
