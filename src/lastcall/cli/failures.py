"""How a command ends when it cannot do what it was asked."""

from typing import Final

FAILED: Final = 1
WRONG_USAGE: Final = 2
NOT_FOUND: Final = 3
CODES: Final = {FAILED: "Failed", WRONG_USAGE: "WrongUsage", NOT_FOUND: "NotFound"}


class CommandError(Exception):
    """The command failed; the message is one sentence for a person, the hint what to try next."""

    def __init__(self, message: str, exit_code: int = FAILED, *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.code = code or CODES.get(exit_code, CODES[FAILED])
        self.hint = ""

    def __str__(self) -> str:
        """Return what a person reads: the sentence, and the hint below it."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class RefusedError(CommandError):
    """A server said no, in its own words."""

    def __str__(self) -> str:
        """Return the server's words with its code."""
        sentence = f"error: {self.message} ({self.code})"
        return f"{sentence}\n{self.hint}" if self.hint else sentence


class NoServerError(CommandError):
    """There is no server, or it is gone."""


class WrongUsageError(CommandError):
    """What was written on the command line makes no sense."""

    def __init__(self, message: str) -> None:
        super().__init__(f"error: {message}", WRONG_USAGE)
