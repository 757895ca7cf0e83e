"""What an expression is made of."""

from typing import TypeAlias

from msgspec import Struct

from lastcall.wire.templates.values import Json


class Literal(Struct, frozen=True):
    """A value that stands for itself."""

    value: Json


class Call(Struct, frozen=True):
    """A function and what it is given; the name is in lower case."""

    name: str
    arguments: tuple["Node", ...]


class Step(Struct, frozen=True):
    """One member access or index; a safe one gives null where there is nothing."""

    key: "Node"
    is_safe: bool = False


class Access(Struct, frozen=True):
    """A value inside another one."""

    target: "Node"
    steps: tuple[Step, ...]


Node: TypeAlias = Literal | Call | Access
