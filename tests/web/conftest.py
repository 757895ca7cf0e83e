from collections.abc import AsyncIterator

import pytest

from tests.web.desk import WEB, Desk, a_desk, with_notice


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with a_desk() as desk:
        yield desk


@pytest.fixture
async def web(desk: Desk) -> Desk:
    """The desk with a set of two instances that get ten minutes of notice, and are watched."""
    assert (await desk.arm("PUT", WEB, with_notice())).status_code == 201
    await desk.watch()
    return desk
