"""Strings of a template into expressions, and expressions into trees.

expression := primary access*
primary    := String | Integer | Identifier [ "." Identifier ] "(" [ arguments ] ")"
arguments  := expression { "," expression }
access     := ( "." | ".?" ) Identifier | ( "[" | "[?" ) expression "]"
"""

from functools import lru_cache
from typing import Final

from lastcall.engine.limits import EXPRESSION_CHARACTERS_MAX, EXPRESSION_DEPTH_MAX
from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.lexer import END, Token, tokens_of
from lastcall.wire.templates.syntax import Access, Call, Literal, Node, Step

DOTS: Final = ("Dot", "SafeDot")
BRACKETS: Final = ("LeftSquareBracket", "SafeLeftSquareBracket")
# One template repeats itself in its loops; nothing of what users give is kept here.
REMEMBERED_MAX: Final = 512


def parse_text(text: str) -> Node:
    """Return what a string of a template stands for: an expression, or itself.

    `[...]` is an expression. `[[...]` is the text with one bracket less.
    """
    if not (text.startswith("[") and text.endswith("]")):
        return Literal(text)
    if text.startswith("[["):
        return Literal(text[1:])
    return parse_expression(text[1:-1])


@lru_cache(REMEMBERED_MAX)
def parse_expression(text: str) -> Node:
    """Return the tree of an expression without its brackets, or refuse."""
    if len(text) > EXPRESSION_CHARACTERS_MAX:
        raise ExpressionError(
            f"The language expression '{shown(text)}' is too long: it has {len(text)} characters,"
            f" and the limit is {EXPRESSION_CHARACTERS_MAX}."
        )
    return _Parser(text).parse()


class _Parser:
    """Reads one expression, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._token = next(self._tokens)
        self._depth = 0

    def parse(self) -> Node:
        node = self._expression()
        self._take(END)
        return node

    def _expression(self) -> Node:
        self._depth += 1
        if self._depth > EXPRESSION_DEPTH_MAX:
            raise ExpressionError(
                f"The language expression '{shown(self._text)}' is nested more than"
                f" {EXPRESSION_DEPTH_MAX} levels deep."
            )
        node = self._primary()
        steps = []
        while self._token.kind in (*DOTS, *BRACKETS):
            steps.append(self._step())
        self._depth -= 1
        return Access(node, tuple(steps)) if steps else node

    def _primary(self) -> Node:
        if self._token.kind in {"String", "Integer"}:
            return Literal(self._advance().value)
        name = self._take("Identifier").value
        if self._token.kind == "Dot":
            self._advance()
            name = f"{name}.{self._take('Identifier').value}"
        self._take("LeftParenthesis")
        arguments = []
        if self._token.kind != "RightParenthesis":
            arguments.append(self._expression())
            while self._token.kind == "Comma":
                self._advance()
                arguments.append(self._expression())
        self._take("RightParenthesis")
        return Call(name.lower(), tuple(arguments))

    def _step(self) -> Step:
        opening = self._advance().kind
        if opening in DOTS:
            return Step(Literal(self._take("Identifier").value), opening == "SafeDot")
        key = self._expression()
        self._take("RightSquareBracket")
        return Step(key, opening == "SafeLeftSquareBracket")

    def _advance(self) -> Token:
        token = self._token
        if token.kind != END:
            self._token = next(self._tokens)
        return token

    def _take(self, kind: str) -> Token:
        if self._token.kind != kind:
            raise ExpressionError(
                f"Unable to parse language expression '{shown(self._text)}': expected token"
                f" '{kind}' and actual '{self._token.kind}' at position '{self._token.position}'."
            )
        return self._advance()
