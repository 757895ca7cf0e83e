"""Reading a document part by part, each one knowing its path: what is wrong is told with it."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar

from lastcall.engine.errors import InvalidParameterError
from lastcall.wire import fields

E = TypeVar("E", bound=StrEnum)


class Part:
    """An object somewhere in a document. What is not there is refused, unless asked for softly."""

    def __init__(self, value: Mapping[str, Any], path: str = "") -> None:
        self._value = value
        self.path = path

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return self._value.get(name) is not None

    def at(self, name: str) -> str:
        """Return the path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def get(self, name: str) -> Any:
        """Return a member as it is."""
        if not self.has(name):
            path = self.at(name)
            raise InvalidParameterError(f"Required parameter '{path}' is missing.", target=path)
        return self._value[name]

    def text(self, name: str) -> str:
        """Return a member that is a string, not an empty one."""
        value = self.get(name)
        if not isinstance(value, str) or not value:
            fields.refuse(self.at(name), value, "a string")
        return value

    def number(self, name: str, allowed: range) -> int:
        """Return a member that is a whole number, or a string that spells one."""
        value = fields.coerced_number(self.get(name))
        if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
            wanted = f"a whole number from {allowed[0]} to {allowed[-1]}"
            fields.refuse(self.at(name), value, wanted)
        return value

    def real(self, name: str) -> float:
        """Return a member that is any number."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
            fields.refuse(self.at(name), value, "a number")
        return float(value)

    def truth(self, name: str, *, default: bool) -> bool:
        """Return a member that is true or false."""
        value = fields.coerced_boolean(self._value.get(name, default))
        if not isinstance(value, bool):
            fields.refuse(self.at(name), value, "true or false")
        return value

    def word(self, name: str, kind: type[E]) -> E:
        """Return a member that is one of some words."""
        return fields.word(self.text(name), self.at(name), kind)

    def duration(self, name: str, shortest: timedelta, longest: timedelta) -> timedelta:
        """Return a member that is a duration within bounds."""
        return fields.duration(self.get(name), self.at(name), shortest, longest)

    def part(self, name: str) -> "Part":
        """Return a member that is an object."""
        value = self.get(name)
        if not isinstance(value, Mapping):
            fields.refuse(self.at(name), value, "an object")
        return Part(value, self.at(name))

    def items(self, name: str, allowed: range) -> list[Any]:
        """Return a member that is an array of so many entries."""
        value = self.get(name)
        if not isinstance(value, list) or len(value) not in allowed:
            fields.refuse(
                self.at(name), value, f"an array of {allowed[0]} to {allowed[-1]} entries"
            )
        return value

    def parts(self, name: str, allowed: range) -> list["Part"]:
        """Return a member that is an array of objects."""
        found = []
        for place, item in enumerate(self.items(name, allowed)):
            path = f"{self.at(name)}[{place}]"
            if not isinstance(item, Mapping):
                fields.refuse(path, item, "an object")
            found.append(Part(item, path))
        return found

    def texts(self, name: str, allowed: range) -> list[str]:
        """Return a member that is an array of strings."""
        value = self.items(name, allowed)
        if not all(isinstance(item, str) for item in value):
            fields.refuse(self.at(name), value, "an array of strings")
        return value

    def numbers(self, name: str, count: range, allowed: range) -> list[int]:
        """Return a member that is an array of whole numbers."""
        value = self.items(name, count)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n in allowed for n in value):
            wanted = f"an array of whole numbers from {allowed[0]} to {allowed[-1]}"
            fields.refuse(self.at(name), value, wanted)
        return value

    def strings(self, name: str) -> Mapping[str, str]:
        """Return a member that is an object of strings, an empty one where there is none."""
        value = self._value.get(name) or {}
        if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
            fields.refuse(self.at(name), value, "an object of strings")
        return value
