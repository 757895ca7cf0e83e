import pytest

from lastcall.engine.errors import InvalidTemplateDeploymentError, InvalidTemplateError
from lastcall.wire.templates import plan_deployment
from tests.wire.templates.builders import (
    CONTEXT,
    NETWORKS,
    SETS,
    a_plan,
    a_resource,
    a_template,
    names,
    only,
    path,
    unknown,
)


def test_a_resource_has_an_id_and_an_evaluated_body():
    resource = only(
        a_plan(
            a_resource(
                "[concat('n', 'et')]",
                location="[resourceGroup().location]",
                tags={"[toLower('A')]": "[resourceGroup().name]"},
                comments="none of it",
                metadata={"description": "nor this"},
                properties={"list": ["[add(1, 2)]", None], "copy": "a property"},
                sku={"name": "Standard"},
            )
        )
    )

    assert resource.id == path(f"{NETWORKS}/net")
    assert (resource.type, resource.name, resource.api_version) == (NETWORKS, "net", "2022-01-01")
    assert resource.location == "westus"
    assert resource.depends_on == ()
    assert resource.body == resource.resolve(unknown)
    assert resource.body == {
        "location": "westus",
        "tags": {"a": "myGroup"},
        "properties": {"list": [3, None], "copy": "a property"},
        "sku": {"name": "Standard"},
    }


def test_what_a_plan_gives_away_is_not_shared():
    resource = only(a_plan(a_resource(properties="[variables('v')]"), variables={"v": {"a": []}}))
    resource.body["properties"]["a"].append(1)
    resource.resolve(unknown)["properties"]["a"].append(1)

    assert resource.body["properties"] == {"a": []}


def test_resources_without_a_location_have_none():
    template = a_template({"type": NETWORKS, "name": "n", "apiVersion": "1", "properties": {}})
    resource = only(plan_deployment(template, {}, CONTEXT))

    assert resource.location is None
    assert resource.body == {"properties": {}}


def test_children_stand_in_their_parents_or_beside_them():
    plan = a_plan(
        a_resource("lb/rule", "Microsoft.Network/loadBalancers/inboundNatRules"),
        a_resource(
            "lb",
            "Microsoft.Network/loadBalancers",
            resources=[
                {
                    "type": "probes",
                    "name": "p",
                    "apiVersion": "1",
                    "resources": [{"type": "parts", "name": "q", "apiVersion": "1"}],
                }
            ],
        ),
    )
    lb = path("Microsoft.Network/loadBalancers/lb")

    assert [(resource.id, resource.depends_on) for resource in plan.resources] == [
        (lb, ()),
        (f"{lb}/inboundNatRules/rule", (lb,)),
        (f"{lb}/probes/p", (lb,)),
        (f"{lb}/probes/p/parts/q", (f"{lb}/probes/p", lb)),
    ]
    assert plan.resources[3].type == "Microsoft.Network/loadBalancers/probes/parts"
    assert plan.resources[3].name == "lb/p/q"


def test_a_resource_may_extend_another():
    plan = a_plan(
        a_resource(
            "vm/Microsoft.Authorization/a1",
            "Microsoft.Compute/virtualMachines/providers/roleAssignments",
        ),
        a_resource("vm", "Microsoft.Compute/virtualMachines"),
    )
    machine = path("Microsoft.Compute/virtualMachines/vm")

    assert plan.resources[1].id == f"{machine}/providers/Microsoft.Authorization/roleAssignments/a1"
    assert plan.resources[1].depends_on == (machine,)


def test_a_condition_leaves_a_resource_out():
    plan = a_plan(
        a_resource("a", condition="[equals(1, 2)]"),
        a_resource("b", condition=True, dependsOn=["a"]),
    )

    assert names(plan) == ["b"]
    assert plan.resources[0].depends_on == ()


def test_of_two_definitions_the_one_whose_condition_holds_counts():
    plan = a_plan(
        a_resource("a", condition=False, properties={"n": 1}),
        a_resource("a", condition=True, properties={"n": 2}),
        a_resource("b", properties={"n": "[reference('a').n]"}),
    )

    assert names(plan) == ["a", "b"]
    assert plan.resources[0].body["properties"] == {"n": 2}


def test_a_loop_makes_copies():
    plan = a_plan(
        a_resource(
            "[concat('net', copyIndex(1))]",
            copy={"name": "nets", "count": "[add(1, 2)]"},
            properties={"n": "[copyIndex('NETS', 10)]"},
        ),
        a_resource("last", dependsOn=["nets"]),
    )

    assert names(plan) == ["net1", "net2", "net3", "last"]
    assert [resource.body["properties"]["n"] for resource in plan.resources[:3]] == [10, 11, 12]
    assert plan.resources[3].depends_on == tuple(path(f"{NETWORKS}/net{n}") for n in (1, 2, 3))
    assert "copy" not in plan.resources[0].body


def test_a_loop_may_have_no_turns():
    plan = a_plan(
        a_resource("[concat('n', copyIndex())]", copy={"name": "nets", "count": 0}), a_resource("b")
    )
    assert names(plan) == ["b"]


def test_serial_copies_wait_for_the_batch_before():
    plan = a_plan(
        a_resource(
            "[concat('n', copyIndex())]",
            copy={"name": "nets", "count": 5, "mode": "Serial", "batchSize": 2},
        )
    )
    waits = {
        resource.name: [target[-2:] for target in resource.depends_on]
        for resource in plan.resources
    }

    assert waits == {"n0": [], "n1": [], "n2": ["n0", "n1"], "n3": ["n0", "n1"], "n4": ["n2", "n3"]}


def test_copies_may_have_children():
    plan = a_plan(
        a_resource(
            "[concat('n', copyIndex())]",
            copy={"name": "nets", "count": 2},
            resources=[
                {"type": "subnets", "name": "[concat('s', copyIndex())]", "apiVersion": "1"}
            ],
        )
    )
    assert names(plan) == ["n0", "n0/s0", "n1", "n1/s1"]


def test_a_loop_over_properties_makes_an_array():
    resource = only(
        a_plan(
            a_resource(
                properties={
                    "copy": [
                        {"name": "disks", "count": 2, "input": {"lun": "[copyIndex('disks')]"}},
                        {
                            "name": "rows",
                            "count": 2,
                            "input": {
                                "copy": [
                                    {
                                        "name": "cells",
                                        "count": 2,
                                        "input": "[add(copyIndex('rows', 10), copyIndex('cells'))]",
                                    }
                                ]
                            },
                        },
                    ],
                    "kept": True,
                }
            )
        )
    )

    assert resource.body["properties"] == {
        "disks": [{"lun": 0}, {"lun": 1}],
        "rows": [{"cells": [10, 11]}, {"cells": [11, 12]}],
        "kept": True,
    }


def test_a_loop_over_properties_knows_the_loop_of_its_resource():
    plan = a_plan(
        a_resource(
            "[concat('n', copyIndex())]",
            copy={"name": "nets", "count": 2},
            properties={
                "copy": [
                    {"name": "x", "count": 2, "input": "[concat(copyIndex(), copyIndex('x'))]"}
                ]
            },
        )
    )
    assert [r.body["properties"]["x"] for r in plan.resources] == [["00", "01"], ["10", "11"]]


def test_resources_may_have_symbols():
    template = a_template(languageVersion="2.0") | {
        "resources": {
            "second": a_resource("b", dependsOn=["first", "many"]),
            "first": a_resource("a"),
            "many": a_resource("[concat('m', copyIndex())]", copy={"name": "loop", "count": 2}),
            "old": {"existing": True, "type": SETS, "name": "old", "apiVersion": "2024-07-01"},
            "third": a_resource(
                "c", properties={"x": "[reference('old').x]", "y": "[reference('many[1]').y]"}
            ),
        }
    }
    plan = plan_deployment(template, {}, CONTEXT)
    seen = []

    def look_up(resource_id, *, full, api_version):
        seen.append((resource_id, full, api_version))
        return {"x": 1, "y": 2}

    assert names(plan) == ["a", "m0", "m1", "b", "c"]
    assert plan.resources[-1].resolve(look_up)["properties"] == {"x": 1, "y": 2}
    assert seen == [
        (path(f"{SETS}/old"), False, "2024-07-01"),
        (path(f"{NETWORKS}/m1"), False, "2022-01-01"),
    ]
    assert plan.resources[-1].depends_on == (path(f"{NETWORKS}/m1"),)


BAD = {
    "The resource has no 'name' that is a string": a_resource(""),
    "The resource has no 'type' that is a string": a_resource(kind=None),
    "The resource has no 'apiVersion' that is a string": a_resource(apiVersion=5),
    "The location of the resource 'net' is not a string": a_resource(location=5),
    f"The template resource 'a/b' for type '{NETWORKS}' has incorrect": a_resource("a/b"),
    "The template resource 'net' for type 'networks' has incorrect segment": a_resource(
        kind="networks"
    ),
    "The condition of the resource is of type 'String'": a_resource(condition="yes"),
    "'dependsOn' is not an array of strings": a_resource(dependsOn="x"),
    "The copy loop of a resource is of type 'Array', not 'Object'": a_resource(copy=[]),
    "The 'name' of a copy loop is a string that is not empty": a_resource(copy={"count": 2}),
    "The 'count' of a copy loop is of type 'Null', not 'Integer'": a_resource(copy={"name": "c"}),
    "The 'count' of a copy loop is -1, not between 0 and 800": a_resource(
        copy={"name": "c", "count": -1}
    ),
    "The 'count' of a copy loop is 801, not between 0 and 800": a_resource(
        copy={"name": "c", "count": 801}
    ),
    "The 'mode' of a copy loop is neither 'parallel' nor 'serial'": a_resource(
        copy={"name": "c", "count": 1, "mode": "quick"}
    ),
    "The 'batchSize' of a copy loop is not a number from 1": a_resource(
        copy={"name": "c", "count": 1, "batchSize": 0}
    ),
    "A resource is of type 'String', not 'Object'": "resource",
    "The 'resources' of a resource are not an array": a_resource(resources={}),
    "is defined multiple times in a template": a_resource(copy={"name": "c", "count": 2}),
}


@pytest.mark.parametrize(("sentence", "resource"), BAD.items())
def test_a_resource_that_is_not_right_is_refused(sentence, resource):
    with pytest.raises(InvalidTemplateError) as told:
        a_plan(resource)

    message = str(told.value)
    assert sentence in message
    assert message.endswith("Path 'resources[0]'.")


@pytest.mark.parametrize(
    "name", ["name", "type", "apiVersion", "location", "condition", "dependsOn"]
)
def test_what_decides_about_a_resource_cannot_wait_for_others(name):
    value = ["[reference('x')]"] if name == "dependsOn" else "[reference('x')]"

    with pytest.raises(InvalidTemplateError, match="'reference' is not expected at this") as told:
        a_plan({**a_resource(), name: value})

    assert f"Path 'resources[0].{name}" in str(told.value)


def test_a_resource_inside_another_cannot_be_copied():
    child = {"type": "subnets", "name": "s", "apiVersion": "1", "copy": {"name": "c", "count": 2}}

    with pytest.raises(InvalidTemplateError, match="can't have a copy loop") as told:
        a_plan(a_resource(resources=[child]))

    assert "Path 'resources[0].resources[0]'" in str(told.value)


def test_other_scopes_are_refused():
    with pytest.raises(InvalidTemplateDeploymentError, match="The resource has a 'scope'"):
        a_plan(a_resource(scope="/"))

    for schema in ("subscription", "managementGroup", "tenant"):
        template = a_template() | {"$schema": f"https://x/{schema}DeploymentTemplate.json#"}
        with pytest.raises(InvalidTemplateDeploymentError, match="only deployments to a resource"):
            plan_deployment(template, {}, CONTEXT)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"extra": 1}, "Could not find member 'extra' on object of type 'Template'"),
        ({"$schema": None}, "Required property '\\$schema' not found"),
        ({"contentVersion": None}, "Required property 'contentVersion' not found"),
        ({"resources": None}, "Required property 'resources' not found"),
        ({"resources": 5}, "'resources' is neither an array nor an object"),
        ({"variables": []}, "'variables' is of type 'Array', not 'Object'"),
        ({"parameters": 5}, "'parameters' is of type 'Integer', not 'Object'"),
        ({"outputs": ""}, "'outputs' is of type 'String', not 'Object'"),
    ],
)
def test_what_is_no_template_is_refused(change, sentence):
    with pytest.raises(InvalidTemplateError, match=sentence):
        plan_deployment(a_template() | change, {}, CONTEXT)


def test_an_empty_template_plans_nothing():
    plan = a_plan()

    assert plan.resources == ()
    assert plan.outputs(unknown) == {}
    assert plan.parameters() == {}
