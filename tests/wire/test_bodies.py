import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire.bodies import DEPTH_MAX, encode_json, encode_pretty, parse_body

from .builders import JSON, refusal_of


def nested(depth):
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


def test_an_object_is_read():
    assert parse_body(b' {"a":[1,{"b":null}]} ') == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"{'a':1}",
        b'{"a":"\xff"}',
        b'{"\xff":1}',
        b'{"a":"\\ud800"}',
        b'{"a":NaN}',
        b'{"a":1e999}',
        b"\xef\xbb\xbf{}x",
        b"[" * 200_000,
        nested(DEPTH_MAX + 1),
        b'{"a":' + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"}",
        b'{"a":"x\\u0000"}',
        b'{"tags":{"a\\u0000":"x"}}',
        b'{"a":9223372036854775808}',
        b'{"a":-1' + b"0" * 400 + b"}",
        b'{"a":1' + b"0" * 5000 + b"}",
        b'{"a":1,"a":1}',
        b'{"a":[{"b":1,"c":2,"\\u0062":3}]}',
    ],
)
def test_what_is_not_an_object_is_refused_with_a_reason(body):
    with pytest.raises(InvalidRequestContentError) as refusal:
        parse_body(body)
    sentence = "The request content was invalid and could not be deserialized: '"
    assert str(refusal.value).startswith(sentence)
    assert refusal.value.code == "InvalidRequestContent"


def test_a_text_about_nul_and_the_largest_numbers_are_read():
    read = parse_body(b'{"a":"\\\\u0000","b":[9223372036854775807,-9223372036854775807]}')
    assert read == {"a": "\\u0000", "b": [2**63 - 1, 1 - 2**63]}


def test_the_deepest_allowed_nesting_is_read():
    assert parse_body(nested(DEPTH_MAX))


def test_compact_json_is_one_line():
    assert encode_json({"a": [1, True], "b": "ü"}) == '{"a":[1,true],"b":"ü"}'.encode()


def test_pretty_json_has_two_spaces_and_crlf():
    expected = b'{\r\n  "error": {\r\n    "message": "a\\nb"\r\n  }\r\n}'
    assert encode_pretty({"error": {"message": "a\nb"}}) == expected


@given(JSON)
def test_pretty_and_compact_say_the_same(value):
    assert json.loads(encode_pretty(value)) == json.loads(encode_json(value))


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_object_or_are_refused(body):
    refusal = refusal_of(lambda: parse_body(body))
    assert refusal is None or isinstance(refusal, InvalidRequestContentError)
