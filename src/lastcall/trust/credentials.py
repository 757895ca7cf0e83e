"""The credentials that come with a state folder: whoever may read the file may use the server."""

from pathlib import Path
from typing import Final

import msgspec

from lastcall.ports import Ids
from lastcall.trust.files import damaged, read_private, write_whole

FILE: Final = "principal.json"


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """Who the folder's own principal is, and the secret that proves it."""

    app_id: str
    object_id: str
    secret: str


def read_credentials(folder: Path) -> Credentials | None:
    """Return the credentials of a folder, None where it has none yet."""
    path = folder / FILE
    content = read_private(path)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Credentials)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise damaged(path, "Remove it and start again; it then gets a new secret.") from wrong


def keep_credentials(folder: Path, ids: Ids) -> Credentials:
    """Return the credentials of a folder, made if there are none yet."""
    found = read_credentials(folder)
    if found is None:
        found = Credentials(
            app_id=ids.principal_id(), object_id=ids.principal_id(), secret=ids.secret()
        )
        pretty = msgspec.json.format(msgspec.json.encode(found), indent=2)
        write_whole(folder / FILE, pretty + b"\n")
    return found
