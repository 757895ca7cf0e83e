"""Where servers keep their state, and how a command finds the one it is meant for."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lastcall.cli.failures import CommandError, NoServerError

STATE_VARIABLE: Final = "LASTCALL_STATE"


def default_state() -> Path:
    """Return the folder that is used when no other is named."""
    import platformdirs  # noqa: PLC0415  # not needed when a folder is named

    return platformdirs.user_state_path("lastcall")


def state_flag(state: Path | None) -> str:
    """Return what the next command needs to mean the same folder: nothing where it is implied."""
    if state is None or os.environ.get(STATE_VARIABLE) == str(state):
        return ""
    return f" --state {state}"


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server answers, and the subscription whose resources it has."""

    url: str
    subscription: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which server is meant: the one of a folder, or the one at a URL."""

    state: Path | None = None
    portal: str | None = None

    def server(self) -> Server:
        """Return the server, or refuse when none has said where it is."""
        from lastcall.settings import DEFAULT_SUBSCRIPTION  # noqa: PLC0415
        from lastcall.statefolder import read_endpoints  # noqa: PLC0415

        if self.portal is not None:
            url = self.portal if "://" in self.portal else f"http://{self.portal}"
            return Server(url.rstrip("/"), DEFAULT_SUBSCRIPTION)
        try:
            endpoints = read_endpoints(self.folder)
        except OSError as trouble:
            raise CommandError(
                f"The state folder {self.folder} cannot be read: {trouble.strerror}."
            ) from trouble
        if endpoints is None:
            raise self.nobody()
        return Server(endpoints.portal, endpoints.subscription)

    def nobody(self) -> CommandError:
        """Return the failure of finding no server here."""
        if self.portal is not None:
            return NoServerError(
                f"No lastcall answers at {self.portal}; start one with: lastcall up"
            )
        return NoServerError(
            f"No lastcall is running on {self.folder};"
            f" start one with: lastcall up{state_flag(self.state)}"
        )

    @property
    def folder(self) -> Path:
        """The state folder."""
        return self.state or default_state()
