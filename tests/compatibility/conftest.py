from collections.abc import AsyncIterator

import pytest

from tests.compatibility.world import World, a_world
from tests.web.desk import WEB, with_notice


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with a_world() as world:
        yield world


@pytest.fixture
async def web(world: World) -> World:
    """A set of three instances with ten minutes of notice, watched by one of its guests."""
    assert (await world.arm("PUT", WEB, with_notice(capacity=3))).status_code == 201
    assert await world.events() == []
    return world
