"""Every store there is. A new backend is a new line in `STORES` and nothing else."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lastcall.ports import Store
from lastcall.store.memory import MemoryStore
from lastcall.store.sqlite import SqliteStore

STORES = [
    pytest.param(lambda folder: MemoryStore(), id="memory"),
    pytest.param(lambda folder: SqliteStore(folder / "lastcall.db"), id="sqlite"),
]


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    make: Callable[[Path], Store] = request.param
    opened = make(tmp_path)
    yield opened
    await opened.close()
