"""Measure every row, print the table, write it to bench/RESULTS.md. `make bench [ROWS=...]`."""

import argparse
import importlib
import sys

from bench.report import Row, machine, table, write

MODULES = ("polling", "approvals", "visibility", "fleet", "startup", "stepping")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"some of: {', '.join(MODULES)}")
    chosen = parser.parse_args().rows or list(MODULES)
    if unknown := set(chosen) - set(MODULES):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    for name in chosen:
        module = importlib.import_module(f"bench.{name}")
        missing = module.available() if hasattr(module, "available") else ""
        if missing:
            print(f"skipped {name}: {missing}", file=sys.stderr)
            continue
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows += module.measure()
    print(machine())
    print(table(rows))
    if set(chosen) == set(MODULES):
        write(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
