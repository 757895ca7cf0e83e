"""One server for all clients, and each client set up as its users do."""

import pytest

from tests.cli.processes import up
from tests.clients.tools import AZ, Az, exports, missing


@pytest.fixture(scope="session")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("clients") / "state"


@pytest.fixture(scope="session")
def where(state):
    with up(state, "--control", "127.0.0.1:0") as endpoints:
        yield endpoints


@pytest.fixture(scope="session")
def variables(where, state, tmp_path_factory):
    return exports(state, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def az(variables):
    if why := missing(AZ):
        pytest.skip(why)
    return Az(variables)
