import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidApiVersionError, MissingApiVersionError
from lastcall.wire.versions import KNOWN, refuse_api_version

from .builders import refusal_of


@pytest.mark.parametrize("value", [*KNOWN, "2026-04-01", "2031-12-31-preview"])
def test_known_and_later_versions_pass(value):
    refuse_api_version(value)


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_version_is_refused(value):
    with pytest.raises(MissingApiVersionError, match="is required for all requests") as refusal:
        refuse_api_version(value)
    assert refusal.value.code == "MissingApiVersionParameter"


@pytest.mark.parametrize(
    "value", ["latest", "2015-06-14", "2024-13-01", "2024-02-30", "2024-7-1", "2024-07-01-x", " "]
)
def test_a_bad_version_is_refused_with_those_that_are_good(value):
    with pytest.raises(InvalidApiVersionError) as refusal:
        refuse_api_version(value)
    message = str(refusal.value)
    assert message.startswith(f"The api-version '{value}' is invalid. The supported versions are")
    assert KNOWN[-1] in message


def test_another_provider_may_begin_earlier():
    refuse_api_version("2015-04-01", oldest="2014-04-01")


@given(st.text())
def test_any_text_is_a_version_or_is_refused(value):
    refusal = refusal_of(lambda: refuse_api_version(value))
    assert refusal is None or len(str(refusal)) < 1000
