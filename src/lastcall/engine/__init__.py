"""PURE. Decides what happens next; never reads time, draws ids, logs, awaits or does I/O."""
