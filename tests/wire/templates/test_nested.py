import pytest

from lastcall.engine.errors import InvalidTemplateDeploymentError, InvalidTemplateError
from lastcall.wire.templates import what_if
from tests.wire.templates.builders import (
    NETWORKS,
    SUBSCRIPTION,
    a_plan,
    a_resource,
    a_template,
    names,
    path,
    unknown,
)

DEPLOYMENTS = "Microsoft.Resources/deployments"


def a_deployment(template, name="inside", scope="inner", parameters=None, **members):
    properties = {
        "mode": "Incremental",
        "expressionEvaluationOptions": {"scope": scope},
        "template": template,
        "parameters": parameters or {},
        **members.pop("properties", {}),
    }
    return {
        "type": DEPLOYMENTS,
        "name": name,
        "apiVersion": "2022-09-01",
        "properties": properties,
        **members,
    }


INNER = a_template(
    a_resource("[parameters('name')]", properties={"v": "[variables('v')]"}),
    parameters={"name": {"type": "string"}},
    variables={"v": "inner"},
    outputs={"Id": {"type": "string", "value": "[reference(parameters('name')).id]"}},
)
VARIABLES = {"v": "outer"}


def test_an_inner_deployment_has_names_of_its_own():
    plan = a_plan(
        a_deployment(INNER, parameters={"name": {"value": "[concat('n', 'et')]"}}),
        variables=VARIABLES,
    )
    inner = plan.resources[0].nested(unknown)

    assert plan.resources[0].id == path(f"{DEPLOYMENTS}/inside")
    assert "template" not in plan.resources[0].body["properties"]
    assert names(inner) == ["net"]
    assert inner.resources[0].body["properties"] == {"v": "inner"}
    assert inner.outputs(lambda *_, **__: {"id": "me"}) == {"id": {"type": "String", "value": "me"}}
    assert inner.parameters() == {"name": {"type": "String", "value": "net"}}


def test_an_outer_deployment_uses_the_names_around_it():
    template = a_template(
        a_resource("[variables('v')]", properties={"d": "[deployment().name]"}),
        variables={"v": "not this"},
    )
    for scope in ("outer", "NotSpecified"):
        plan = a_plan(a_deployment(template, scope=scope), variables=VARIABLES)

        assert names(plan.resources[0].nested(unknown)) == ["outer"]


def test_an_inner_deployment_knows_its_name():
    template = a_template(a_resource(properties={"d": "[deployment().name]"}))
    inner = a_plan(a_deployment(template)).resources[0].nested(unknown)

    assert inner.resources[0].body["properties"] == {"d": "inside"}


def test_what_a_deployment_is_given_may_come_late():
    plan = a_plan(
        a_deployment(INNER, parameters={"name": {"value": "[reference('net').name]"}}),
        a_resource("net"),
    )
    deployment = plan.resources[1]

    assert names(plan) == ["net", "inside"]
    assert deployment.inner is None
    assert names(deployment.nested(lambda *_, **__: {"name": "late"})) == ["late"]
    with pytest.raises(InvalidTemplateError, match="Expected a value of type 'String'"):
        deployment.nested(lambda *_, **__: {"name": 5})
    changes = what_if(plan, {})
    assert [change["changeType"] for change in changes] == ["Create", "Unsupported"]
    assert changes[1]["unsupportedReason"].endswith("known only while deploying.")


def test_what_a_deployment_inside_refers_to_comes_before_it():
    inner = a_template(
        a_resource("b", properties={"x": f"[reference('{path(NETWORKS)}/net', '1').x]"})
    )
    outer = a_template(a_resource("c", properties={"x": "[reference('net').x]"}))
    plan = a_plan(
        a_deployment(inner), a_deployment(outer, "other", scope="outer"), a_resource("net")
    )

    assert names(plan) == ["net", "inside", "other"]
    resource = plan.resources[2].nested(unknown).resources[0]
    assert resource.resolve(lambda *_, **__: {"x": 1})["properties"] == {"x": 1}
    assert resource.depends_on == ()


def test_the_outputs_of_a_deployment_can_be_referred_to():
    plan = a_plan(
        a_deployment(INNER, parameters={"name": {"value": "net"}}),
        outputs={"o": {"type": "string", "value": "[reference('inside').outputs.id.value]"}},
    )

    def look_up(resource_id, *, full, api_version):
        assert (resource_id, api_version) == (path(f"{DEPLOYMENTS}/inside"), "2022-09-01")
        return {"outputs": {"id": {"type": "String", "value": "me"}}}

    assert plan.outputs(look_up) == {"o": {"type": "String", "value": "me"}}


def test_deployments_may_be_copied():
    plan = a_plan(
        a_deployment(
            INNER,
            "[concat('d', copyIndex())]",
            parameters={"name": {"value": "[concat('n', copyIndex())]"}},
            copy={"name": "c", "count": 2},
        )
    )
    assert [names(resource.nested(unknown)) for resource in plan.resources] == [["n0"], ["n1"]]


def test_what_is_wrong_inside_is_told_with_the_whole_path():
    with pytest.raises(InvalidTemplateError) as told:
        a_plan(a_deployment(a_template(a_resource(properties={"x": "[div(1, 0)]"}))))

    assert str(told.value).endswith(
        "Path 'resources[0].properties.template.resources[0].properties.x'."
    )


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"properties": {"templateLink": {"uri": "x"}}}, "Linked templates are not supported"),
        ({"properties": {"mode": "Complete"}}, "can only be Incremental"),
        ({"resourceGroup": "other"}, "has another 'resourceGroup'"),
        ({"subscriptionId": "[tenant().tenantId]"}, "has another 'subscriptionId'"),
    ],
)
def test_what_cannot_be_done_inside_is_refused(members, sentence):
    with pytest.raises(InvalidTemplateDeploymentError, match=sentence) as told:
        a_plan(a_deployment(a_template(), **members))

    assert str(told.value).endswith("Path 'resources[0]'.")


def test_the_same_group_may_be_named():
    plan = a_plan(
        a_deployment(a_template(), resourceGroup="MYGROUP", subscriptionId=SUBSCRIPTION.upper())
    )
    assert names(plan) == ["inside"]


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"template": None}, "A deployment has no 'template' that is an object"),
        ({"expressionEvaluationOptions": {"scope": "x"}}, "is neither inner nor outer"),
        ({"parameters": []}, "The 'parameters' of a deployment are not an object"),
    ],
)
def test_a_deployment_that_is_not_right_is_refused(properties, sentence):
    with pytest.raises(InvalidTemplateError, match=sentence):
        a_plan(a_deployment(a_template(), properties=properties))


def test_deployments_are_nested_only_so_deep():
    template = a_template()
    for _ in range(4):
        template = a_template(a_deployment(template))
    a_plan(*template["resources"])

    with pytest.raises(InvalidTemplateError, match="nested more than 5 levels deep"):
        a_plan(a_deployment(template))
