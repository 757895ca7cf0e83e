"""Who is asking. Never answered from anything that a client says, but for the path of its URL."""

from lastcall.app.directory import Directory
from lastcall.engine.model import MachineId
from lastcall.metadata.addresses import address_of
from lastcall.metadata.answers import RefusedError


def caller(directory: Directory, ordinal: int | None, selector: str | None) -> MachineId:
    """Return the machine that a request speaks for, or refuse.

    `ordinal` belongs to the address that the client connected to, None to the host's own;
    `selector` is the name or vmId in the path, which only the host's own address listens to.
    """
    if ordinal is None:
        return _on_host(directory, selector)
    if selector is not None:
        raise RefusedError(404, "Not found")  # A machine cannot speak for another.
    found = directory.at_ordinal(ordinal)
    if found is None:
        raise RefusedError(404, f"Not found. No instance has the address {_shown(ordinal)}.")
    return found


def _on_host(directory: Directory, selector: str | None) -> MachineId:
    if selector is not None:
        return directory.named(selector)
    found = directory.default()
    if found is None:
        raise RefusedError(
            404, "Not found. There is no instance yet; create a scale set first, then ask again."
        )
    return found


def _shown(ordinal: int) -> str:
    return address_of(ordinal) if ordinal else "127.1.0.0"
