"""What the names in an expression stand for, and how much evaluating may cost."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
from msgspec import Struct

from lastcall.engine.limits import TEMPLATE_EVALUATION_DEPTH_MAX, TEMPLATE_WORK_MAX
from lastcall.wire.quoting import shown
from lastcall.wire.templates.context import Context
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.signatures import Table
from lastcall.wire.templates.values import Json, weight


class Budget:
    """How deep evaluating may still go, and how much it may still make."""

    def __init__(self) -> None:
        self._depth = 0
        self._work = TEMPLATE_WORK_MAX

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > TEMPLATE_EVALUATION_DEPTH_MAX:
            self._depth -= 1
            raise ExpressionError(
                "Expressions, variables and values refer to each other more than"
                f" {TEMPLATE_EVALUATION_DEPTH_MAX} levels deep."
            )

    def __exit__(self, *_: object) -> None:
        self._depth -= 1

    def spend(self, value: Json) -> None:
        """Count what was made, and refuse more than enough."""
        self._work -= weight(value, self._work)
        if self._work < 0:
            raise ExpressionError("Evaluating the template makes more than it may.")


class Section:
    """The parameters or the variables of a template, each evaluated when it is first asked for."""

    def __init__(self, noun: str, makers: Mapping[str, Callable[[], Json]]) -> None:
        self._noun = noun
        self._makers = {name.lower(): maker for name, maker in makers.items()}
        self._values: dict[str, Json] = {}
        self._under_way: set[str] = set()

    def value(self, name: str) -> Json:
        """Return a value by its name in whatever case, or refuse."""
        key = name.lower()
        if key in self._values:
            return self._values[key]
        if key not in self._makers:
            raise ExpressionError(f"The template {self._noun} '{shown(name)}' is not found.")
        if key in self._under_way:
            raise ExpressionError(
                f"The template {self._noun} '{shown(name)}' is defined in terms of itself."
            )
        self._under_way.add(key)
        try:
            self._values[key] = self._makers[key]()
        finally:
            self._under_way.discard(key)
        return self._values[key]


class Runtime(Protocol):
    """Answers reference()."""

    def state(self, target: str, api_version: str | None, *, full: bool) -> Json:
        """Return the state of a resource, or LATE while it is not known."""
        ...


class Scope(Struct, frozen=True):
    """The names that an expression can use, by where it stands."""

    context: Context
    budget: Budget
    functions: Table
    template: Mapping[str, Json] = {}
    parameters: Section = Section("parameter", {})
    variables: Section = Section("variable", {})
    # copyIndex: by the loop's name in lower case, and the one without a name.
    loops: Mapping[str, int] = {}
    index: int | None = None
    # reference() is for the parts of a template that are evaluated while deploying.
    runtime: Runtime | None = None
    # newGuid() and utcNow() are for the default values of parameters.
    draw: Callable[[], str] | None = None
    # What a lambda function's variables stand for, by their names in lower case.
    locals: Mapping[str, Json] = {}

    def in_loop(self, name: str, index: int) -> "Scope":
        """Return the scope inside one turn of a loop over properties or variables."""
        return msgspec.structs.replace(self, loops={**self.loops, name.lower(): index})

    def in_copy(self, name: str, index: int) -> "Scope":
        """Return the scope of one copy of a resource or an output."""
        loops = {**self.loops, name.lower(): index}
        return msgspec.structs.replace(self, loops=loops, index=index)

    def while_deploying(self, runtime: Runtime) -> "Scope":
        """Return the scope of what may refer to other resources."""
        return msgspec.structs.replace(self, runtime=runtime)

    def with_locals(self, names: Mapping[str, Json]) -> "Scope":
        """Return the scope of a lambda function's body."""
        return msgspec.structs.replace(self, locals={**self.locals, **names})
