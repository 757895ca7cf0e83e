"""Points in time: ISO 8601 on the way in, the monitoring provider's form on the way out."""

from datetime import UTC, datetime, tzinfo


def parse_instant(text: str, zone: tzinfo | None = None) -> datetime:
    """Return an instant in UTC, or raise ValueError.

    Where a zone is given the text is what the clock on the wall shows there: clients write an
    offset of zero behind such a time, which then says nothing.
    """
    given = datetime.fromisoformat(text)
    if zone is not None or given.tzinfo is None:
        given = given.replace(tzinfo=zone or UTC)
    try:
        return given.astimezone(UTC)
    except OverflowError:
        raise ValueError(text) from None


def encode_instant(at: datetime) -> str:
    """Return an instant as the monitoring provider writes it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
