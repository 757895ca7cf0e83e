"""Bytes to values and back: the formats of both endpoints. No I/O, no framework types."""
