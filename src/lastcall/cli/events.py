"""`lastcall events`: what is going to happen to which instances, and the say one has in it."""

import time
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import typer

from lastcall.cli import flags, tables
from lastcall.cli.commands import Session, command
from lastcall.cli.connection import PAGE
from lastcall.cli.failures import NOT_FOUND, CommandError, RefusedError, WrongUsageError
from lastcall.cli.output import Table
from lastcall.cli.watching import Printer, changes
from lastcall.engine.limits import DURATION_S_MAX, NOTICE_MIN
from lastcall.engine.model import EventType

events = typer.Typer(no_args_is_help=True, help="Scheduled events.")

EventId = Annotated[str, typer.Argument(metavar="EVENT", help="The event's id.")]
Kind = Literal["Freeze", "Reboot", "Redeploy", "Preempt"]
OVER: Final = frozenset({"Completed", "Canceled"})
RECONNECT_PAUSE_S: Final = 1.0


def register(app: typer.Typer) -> None:
    """Add the noun."""
    app.add_typer(events, name="events", epilog="Example: lastcall events watch")


@command(events, "list", example="lastcall events list --all")
def list_events(
    session: Session,
    *,
    is_all: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
) -> None:
    """List the events that are scheduled or have started, the newest first."""
    found = session.connection.everything("events", {"all": "true"} if is_all else None)
    rows = [tables.event_row(each) for each in found]
    session.answer(found, Table(tables.EVENT_HEAD, rows, "No events."))


@command(events, "show", example="lastcall events show 602D9444-D2CD-49C7-8624-8643E7171297")
def show(session: Session, event: EventId) -> None:
    """Show an event and everything that happened to it."""
    found = session.connection.own("GET", f"events/{quote(event, safe='')}")
    session.answer(found, tables.event(found))


@command(
    events,
    "announce",
    example="lastcall events announce --type Freeze --instances web_0 web_1 --notice 20m",
)
def announce(  # noqa: PLR0913  # one parameter for each flag
    session: Session,
    *,
    kind: Annotated[Kind, typer.Option("--type", case_sensitive=False, help="What will happen.")],
    instances: Annotated[
        list[str], typer.Option("--instances", metavar="NAME ...", help="To which instances.")
    ],
    notice: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="How long before: 20m or PT20M; the minimum of the type unless told.",
        ),
    ] = None,
    started: Annotated[bool, typer.Option("--started", help="It has started already.")] = False,
    duration: Annotated[
        int | None, typer.Option(metavar="SECONDS", help="How long it takes, -1 when unknown.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="Why, in words.")] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Allow less notice than is promised.")
    ] = False,
) -> None:
    """Announce maintenance by the platform, as Azure would."""
    body: dict[str, Any] = {"type": kind, "instances": instances}
    if notice is not None:
        if started:
            raise WrongUsageError("--started and --notice cannot be combined.")
        body["notice"] = _notice(kind, notice, is_short=short)
    if description is not None:
        body["description"] = description
    if duration is not None:
        if not -1 <= duration <= DURATION_S_MAX:
            raise WrongUsageError(
                f"--duration is 0 to {DURATION_S_MAX} seconds, or -1 when unknown."
            )
        body["durationInSeconds"] = duration
    body |= {name: True for name, given in (("started", started), ("short", short)) if given}
    found = session.connection.own("POST", "events", body)
    session.answer(found, tables.event(found))


def _notice(kind: Kind, text: str, *, is_short: bool) -> str:
    least = NOTICE_MIN[EventType(kind)]
    if flags.duration(text) < least and not is_short:
        raise WrongUsageError(
            f"--notice of a {kind} is at least {flags.short_duration(least)};"
            " add --short to give less."
        )
    return flags.iso_duration(text)


@command(events, "approve", example="lastcall events approve 602D9444-D2CD-49C7-8624-8643E7171297")
def approve(session: Session, event: EventId) -> None:
    """Let an event start before its time, as the instances could themselves."""
    found = session.connection.own("POST", f"events/{quote(event, safe='')}/approve")
    is_over = found["status"] in OVER
    told = f"{event} is {found['status']} already." if is_over else f"Approved: {event}."
    session.say(found, told)


@command(events, "cancel", example="lastcall events cancel 602D9444-D2CD-49C7-8624-8643E7171297")
def cancel(session: Session, event: EventId) -> None:
    """Take back an announcement that has not started."""
    path = f"events/{quote(event, safe='')}"
    try:
        session.connection.own("DELETE", path)
    except RefusedError as refused:
        if refused.exit_code == NOT_FOUND:
            raise
        status = session.connection.own("GET", path)["status"]
        if status not in OVER:
            raise
        message = f"error: {event} is {status} already."
        raise CommandError(message, code=refused.code) from refused
    session.say({"status": "Cancelled"}, f"Cancelled: {event}.")


@command(events, "history", example="lastcall events history --instance web_0 --limit 20")
def history(
    session: Session,
    *,
    instance: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this instance, or of a vmId.")
    ] = None,
    event: Annotated[str | None, typer.Option(metavar="ID", help="Only of this event.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="How many of the newest lines.")
    ] = 100,
) -> None:
    """List what has happened, the newest last."""
    found = _lines(session, {"instance": instance, "event": event, "limit": str(limit)})
    rows = [tables.line_row(each) for each in found]
    session.answer(found, Table(tables.LINE_HEAD, rows, "Nothing has happened."))


def _lines(session: Session, given: dict[str, str | None]) -> list[dict[str, Any]]:
    """Return lines of history; those of an instance that is gone are found by the name it had."""
    params = {name: value for name, value in given.items() if value is not None}
    found: list[dict[str, Any]]
    try:
        found = session.connection.own("GET", "history", None, params)["value"]
    except RefusedError as refused:
        name, limit = params.pop("instance", None), int(params.pop("limit"))
        if refused.exit_code != NOT_FOUND or name is None:
            raise
        newest = session.connection.own("GET", "history", None, {**params, "limit": PAGE})["value"]
        found = [line for line in newest if (line["instance"] or "").lower() == name.lower()]
        if not found:
            raise
        return found[-limit:]
    return found


@command(events, "watch", example="lastcall events watch --json")
def watch(
    session: Session,
    *,
    count: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many lines; else at Ctrl-C.")
    ] = None,
) -> None:
    """Follow everything that happens, a line for each change."""
    printer = Printer(session)
    left = count
    try:
        for change in changes(session, pause=lambda: time.sleep(RECONNECT_PAUSE_S)):
            printer.print(change)
            left = None if left is None else left - 1
            if left == 0:
                return
    except KeyboardInterrupt:
        return
