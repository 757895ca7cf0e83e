import asyncio

import pytest
import uvloop
from hypothesis import settings

from tests.metadata.stage import running

# How long an example takes says nothing on a busy machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories(config, item):
    loops = {"uvloop": uvloop.new_event_loop}
    if item.path.stem in ("test_connections", "test_anything"):
        loops["asyncio"] = asyncio.new_event_loop  # Their transports differ at the edges.
    return loops


@pytest.fixture
async def stage():
    async with running() as stage:
        yield stage
