"""kill -9 at random moments, under load: nothing that was acknowledged is lost."""

import pytest

from .crash import run

pytestmark = pytest.mark.acceptance


def test_nothing_acknowledged_is_lost_in_25_crashes():
    assert run(rounds=25, seed=1) > 100
