"""The api-version of a request to the control plane."""

import re
from collections.abc import Sequence
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

# The resource manager's own; what is kept as it was given has no others.
RESOURCES = (
    "2014-04-01-preview",
    "2015-01-01",
    "2015-11-01",
    "2016-02-01",
    "2016-06-01",
    "2016-09-01",
    "2017-05-10",
    "2018-05-01",
    "2019-05-01",
    "2019-10-01",
    "2020-01-01",
    "2020-06-01",
    "2020-10-01",
    "2021-01-01",
    "2021-04-01",
    "2022-09-01",
    "2022-12-01",
    "2023-07-01",
    "2024-03-01",
    "2024-07-01",
    "2024-11-01",
    "2025-04-01",
)
DATE_CHARACTERS = len("2014-04-01")

# The monitoring provider's: autoscale, the activity log, metrics.
INSIGHTS = (
    "2014-04-01",
    "2015-04-01",
    "2018-01-01",
    "2019-07-01",
    "2021-05-01",
    "2022-10-01",
    "2024-02-01",
)


def refuse_api_version(
    value: str | None, oldest: str | None = None, known: Sequence[str] = KNOWN
) -> None:
    """Refuse a request without an api-version, or with one that is no date or before `oldest`.

    `oldest` is the first of the `known` ones, unless a member or an action came later.
    """
    if not value:
        raise MissingApiVersionError
    match = SHAPE.fullmatch(value)
    if match is None or match[1] < (oldest or known[0])[:DATE_CHARACTERS] or not _is_date(match[1]):
        raise InvalidApiVersionError(
            f"The api-version '{shown(value)}' is invalid."
            f" The supported versions are '{','.join(reversed(known))}'."
        )


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
