"""The functions of the template language, one module per kind."""

from typing import Final

from lastcall.wire.templates.functions.arrays import ARRAYS
from lastcall.wire.templates.functions.containers import CONTAINERS
from lastcall.wire.templates.functions.dates import DATES
from lastcall.wire.templates.functions.encodings import ENCODINGS
from lastcall.wire.templates.functions.hashes import HASHES
from lastcall.wire.templates.functions.lambdas import LAMBDAS
from lastcall.wire.templates.functions.logic import LOGIC
from lastcall.wire.templates.functions.numbers import NUMBERS
from lastcall.wire.templates.functions.objects import OBJECTS
from lastcall.wire.templates.functions.resources import RESOURCES
from lastcall.wire.templates.functions.surroundings import SURROUNDINGS
from lastcall.wire.templates.functions.texts import TEXTS
from lastcall.wire.templates.signatures import Table

LIBRARIES: Final = (
    *(ARRAYS, CONTAINERS, DATES, ENCODINGS, HASHES, LAMBDAS),
    *(LOGIC, NUMBERS, OBJECTS, RESOURCES, SURROUNDINGS, TEXTS),
)
FUNCTIONS: Final[Table] = {
    name: function for library in LIBRARIES for name, function in library.functions.items()
}
assert len(FUNCTIONS) == sum(len(library.functions) for library in LIBRARIES)
