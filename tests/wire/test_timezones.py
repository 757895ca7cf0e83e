import json

import pytest

from lastcall.wire.timezones import WINDOWS, zone_named

from .test_traits import DATA

FILE = DATA / "insights_2022-10-01_autoscale.json"


@pytest.mark.parametrize("name", WINDOWS)
def test_every_name_of_windows_stands_for_a_zone(name):
    assert zone_named(name) is not None


def test_names_are_read_in_whatever_case_and_the_public_ones_too():
    assert str(zone_named("PACIFIC standard time")) == "America/Los_Angeles"
    assert str(zone_named("Europe/Berlin")) == "Europe/Berlin"


@pytest.mark.parametrize(
    "name", ["", "Nowhere", "America", "../x", "/etc/passwd", "x" * 500, "\x00", "Zürich"]
)
def test_what_is_no_zone(name):
    assert zone_named(name) is None


@pytest.mark.skipif(not FILE.exists(), reason="the vendor's OpenAPI file is not here")
def test_the_vendors_examples_are_known():
    schedule = json.loads(FILE.read_text())["definitions"]["RecurrentSchedule"]
    text = schedule["properties"]["timeZone"]["description"]
    names = text.partition(" are: ")[2].split(", ")

    assert len(names) > 90
    assert [name for name in names if name.lower() not in WINDOWS] == []
