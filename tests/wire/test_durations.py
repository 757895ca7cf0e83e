from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidParameterError
from lastcall.wire.durations import encode_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("PT5M", timedelta(minutes=5)),
        ("PT1H30M", timedelta(minutes=90)),
        ("PT7.5S", timedelta(seconds=7.5)),
        ("P1D", timedelta(days=1)),
        ("P2DT3H", timedelta(days=2, hours=3)),
        ("PT0S", timedelta(0)),
    ],
)
def test_a_duration_is_read_and_written_in_its_shortest_form(text, duration):
    assert parse_duration(text) == duration
    assert encode_duration(duration) == text


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("PT600S", timedelta(minutes=10)),
        ("PT90M", timedelta(minutes=90)),
        ("P0DT05M", timedelta(minutes=5)),
        ("PT0.1234567S", timedelta(microseconds=123_456)),
    ],
)
def test_other_spellings_of_a_duration_are_read_too(text, duration):
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text",
    [
        *("", "P", "PT", "P1DT", "5", "10", "T5M", "PT5", "PT5M ", " PT5M", "pt5m", "PT-5M"),
        *(
            "-PT5M",
            "P1Y",
            "P1M",
            "P1W",
            "PT5M3H",
            "PT5.5M",
            "PT.5S",
            "PT5,5S",
            "PT\u0665M",
            "PT5M\n",
        ),
        *("00:05:00", "PT9999999M", "P1D1H"),
    ],
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InvalidParameterError, match="is not an ISO 8601 duration"):
        parse_duration(text)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=999_999)))
def test_every_duration_survives_the_round_trip(duration):
    assert parse_duration(encode_duration(duration)) == duration


@given(st.text(alphabet="PTDHMS0123456789.") | st.text())
def test_any_text_is_a_duration_or_is_refused(text):
    try:
        duration = parse_duration(text)
    except InvalidParameterError:
        return
    assert duration >= timedelta(0)
