"""The flags of `lastcall vmss`: az's names, each defined once."""

from typing import Annotated, Final, Literal

import typer

from lastcall.cli.failures import WrongUsageError

GROUP_VARIABLE: Final = "LASTCALL_GROUP"

Group = Annotated[
    str,
    typer.Option("--resource-group", "-g", envvar=GROUP_VARIABLE, help="The resource group."),
]


def _named(name: str) -> str:
    if not name:
        raise WrongUsageError("--name is empty; name the scale set, such as web.")
    return name


Name = Annotated[str, typer.Option("--name", "-n", callback=_named, help="The scale set.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the end of it.")]
ForceDeletion = Annotated[
    bool, typer.Option("--force-deletion", help="Delete at once, without notice.")
]
InstanceIds = Annotated[
    list[str] | None,
    typer.Option("--instance-ids", metavar="ID ...", help="Which instances; * means all."),
]
InstanceId = Annotated[str | None, typer.Option("--instance-id", help="Which instance.")]
Location = Annotated[str, typer.Option("--location", "-l", help="The region it pretends to be in.")]
InstanceCount = Annotated[int, typer.Option(min=0, max=1000, help="How many instances.")]
VmSku = Annotated[str | None, typer.Option("--vm-sku", help="The size of the instances.")]
Image = Annotated[
    str | None,
    typer.Option(metavar="IMAGE", help="publisher:offer:sku:version, an alias, or a resource id."),
]
NoticeMinutes = Annotated[
    str | None,
    typer.Option(
        metavar="MINUTES",
        help="Notice before a deletion, 5 to 15 minutes: 10, 10m or PT10M; turns it on.",
    ),
]
Truth = Literal["true", "false"] | None
NoticeSwitch = Annotated[
    Truth,
    typer.Option(
        metavar="true|false", case_sensitive=False, help="Notice before deletions; bare means true."
    ),
]
OnePlacementGroup = Annotated[
    Truth,
    typer.Option(
        metavar="true|false",
        case_sensitive=False,
        help="Keep to one placement group of at most 100 instances; bare means true.",
    ),
]
ScaleInProtection = Annotated[
    Truth,
    typer.Option(
        metavar="true|false",
        case_sensitive=False,
        help="Scaling in passes this instance over; bare means true.",
    ),
]
ActionsProtection = Annotated[
    Truth,
    typer.Option(
        metavar="true|false",
        case_sensitive=False,
        help="Neither scaling in nor actions on the whole set touch this instance;"
        " bare means true.",
    ),
]
UpgradeMode = Annotated[
    Literal["Automatic", "Manual", "Rolling"] | None,
    typer.Option(case_sensitive=False, help="How instances get a new model; a new set has Manual."),
]
OrchestrationMode = Annotated[
    Literal["Uniform", "Flexible"] | None,
    typer.Option(case_sensitive=False, help="How instances are named and managed."),
]
Zones = Annotated[
    list[str] | None,
    typer.Option("--zones", "-z", metavar="ZONE ...", help="Of 1, 2 and 3: 1 2, or 1,2."),
]
Priority = Annotated[
    Literal["Regular", "Spot"] | None,
    typer.Option(case_sensitive=False, help="Spot instances can be evicted."),
]
EvictionPolicy = Annotated[
    Literal["Deallocate", "Delete"] | None,
    typer.Option(case_sensitive=False, help="What an eviction does; needs --priority Spot."),
]
FaultDomains = Annotated[
    int | None, typer.Option("--platform-fault-domain-count", help="Fault domains, 1 to 5.")
]
ScaleInPolicy = Annotated[
    list[str] | None,
    typer.Option(metavar="RULE ...", help="Who goes first: Default, NewestVM or OldestVM."),
]
Tags = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE ...", help="Tags.")]


def truth(text: str | None) -> bool | None:
    """Return what a switch says, None where it says nothing."""
    return None if text is None else text == "true"
