"""How a function of the template language is declared, found and called."""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import TypeAlias, TypeVar

from msgspec import Struct

from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.values import Json, Kind, kind_of

Body = TypeVar("Body", bound=Callable[..., Json])


class Given(Enum):
    """What a function is called with."""

    VALUES = auto()
    SCOPE_AND_VALUES = auto()
    # It evaluates of them what it needs.
    SCOPE_AND_EXPRESSIONS = auto()


class Function(Struct, frozen=True):
    """A function: what it takes, and what it does."""

    name: str
    call: Callable[..., Json]
    takes: tuple[Kind, ...]
    required: int
    # The kind of any number of further arguments.
    more: Kind | None
    given: Given

    def refuse_count(self, count: int) -> None:
        """Refuse too few or too many arguments."""
        if count >= self.required and (count <= len(self.takes) or self.more is not None):
            return
        wanted = str(self.required)
        if self.more is not None:
            wanted = f"at least {wanted}"
        elif len(self.takes) > self.required:
            wanted = f"{wanted} to {len(self.takes)}"
        raise ExpressionError(
            f"Unable to evaluate template function '{self.name}': function requires {wanted}"
            f" argument(s) while {count} were provided."
        )

    def refuse_kinds(self, arguments: Sequence[Json]) -> None:
        """Refuse arguments of another kind than the function takes."""
        for number, argument in enumerate(arguments):
            wanted = self.takes[number] if number < len(self.takes) else self.more
            if wanted is not None and kind_of(argument) not in wanted:
                raise ExpressionError(
                    f"Unable to evaluate template function '{self.name}': argument {number + 1} is"
                    f" of type '{kind_of(argument)}', expected is '{wanted}'."
                )


Table: TypeAlias = dict[str, Function]


class Library:
    """Functions that belong together, by their names in lower case."""

    def __init__(self) -> None:
        self.functions: Table = {}

    def define(
        self,
        name: str,
        *takes: Kind,
        optional: int = 0,
        more: Kind | None = None,
        given: Given = Given.VALUES,
    ) -> Callable[[Body], Body]:
        """Declare a function; the last `optional` of its parameters may be left out."""

        def declared(body: Body) -> Body:
            assert name.lower() not in self.functions, f"{name} is declared twice"
            required = len(takes) - optional
            self.functions[name.lower()] = Function(name, body, takes, required, more, given)
            return body

        return declared
