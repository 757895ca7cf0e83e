"""Filters of lists: what they say, and what passes them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidFilterError
from lastcall.wire.filters import matches, parse_filter

FIELDS = frozenset({"name", "tagname", "tagvalue"})


def test_a_quote_is_doubled_inside_quotes():
    (clause,) = parse_filter("name eq 'O''Clock'", FIELDS)

    assert (clause.field, clause.operator, clause.value) == ("name", "eq", "o'clock")


def test_a_name_and_a_value_must_be_of_the_same_tag():
    wanted = parse_filter("tagName eq 'a' and tagValue eq '2'", FIELDS)

    assert not matches({"tags": {"a": "1", "b": "2"}}, wanted)
    assert matches({"tags": {"a": "2"}}, wanted)
    assert not matches({}, wanted)
    assert matches({}, ())


@given(st.text(max_size=60))
def test_whatever_is_sent_is_read_or_refused(text):
    with contextlib.suppress(InvalidFilterError):
        assert all(clause.field in FIELDS for clause in parse_filter(text, FIELDS))


@pytest.mark.parametrize("text", ["name eq 'a'and name eq 'b'", "name eq 'a' and name eq 'b'"])
def test_clauses_are_joined_with_and(text):
    assert len(parse_filter(text, FIELDS)) == 2
