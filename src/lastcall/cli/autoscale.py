"""`lastcall autoscale`: settings that scale a set by what is measured, with az's own names."""

# ruff: noqa: PLR0913  (a command has one parameter for each of its flags)

from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

import typer

from lastcall.cli import flags, rules, tables
from lastcall.cli.commands import Session, command
from lastcall.cli.connection import Json, Target
from lastcall.cli.failures import NOT_FOUND, CommandError, WrongUsageError
from lastcall.cli.output import Table
from lastcall.cli.vmss_flags import Group, Location, Tags

if TYPE_CHECKING:
    import httpx2

autoscale = typer.Typer(no_args_is_help=True, help="Autoscale settings, with az's own names.")
rule = typer.Typer(no_args_is_help=True, help="The rules of a setting.")
SETTINGS: Final = "providers/Microsoft.Insights/autoscaleSettings"
DEFAULT_PROFILE: Final = "default"

Name = Annotated[str, typer.Option("--name", "-n", help="The autoscale setting.")]
SettingName = Annotated[str, typer.Option("--autoscale-name", help="The autoscale setting.")]
Resource = Annotated[
    str, typer.Option(metavar="SET", help="What is scaled: a scale set's name, or its id.")
]
Count = Annotated[
    int, typer.Option(min=0, max=1000, help="How many instances when nothing is measured.")
]
Bound = Annotated[int | None, typer.Option(min=0, max=1000, help="As --count unless told.")]
Profile = Annotated[str, typer.Option("--profile-name", help="The profile that has the rule.")]


def register(app: typer.Typer) -> None:
    """Add the noun."""
    app.add_typer(autoscale, name="autoscale", epilog="Example: lastcall autoscale list")
    autoscale.add_typer(rule, name="rule", epilog="Example: lastcall autoscale rule list")


@command(
    autoscale,
    "create",
    example="lastcall autoscale create --resource web --min-count 1 --max-count 5 --count 2",
)
def create(
    session: Session,
    *,
    resource: Resource,
    count: Count,
    min_count: Bound = None,
    max_count: Bound = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="The setting; as the scale set unless told.")
    ] = None,
    resource_group: Group = "lastcall",
    location: Location = "westus",
    tags: Tags = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Do not scale yet.")] = False,
) -> None:
    """Create a setting that keeps a scale set within bounds, or replace it."""
    target = target_id(session, resource_group, resource)
    capacity = {
        "default": str(count),
        "minimum": str(count if min_count is None else min_count),
        "maximum": str(count if max_count is None else max_count),
    }
    body = {
        "location": location,
        "tags": flags.tags(tags or ()),
        "properties": {
            "enabled": not disabled,
            "profiles": [{"name": DEFAULT_PROFILE, "capacity": capacity, "rules": []}],
            "targetResourceUri": target,
        },
    }
    path = _path(resource_group, name or target.rpartition("/")[2])
    found = session.connection.arm("PUT", path, body).json()
    session.answer(found, tables.autoscale_setting(found))


@command(autoscale, "show", example="lastcall autoscale show -n web")
def show(session: Session, *, name: Name, resource_group: Group = "lastcall") -> None:
    """Show a setting with its profiles and rules."""
    found = _setting(session, resource_group, name)
    session.answer(found, tables.autoscale_setting(found))


@command(autoscale, "list", example="lastcall autoscale list")
def list_settings(
    session: Session,
    *,
    resource_group: Annotated[
        str | None, typer.Option("--resource-group", "-g", help="Only those of this group.")
    ] = None,
) -> None:
    """List the settings of a resource group, or all."""
    found = session.connection.arm("GET", _path(resource_group)).json()["value"]
    rows = [tables.autoscale_row(each) for each in found]
    nothing = "No autoscale settings; create one with: lastcall autoscale create"
    session.answer(found, Table(tables.AUTOSCALE_HEAD, rows, nothing))


@command(autoscale, "delete", example="lastcall autoscale delete -n web")
def delete(session: Session, *, name: Name, resource_group: Group = "lastcall") -> None:
    """Delete a setting; the scale set stays as it is."""
    answer = _ask(session, "DELETE", resource_group, name)
    if answer.status_code == 204:
        missing = CommandError(
            f"error: there is no autoscale setting {name} in group {resource_group}.",
            NOT_FOUND,
            code="ResourceNotFound",
        )
        missing.hint = session.connection.hint("autoscale list")
        raise missing
    session.say({"status": "Deleted"}, f"Deleted: {name}.")


@command(
    rule,
    "create",
    example="lastcall autoscale rule create --autoscale-name web"
    ' --condition "Percentage CPU > 75 avg 5m" --scale out 1',
)
def create_rule(
    session: Session,
    *,
    autoscale_name: SettingName,
    condition: Annotated[
        list[str], typer.Option(metavar="CONDITION", help="When: METRIC > 75 avg 5m [where ...].")
    ],
    scale: Annotated[
        list[str], typer.Option(metavar="{out,in,to} N", help="What then: out 1, in 50%, to 3.")
    ],
    cooldown: Annotated[
        int, typer.Option(min=1, max=10080, help="Minutes between two changes.")
    ] = 5,
    timegrain: Annotated[
        list[str] | None,
        typer.Option(metavar="{avg,min,max,sum} PERIOD", help="How it is measured: avg 1m."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose metric; the target's unless told.")
    ] = None,
    profile_name: Profile = DEFAULT_PROFILE,
    resource_group: Group = "lastcall",
) -> None:
    """Add a rule to a profile of a setting."""
    trigger = {**rules.condition(condition), **rules.grain(timegrain or ["avg 1m"])}
    action = {**rules.scale(scale), "cooldown": f"PT{cooldown}M"}
    setting = _setting(session, resource_group, autoscale_name)
    target = setting["properties"].get("targetResourceUri", "")
    new = {
        "metricTrigger": {**trigger, "metricResourceUri": source or target},
        "scaleAction": action,
    }
    _profile(setting, profile_name)["rules"].append(new)
    _write(session, resource_group, setting)


@command(rule, "list", example="lastcall autoscale rule list --autoscale-name web")
def list_rules(
    session: Session,
    *,
    autoscale_name: SettingName,
    profile_name: Profile = DEFAULT_PROFILE,
    resource_group: Group = "lastcall",
) -> None:
    """List the rules of a profile, with the index that `rule delete` wants."""
    setting = _setting(session, resource_group, autoscale_name)
    found = _profile(setting, profile_name)["rules"]
    indexed = [{"index": place, **each} for place, each in enumerate(found)]
    rows = [(str(each["index"]), rules.sentence(each)) for each in indexed]
    session.answer(indexed, Table(("INDEX", "RULE"), rows, "No rules."))


@command(rule, "delete", example="lastcall autoscale rule delete --autoscale-name web --index 0")
def delete_rules(
    session: Session,
    *,
    autoscale_name: SettingName,
    index: Annotated[list[str], typer.Option(metavar="N ...", help="Which rules; * means all.")],
    profile_name: Profile = DEFAULT_PROFILE,
    resource_group: Group = "lastcall",
) -> None:
    """Remove rules from a profile of a setting."""
    setting = _setting(session, resource_group, autoscale_name)
    profile = _profile(setting, profile_name)
    known = {str(place) for place in range(len(profile["rules"]))}
    unknown = sorted(set(index) - known - {"*"})
    if unknown:
        raise CommandError(
            f"error: profile {profile_name} has no rule {', '.join(unknown)}.", NOT_FOUND
        )
    profile["rules"] = [
        each
        for place, each in enumerate(profile["rules"])
        if "*" not in index and str(place) not in index
    ]
    _write(session, resource_group, setting)


def target_id(session: Session, group: str, resource: str) -> str:
    """Return the id of what is meant: one is taken as it is, a name is a scale set's."""
    if resource.startswith("/"):
        return resource
    if not resource:
        raise WrongUsageError("--resource is empty; name the scale set, such as web.")
    subscription = session.connection.server.subscription
    return f"/subscriptions/{subscription}/{Target(group, resource).path()}"


def _path(group: str | None, name: str | None = None) -> str:
    place = SETTINGS if group is None else f"resourceGroups/{quote(group, safe='')}/{SETTINGS}"
    return place if name is None else f"{place}/{quote(name, safe='')}"


def _setting(session: Session, group: str, name: str) -> Json:
    found: Json = _ask(session, "GET", group, name).json()
    return found


def _ask(session: Session, method: str, group: str, name: str) -> "httpx2.Response":
    """Ask about one setting; what is not there comes with a hint."""
    try:
        return session.connection.arm(method, _path(group, name))
    except CommandError as missing:
        if missing.exit_code == NOT_FOUND:
            missing.hint = session.connection.hint("autoscale list")
        raise


def _profile(setting: Json, name: str) -> Json:
    for profile in setting["properties"]["profiles"]:
        if profile["name"].lower() == name.lower():
            found: Json = profile
            return found
    raise CommandError(f"error: there is no profile {name} in {setting['name']}.", NOT_FOUND)


def _write(session: Session, group: str, setting: Json) -> None:
    found = session.connection.arm("PUT", _path(group, setting["name"]), setting).json()
    session.answer(found, tables.autoscale_setting(found))
