from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.limits import EXPRESSION_CHARACTERS_MAX, EXPRESSION_DEPTH_MAX
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.parser import parse_text
from lastcall.wire.templates.syntax import Access, Call, Literal, Step

PIECES = st.sampled_from(
    ["[", "]", "(", ")", "'", "''", ",", ".", "?", "a", "concat", "0", "-", "7", " ", "é", "\n"]
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("plain", Literal("plain")),
        ("", Literal("")),
        ("[", Literal("[")),
        ("[not closed", Literal("[not closed")),
        ("[a] and more", Literal("[a] and more")),
        ("[[literal]", Literal("[literal]")),
        ("['text']", Literal("text")),
        ("['it''s']", Literal("it's")),
        ("['''']", Literal("'")),
        ("['[x]']", Literal("[x]")),
        ("[12]", Literal(12)),
        ("[-12]", Literal(-12)),
        ("[ toLower( 'A' ) ]", Call("tolower", (Literal("A"),))),
        ("[f()]", Call("f", ())),
        ("[f(g(), 1)]", Call("f", (Call("g", ()), Literal(1)))),
        ("[contoso.f(1)]", Call("contoso.f", (Literal(1),))),
        ("[f().a.b]", Access(Call("f", ()), (Step(Literal("a")), Step(Literal("b"))))),
        ("[f()[0]]", Access(Call("f", ()), (Step(Literal(0)),))),
        ("[f()['a b']]", Access(Call("f", ()), (Step(Literal("a b")),))),
        ("[f()[g()]]", Access(Call("f", ()), (Step(Call("g", ())),))),
        (
            "[f().?a[?0]]",
            Access(
                Call("f", ()), (Step(Literal("a"), is_safe=True), Step(Literal(0), is_safe=True))
            ),
        ),
    ],
)
def test_a_string_is_itself_or_an_expression(text, tree):
    assert parse_text(text) == tree


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "expected token 'Identifier' and actual 'EndOfData' at position '0'."),
        ("[f(]", "expected token 'Identifier' and actual 'EndOfData' at position '2'."),
        ("[f('a']", "expected token 'RightParenthesis' and actual 'EndOfData' at position '5'."),
        ("[f('a',)]", "expected token 'Identifier' and actual 'RightParenthesis' at position '6'."),
        ("[f]", "expected token 'LeftParenthesis' and actual 'EndOfData' at position '1'."),
        ("[f() g()]", "expected token 'EndOfData' and actual 'Identifier' at position '4'."),
        ("[f()[0]", "expected token 'RightSquareBracket' and actual 'EndOfData' at position '5'."),
        ("[f().1]", "expected token 'Identifier' and actual 'Integer' at position '4'."),
        ("[1.5]", "expected token 'Identifier' and actual 'Integer' at position '2'."),
        ("[f({})]", "the character '{' at position '2' is not expected."),
        ("[f('a)]", "the string at position '2' does not end."),
        ("[99999999999999999999]", "position '0' does not fit in a 64-bit integer."),
        ("[9223372036854775808]", "position '0' does not fit in a 64-bit integer."),
    ],
)
def test_a_mistake_is_told_with_its_position(text, sentence):
    with pytest.raises(ExpressionError) as told:
        parse_text(text)

    assert str(told.value).endswith(sentence)


def test_the_sentence_about_a_long_expression_is_short():
    with pytest.raises(ExpressionError) as told:
        parse_text(f"[f('{'x' * 5000}']")

    assert len(str(told.value)) < 300


def test_an_expression_has_a_longest_length():
    most = EXPRESSION_CHARACTERS_MAX - 2
    assert parse_text(f"['{'x' * most}']") == Literal("x" * most)

    with pytest.raises(ExpressionError, match=f"the limit is {EXPRESSION_CHARACTERS_MAX}"):
        parse_text(f"['{'x' * (most + 1)}']")


def test_calls_have_a_deepest_nesting():
    def nested(depth):
        return f"[{'f(' * (depth - 1)}1{')' * (depth - 1)}]"

    parse_text(nested(EXPRESSION_DEPTH_MAX))

    with pytest.raises(ExpressionError, match=f"more than {EXPRESSION_DEPTH_MAX} levels deep"):
        parse_text(nested(EXPRESSION_DEPTH_MAX + 1))


def test_a_long_chain_of_members_is_no_nesting():
    tree = parse_text(f"[f(){'.a' * 5000}]")

    assert len(tree.steps) == 5000


@given(st.lists(PIECES).map("".join) | st.text())
def test_any_text_is_parsed_or_refused(text):
    for candidate in (text, f"[{text}]"):
        with suppress(ExpressionError):
            parse_text(candidate)


@given(st.text())
def test_every_string_can_be_written_as_a_literal(text):
    quoted = text.replace("'", "''")

    assert parse_text(f"['{quoted}']") == Literal(text)


@given(st.text().map("[{}]".format))
def test_one_more_bracket_keeps_a_text_from_being_an_expression(text):
    assert parse_text(f"[{text}") == Literal(text)


@given(st.text().filter(lambda text: not text.startswith("[")))
def test_text_without_brackets_stays_what_it_is(text):
    assert parse_text(text) == Literal(text)


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_every_integer_is_read(number):
    assert parse_text(f"[{number}]") == Literal(number)
