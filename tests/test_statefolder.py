"""The folder of one server."""

import stat

from lastcall.statefolder import DATABASE, StateFolder
from lastcall.store.sqlite import SqliteStore

FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


def modes(folder):
    found = {file: stat.S_IMODE((folder / file).stat().st_mode) for file in FILES}
    return {oct(mode) for mode in found.values()}


async def opened(folder):
    with StateFolder(folder) as state:
        store = SqliteStore(state.database)
        await store.transact(lambda tx: tx.remember("password", "secret"))
        try:
            return modes(folder)
        finally:
            await store.close()


async def test_a_new_store_is_its_owners_alone_even_in_a_folder_for_all(tmp_path):
    tmp_path.chmod(0o755)

    assert await opened(tmp_path) == {"0o600"}


async def test_what_is_open_to_others_is_closed_to_them(tmp_path):
    await opened(tmp_path)
    for file in FILES:
        (tmp_path / file).touch()
        (tmp_path / file).chmod(0o644)

    assert await opened(tmp_path) == {"0o600"}
