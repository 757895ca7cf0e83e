"""Use cases: load, decide, record. No HTTP, no SQL; stores and drivers come through ports."""
