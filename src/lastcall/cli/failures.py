"""How a command ends when it cannot do what it was asked."""

from typing import Final

FAILED: Final = 1
NOT_FOUND: Final = 3


class CommandError(Exception):
    """The command failed; the message is one sentence for a person."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
