"""The folder in which one server keeps everything; one server at a time."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

DATABASE: Final = "lastcall.db"
ENDPOINTS: Final = "endpoints.json"
LOCK: Final = "lock"
PRIVATE: Final = 0o600
FOR_OTHERS: Final = 0o077


class StateFolderError(Exception):
    """The state folder cannot be used."""


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Where a running server can be reached; the content of endpoints.json."""

    portal: str
    metadata: str
    subscription: str
    tenant: str
    pid: int
    control: str | None = None
    ca: str | None = None


class StateFolder:
    """Holds the folder's lock from entering to leaving."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = -1

    @property
    def database(self) -> Path:
        """Where the store is."""
        return self.path / DATABASE

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        except OSError as trouble:
            raise StateFolderError(
                f"The state folder {self.path} cannot be written: {trouble.strerror}."
                " Choose another with --state DIR."
            ) from trouble
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            owner = os.pread(self._lock, 32, 0).decode("ascii", "replace").strip()
            os.close(self._lock)
            raise StateFolderError(
                f"Another lastcall (process {owner or 'unknown'}) is running on {self.path}."
                " Stop it, or choose another folder with --state DIR."
            ) from taken
        self._own()
        return self

    def _own(self) -> None:
        try:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, str(os.getpid()).encode(), 0)
            # What a server that was killed left behind must not be taken for this one's.
            (self.path / ENDPOINTS).unlink(missing_ok=True)
            self._keep_private()
        except OSError as trouble:
            os.close(self._lock)
            raise StateFolderError(
                f"The state folder {self.path} cannot be written: {trouble.strerror}."
            ) from trouble

    def _keep_private(self) -> None:
        """Make the store readable by nobody else: it has the passwords of models in it."""
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE))
        # SQLite gives its other files the mode of the first; these are left of a server that died.
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            file = self.path / name
            if file.exists() and file.stat().st_mode & FOR_OTHERS:
                file.chmod(PRIVATE)

    def publish(self, endpoints: Endpoints) -> None:
        """Write endpoints.json, whole or not at all."""
        draft = self.path / f"{ENDPOINTS}.new"
        pretty = msgspec.json.format(msgspec.json.encode(endpoints), indent=2)
        try:
            draft.write_bytes(pretty + b"\n")
            draft.replace(self.path / ENDPOINTS)
        except OSError as trouble:
            raise StateFolderError(
                f"{self.path / ENDPOINTS} cannot be written: {trouble.strerror}."
            ) from trouble

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        (self.path / ENDPOINTS).unlink(missing_ok=True)
        os.close(self._lock)


def read_endpoints(path: Path) -> Endpoints | None:
    """Return where the server of a folder can be reached, or None where none has been ready."""
    try:
        return msgspec.json.decode((path / ENDPOINTS).read_bytes(), type=Endpoints)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
