"""Run many seeds: `python -m tests.simulation.run --seeds 5000`, or one again with `--seed K`."""

import argparse
import sys
import time
import traceback

from .world import World

STEPS = 60


def run_seed(seed: int, steps: int = STEPS) -> World:
    """Run one seed to its end; raise when a promise is broken."""
    world = World(seed)
    world.run(steps)
    return world


def main() -> int:
    """Run the seeds, show how it goes, and name the first one that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many seeds (default 2000)")
    parser.add_argument("--seed", type=int, help="run only this one")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"per seed (default {STEPS})")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    if args.seed is not None:
        seeds = range(args.seed, args.seed + 1)
    decisions = deaths = 0
    began = time.process_time()
    for done, seed in enumerate(seeds, start=1):
        try:
            world = run_seed(seed, args.steps)
        except Exception:  # noqa: BLE001 - whatever it is, it is the seed's bug report
            traceback.print_exc()
            print(f"\nseed {seed} failed; run it again with:", file=sys.stderr)
            again = f"--seed {seed} --steps {args.steps}"
            print(f"  python -m tests.simulation.run {again}", file=sys.stderr)
            return 1
        decisions += world.witness.steps
        deaths += world.deaths
        if done % 50 == 0 or done == len(seeds):
            took = time.process_time() - began
            print(
                f"\r{done} of {len(seeds)} seeds, {decisions:,} engine steps, {deaths} deaths,"
                f" {decisions / took:,.0f} steps per second of processor time",
                end="",
                flush=True,
            )
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
