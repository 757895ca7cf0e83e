"""Files that nobody else may read, written whole or not at all."""

import os
from pathlib import Path
from typing import Final

AUTHORITY: Final = "ca.pem"
PRIVATE: Final = 0o600
PUBLIC: Final = 0o644
FOR_OTHERS: Final = 0o077


class TrustError(Exception):
    """What proves who we are cannot be used; the message says why and what to do."""


def write_whole(path: Path, content: bytes, mode: int = PRIVATE) -> None:
    """Write a file; whoever reads it sees the old content or the new, and never too much of it."""
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.unlink(missing_ok=True)
        # The mode is there before the content is.
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as trouble:
        raise TrustError(f"{path} cannot be written: {trouble.strerror or trouble}.") from trouble


def read_private(path: Path) -> bytes | None:
    """Return a file's content, None where there is none; what others may read is closed to them."""
    try:
        content = path.read_bytes()
        if path.stat().st_mode & FOR_OTHERS:
            path.chmod(PRIVATE)
    except FileNotFoundError:
        return None
    except OSError as trouble:
        raise TrustError(f"{path} cannot be read: {trouble.strerror or trouble}.") from trouble
    return content


def damaged(path: Path, advice: str) -> TrustError:
    """Return the refusal to go on with a file that makes no sense."""
    return TrustError(f"The file {path} is damaged. {advice}")
