"""What is wrong inside a template: a sentence, and the path that is added on the way out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

from lastcall.engine.errors import InvalidTemplateDeploymentError, InvalidTemplateError
from lastcall.wire.quoting import shown

EVALUATION: Final = "Deployment template language expression evaluation failed"
VALIDATION: Final = "Deployment template validation failed"


class ExpressionError(Exception):
    """Something in a template cannot be evaluated.

    The sentence repeats names, ids and the template's own text, not other values: these may be
    secrets.
    """

    refusal: type[InvalidTemplateError | InvalidTemplateDeploymentError] = InvalidTemplateError

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.path = ""
        self._is_whole = False

    def within(self, step: str | int) -> Self:
        """Add the member or the index in which it happened to the front of the path."""
        if not self._is_whole:
            front = f"[{step}]" if isinstance(step, int) else shown(step)
            joint = "." if self.path and not self.path.startswith("[") else ""
            self.path = f"{front}{joint}{self.path}"
        return self

    def under(self, root: str) -> Self:
        """Add the root of the path; what is further out does not lead there."""
        self.within(root)
        self._is_whole = True
        return self

    def inside(self, path: str) -> Self:
        """Add the path of the template that the one with the mistake is inside of."""
        self.path = f"{path}.{self.path}" if self.path else path
        self._is_whole = True
        return self


class UnsupportedError(ExpressionError):
    """A template may say this, but it cannot be done here."""

    refusal = InvalidTemplateDeploymentError


class ShapeError(ExpressionError):
    """A part of the template is not what it has to be, whatever its expressions say."""


@contextmanager
def refused(opening: str = EVALUATION) -> Iterator[None]:
    """Turn what is wrong inside into the refusal that its reader gets."""
    try:
        yield
    except ExpressionError as error:
        first = VALIDATION if isinstance(error, ShapeError) else opening
        path = f" Path '{error.path}'." if error.path else ""
        raise error.refusal(f"{first}: '{error}'.{path}") from error
    except RecursionError as error:
        raise InvalidTemplateError(f"{opening}: 'It is nested too deeply.'.") from error
