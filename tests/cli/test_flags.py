"""What people write on the command line is read as az reads it."""

from datetime import timedelta

import pytest

from lastcall.cli.failures import WrongUsageError
from lastcall.cli.flags import duration, iso_duration, spread, tags


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--instance-ids 1 2 3", "--instance-ids 1 --instance-ids 2 --instance-ids 3"),
        ("--instance-ids * -n web", "--instance-ids * -n web"),
        ("--instance-ids 1 2 --no-wait x", "--instance-ids 1 --instance-ids 2 --no-wait x"),
        ("--instances a b --type Freeze", "--instances a --instances b --type Freeze"),
        ("--instance-ids", "--instance-ids"),
        ("--protect-from-scale-in", "--protect-from-scale-in true"),
        ("--protect-from-scale-in false", "--protect-from-scale-in false"),
        ("--protect-from-scale-in -n web", "--protect-from-scale-in true -n web"),
        ("-- --instance-ids 1 2", "-- --instance-ids 1 2"),
        ("clock advance 10m", "clock advance 10m"),
    ],
)
def test_lists_and_switches_become_what_typer_reads(given, expected):
    assert spread(given.split()) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10m", timedelta(minutes=10)),
        ("90s", timedelta(seconds=90)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("2d", timedelta(days=2)),
        ("0.5s", timedelta(milliseconds=500)),
        ("PT10M", timedelta(minutes=10)),
        ("pt1h", timedelta(hours=1)),
    ],
)
def test_durations_are_read_in_both_notations(text, expected):
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "10", "m", "10 m", "-5m", "30m1h", "P1M", "ten"])
def test_what_is_no_duration_is_wrong_usage(text):
    with pytest.raises(WrongUsageError, match="not a duration"):
        duration(text)


def test_a_duration_goes_out_as_iso_8601():
    assert iso_duration("1h30m") == "PT1H30M"


def test_tags_are_pairs():
    assert tags(["a=b", "c=d=e", "f"]) == {"a": "b", "c": "d=e", "f": ""}
    with pytest.raises(WrongUsageError):
        tags(["=x"])
