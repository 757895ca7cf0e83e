"""The api-version of a request to the control plane."""

import re
from datetime import date

from lastcall.engine.errors import InvalidApiVersionError, MissingApiVersionError
from lastcall.wire.quoting import shown

SHAPE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-preview)?", re.IGNORECASE)

# The compute provider's. Later ones are accepted too: clients move on before we do.
KNOWN = (
    "2015-06-15",
    "2016-03-30",
    "2016-04-30-preview",
    "2017-03-30",
    "2017-12-01",
    "2018-04-01",
    "2018-06-01",
    "2018-10-01",
    "2019-03-01",
    "2019-07-01",
    "2019-12-01",
    "2020-06-01",
    "2020-12-01",
    "2021-03-01",
    "2021-04-01",
    "2021-07-01",
    "2021-11-01",
    "2022-03-01",
    "2022-08-01",
    "2022-11-01",
    "2023-03-01",
    "2023-07-01",
    "2023-09-01",
    "2024-03-01",
    "2024-07-01",
    "2024-11-01",
    "2025-04-01",
    "2025-11-01",
    "2026-03-01",
    "2026-04-01",
)


def refuse_api_version(value: str | None, oldest: str = KNOWN[0]) -> None:
    """Refuse a request without an api-version, or with one that is no date or before `oldest`."""
    if not value:
        raise MissingApiVersionError
    match = SHAPE.fullmatch(value)
    if match is None or match[1] < oldest or not _is_date(match[1]):
        raise InvalidApiVersionError(
            f"The api-version '{shown(value)}' is invalid."
            f" The supported versions are '{','.join(reversed(KNOWN))}'."
        )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
