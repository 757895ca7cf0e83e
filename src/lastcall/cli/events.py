"""`lastcall events`: what is going to happen to which instances, and the say one has in it."""

import time
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import typer

from lastcall.cli import flags, tables
from lastcall.cli.commands import Session, command
from lastcall.cli.output import Table
from lastcall.cli.watching import Printer, changes

events = typer.Typer(no_args_is_help=True, help="Scheduled events.")

EventId = Annotated[str, typer.Argument(metavar="EVENT", help="The event's id.")]
Kind = Literal["Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"]
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
    """List the events that are scheduled or have started."""
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
        str | None, typer.Option(metavar="DURATION", help="How long before: 20m or PT20M.")
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
        body["notice"] = flags.iso_duration(notice)
    if description is not None:
        body["description"] = description
    if duration is not None:
        body["durationInSeconds"] = duration
    body |= {name: True for name, given in (("started", started), ("short", short)) if given}
    found = session.connection.own("POST", "events", body)
    session.answer(found, tables.event(found))


@command(events, "approve", example="lastcall events approve 602D9444-D2CD-49C7-8624-8643E7171297")
def approve(session: Session, event: EventId) -> None:
    """Let an event start before its time, as the instances could themselves."""
    found = session.connection.own("POST", f"events/{quote(event, safe='')}/approve")
    session.say(found, f"Approved: {event}.")


@command(events, "cancel", example="lastcall events cancel 602D9444-D2CD-49C7-8624-8643E7171297")
def cancel(session: Session, event: EventId) -> None:
    """Take back an announcement that has not started."""
    session.connection.own("DELETE", f"events/{quote(event, safe='')}")
    session.say({"status": "Cancelled"}, f"Cancelled: {event}.")


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
