"""Years of operation in a minute, from seeds. A failure names its seed: the whole bug report."""

import pytest

from lastcall.engine.model import EventType

from .run import run_seed

pytestmark = pytest.mark.simulation

SEEDS_PER_TEST = 100


@pytest.mark.parametrize("first", range(0, 4000, SEEDS_PER_TEST))
def test_short_histories_keep_every_promise(first):
    for seed in range(first, first + SEEDS_PER_TEST):
        run(seed, steps=80)


@pytest.mark.parametrize("first", range(1_000_000, 1_000_200, 20))
def test_long_histories_keep_every_promise(first):
    for seed in range(first, first + 20):
        run(seed, steps=500)


def test_the_same_seed_is_the_same_history():
    first, second = run(7, steps=100), run(7, steps=100)

    assert first.witness.steps == second.witness.steps
    assert first.now == second.now
    assert list(first.witness.known) == list(second.witness.known)


def test_the_histories_have_everything_in_them():
    worlds = [run(seed, steps=100) for seed in range(60)]

    assert sum(world.deaths for world in worlds) > 20
    assert sum(len(world.witness.answered) for world in worlds) > 200
    assert sum(len(world.witness.forced) for world in worlds) > 20
    assert sum(len(world.witness.deleted) for world in worlds) > 200
    assert sum(len(world.witness.withdrawn) for world in worlds) > 10
    assert {kind for world in worlds for kind in world.witness.types} == set(EventType)


def run(seed: int, steps: int):
    try:
        return run_seed(seed, steps)
    except Exception as error:
        again = f"python -m tests.simulation.run --seed {seed} --steps {steps}"
        raise AssertionError(f"seed {seed}: {error}\nrun it again: {again}") from error
