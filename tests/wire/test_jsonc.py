"""JSON as templates are written: what is meant is read, what cannot be told is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire.jsonc import parse_lenient


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"a": 1}', {"a": 1}),
        (
            '{"properties": {"mode": "x", template:{"b": 2}}}',
            {"properties": {"mode": "x", "template": {"b": 2}}},
        ),
        ('{// a comment, "with": quotes\n"a": 1 /* and\nanother */}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": true,},}', {"a": [1, 2], "b": {"c": True}}),
        ('{"a": "one\r\n\ttwo"}', {"a": "one\r\n\ttwo"}),
        ("{'a': 'it is \"so\"', 'b': 'don\\'t'}", {"a": 'it is "so"', "b": "don't"}),
        ('{"url": "http://x/*y*/"}', {"url": "http://x/*y*/"}),
        ("{$schema: null, a-b.c: -1.5e3}", {"$schema": None, "a-b.c": -1500.0}),
        ('{"a": "/* no comment", // one\n "b": 2}', {"a": "/* no comment", "b": 2}),
    ],
)
def test_what_is_meant_is_read(text, meant):
    assert parse_lenient(text.encode()) == meant


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"a": "open}',
        b"{a: b}",
        b"{/* open",
        b"{'a: 1}",
        b'{"a" "b"}',
        b"\xff",
        b'{"a": 1 2}',
        b'{"a": tr ue}',
        b"{" + b"a:{" * 5000,
        b'{"a":"\\' + b'"\\' * 200_000,
    ],
)
def test_what_cannot_be_told_is_refused(body):
    with pytest.raises(InvalidRequestContentError):
        parse_lenient(body)


TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
NAMES = st.text("abc'\"/*\\ \n", max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_plain_json_in_a_template_means_what_it_always_did(value):
    text = '{"x": 1, template:' + json.dumps(value, ensure_ascii=False) + ",/* end */}"
    assert parse_lenient(text.encode()) == {"x": 1, "template": value}


@given(st.text(max_size=60))
def test_anything_else_is_read_or_refused(text):
    try:
        assert isinstance(parse_lenient(text.encode()), dict)
    except InvalidRequestContentError:
        pass
    except UnicodeEncodeError:
        pass
