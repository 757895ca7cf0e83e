from datetime import UTC, datetime

from lastcall.wire.templates import Context, Group, plan_deployment

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
TENANT = "00000000-0000-0000-0000-0000000000aa"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/myGroup"
NETWORKS = "Microsoft.Network/virtualNetworks"
SETS = "Microsoft.Compute/virtualMachineScaleSets"
VERSIONS = {("microsoft.compute", "virtualmachinescalesets"): ["2024-07-01", "2019-03-01"]}

CONTEXT = Context(
    subscription_id=SUBSCRIPTION,
    tenant_id=TENANT,
    group=Group(id=GROUP, name="myGroup", location="westus", tags={"team": "blue"}),
    deployment_name="myDeployment",
    api_versions=lambda namespace, kind: VERSIONS.get((namespace.lower(), kind.lower()), []),
    now=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    seed="a seed",
    subscription_name="Local",
    tenant_name="Ours",
    environment={"name": "Local", "suffixes": {"storage": "core.local"}},
)


def a_template(*resources, **sections):
    return {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": list(resources),
        **sections,
    }


def a_resource(name="net", kind=NETWORKS, **members):
    return {"type": kind, "name": name, "apiVersion": "2022-01-01", "location": "westus", **members}


def a_plan(*resources, given=None, context=CONTEXT, **sections):
    values = {name: {"value": value} for name, value in (given or {}).items()}
    return plan_deployment(a_template(*resources, **sections), values, context)


def path(relative):
    return f"{GROUP}/providers/{relative}"


def names(plan):
    return [resource.name for resource in plan.resources]


def only(plan):
    (resource,) = plan.resources
    return resource


def unknown(resource_id, *, full, api_version):
    raise AssertionError(f"{resource_id} is not needed")


def value_of(expression, given=None, context=CONTEXT, **sections):
    """Return what an expression is worth in the properties of a resource."""
    resource = a_resource(properties={"value": expression})
    return only(a_plan(resource, given=given, context=context, **sections)).body["properties"][
        "value"
    ]
