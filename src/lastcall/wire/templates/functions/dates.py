"""Functions of dates; formats are the common part of .NET's."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from lastcall.wire.quoting import shown
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.scope import Scope
from lastcall.wire.templates.signatures import Given, Library
from lastcall.wire.templates.values import Kind

DATES = Library()
STRING: Final = Kind.STRING
COMPACT: Final = "yyyyMMddTHHmmssZ"
STANDARD: Final = {
    "o": "yyyy-MM-ddTHH:mm:ss.fffffffZ",
    "r": "ddd, dd MMM yyyy HH:mm:ss G'M'T",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "u": "yyyy-MM-dd HH:mm:ssZ",
}
PYTHON: Final = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "dddd": "%A",
    "ddd": "%a",
    "dd": "%d",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "tt": "%p",
}
SINGLE: Final = {"M": "%m", "d": "%d", "H": "%H", "h": "%I", "m": "%M", "s": "%S"}
FIELD: Final = re.compile(
    r"'(?P<quoted>[^']*)'|(?P<field>([yMdHhmsft])\3*)|(?P<other>.)", re.DOTALL
)
FORMAT_CHARACTERS_MAX: Final = 100
FRACTION_DIGITS: Final = 7
DURATION: Final = re.compile(
    r"(?P<sign>[+-]?)P(?=[0-9T])(?:(?P<years>[0-9]{1,4})Y)?(?:(?P<months>[0-9]{1,5})M)?"
    r"(?:(?P<weeks>[0-9]{1,5})W)?(?:(?P<days>[0-9]{1,6})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,7})H)?(?:(?P<minutes>[0-9]{1,8})M)?(?:(?P<seconds>[0-9]{1,9})S)?)?"
)
# How a date may be given, and so how it is given back.
READABLE: Final = {
    COMPACT: "%Y%m%dT%H%M%SZ",
    "u": "%Y-%m-%d %H:%M:%SZ",
    "yyyy-MM-ddTHH:mm:ssZ": "%Y-%m-%dT%H:%M:%SZ",
    "o": "%Y-%m-%dT%H:%M:%S.%fZ",
    "s": "%Y-%m-%dT%H:%M:%S",
    "yyyy-MM-dd": "%Y-%m-%d",
}


@DATES.define("utcNow", STRING, optional=1, given=Given.SCOPE_AND_VALUES)
def utc_now(scope: Scope, form: str = COMPACT) -> str:
    """Return when the deployment began."""
    if scope.draw is None:
        raise ExpressionError(
            "The template function 'utcNow' is not expected at this location: it can only be used"
            " in the default value of a parameter."
        )
    return written(scope.context.now.astimezone(UTC), form)


@DATES.define("dateTimeAdd", STRING, STRING, STRING, optional=1)
def date_time_add(start: str, duration: str, form: str | None = None) -> str:
    """Return a date moved by an ISO 8601 duration, in the format that it was given in."""
    moment, given_form = _read(start)
    match = DURATION.fullmatch(duration)
    if match is None:
        raise ExpressionError("The argument is not an ISO 8601 duration such as P1DT2H.")
    try:
        return written(_moved(moment, match), form or given_form)
    except (OverflowError, ValueError):
        raise ExpressionError("The date is out of range.") from None


@DATES.define("dateTimeToEpoch", STRING)
def date_time_to_epoch(text: str) -> int:
    """Return the seconds of a date since 1970."""
    return int(_read(text)[0].timestamp())


@DATES.define("dateTimeFromEpoch", Kind.INTEGER)
def date_time_from_epoch(seconds: int) -> str:
    """Return the date so many seconds after 1970."""
    try:
        return written(datetime.fromtimestamp(seconds, UTC), "yyyy-MM-ddTHH:mm:ssZ")
    except (OverflowError, OSError, ValueError):
        raise ExpressionError("The date is out of range.") from None


def written(moment: datetime, form: str) -> str:
    """Return a date in a format, or refuse the format."""
    pattern = STANDARD.get(form.lower(), form) if len(form) == 1 else form
    if len(pattern) > FORMAT_CHARACTERS_MAX:
        raise ExpressionError(f"A date's format has at most {FORMAT_CHARACTERS_MAX} characters.")
    return "".join(_field(moment, match, form) for match in FIELD.finditer(pattern))


def _field(moment: datetime, match: re.Match[str], form: str) -> str:
    field = match["field"]
    if field is None:
        return match["quoted"] if match["quoted"] is not None else match["other"]
    if field[0] == "f" and len(field) <= FRACTION_DIGITS:
        return f"{moment.microsecond:06}0"[: len(field)]
    if field == "yyyy":
        return f"{moment.year:04}"
    if field in PYTHON:
        return moment.strftime(PYTHON[field])
    if field in SINGLE:
        return moment.strftime(SINGLE[field]).lstrip("0") or "0"
    raise ExpressionError(
        f"The date format '{shown(form)}' has a part that is not known: '{field}'."
    )


def _read(text: str) -> tuple[datetime, str]:
    for form, pattern in READABLE.items():
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC), form
        except ValueError:
            continue
    raise ExpressionError("The argument is not a date such as 2024-02-01T12:00:00Z.")


def _moved(moment: datetime, match: re.Match[str]) -> datetime:
    parts = {name: int(value or 0) for name, value in match.groupdict().items() if name != "sign"}
    sign = -1 if match["sign"] == "-" else 1
    months = moment.year * 12 + moment.month - 1 + sign * (parts["years"] * 12 + parts["months"])
    year, month = divmod(months, 12)
    fixed = {name: parts[name] for name in ("weeks", "days", "hours", "minutes", "seconds")}
    return _in_month(moment, year, month + 1) + sign * timedelta(**fixed)


def _in_month(moment: datetime, year: int, month: int) -> datetime:
    # Like .NET, the 31st of a shorter month is its last day.
    after = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    last = (after - timedelta(days=1)).day
    return moment.replace(year=year, month=month, day=min(moment.day, last))
