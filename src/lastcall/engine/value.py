"""What every decision is made of and made into."""

from msgspec import Struct


class Value(Struct, frozen=True, gc=False):
    """Something that never changes, and therefore never comes to refer to itself.

    That spares the garbage collector the whole fleet: it would walk it again and again in vain.
    """
