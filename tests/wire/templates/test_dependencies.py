from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidTemplateError, ResourceNotFoundError
from lastcall.wire.templates.faults import ShapeError
from lastcall.wire.templates.ordering import in_order
from tests.wire.templates.builders import NETWORKS, SETS, a_plan, a_resource, names, path

ADDRESSES = "Microsoft.Network/publicIPAddresses"


@pytest.mark.parametrize(
    "spelling",
    [
        path(f"{NETWORKS}/net"),
        path(f"{NETWORKS}/net").upper(),
        f"[resourceId('{NETWORKS}', 'net')]",
        f"{NETWORKS}/net",
        "microsoft.network/VIRTUALNETWORKS/Net",
        f"[concat('{NETWORKS}/', 'net')]",
        "net",
        "NET",
    ],
)
def test_a_resource_comes_after_those_it_depends_on_however_they_are_called(spelling):
    plan = a_plan(a_resource("set", SETS, dependsOn=[spelling, spelling]), a_resource("net"))

    assert names(plan) == ["net", "set"]
    assert plan.resources[1].depends_on == (path(f"{NETWORKS}/net"),)


def test_without_dependencies_the_order_is_the_templates():
    assert names(a_plan(*map(a_resource, "cab"))) == ["c", "a", "b"]


def test_what_is_not_in_the_template_cannot_be_depended_on():
    for target in ("nobody", f"{NETWORKS}/nobody", path(f"{NETWORKS}/nobody")):
        with pytest.raises(InvalidTemplateError, match="is not defined in the template") as told:
            a_plan(a_resource(dependsOn=[target]))
        assert str(told.value).endswith("Path 'resources[0].dependsOn'.")


def test_a_name_that_two_resources_have_is_ambiguous():
    with pytest.raises(
        InvalidTemplateError, match="The name 'x' is ambiguous: 2 resources have it"
    ):
        a_plan(a_resource("x"), a_resource("x", ADDRESSES), a_resource("y", dependsOn=["x"]))


def test_a_resource_may_be_defined_only_once():
    with pytest.raises(
        InvalidTemplateError,
        match=r"The resource 'Microsoft.Network/virtualNetworks/NET' is defined multiple times",
    ):
        a_plan(a_resource("net"), a_resource("NET"))


@pytest.mark.parametrize(
    ("resources", "circle"),
    [
        ([a_resource("a", dependsOn=["a"])], "a -> a"),
        ([a_resource("a", dependsOn=["b"]), a_resource("b", dependsOn=["a"])], "a -> b -> a"),
        (
            [
                a_resource("z", dependsOn=["a"]),
                a_resource("a", dependsOn=["b"]),
                a_resource("b", dependsOn=["c"]),
                a_resource("c", properties={"x": "[reference('a').x]"}),
            ],
            "a -> b -> c -> a",
        ),
        ([a_resource("a", properties={"x": "[reference('a').x]"})], "a -> a"),
    ],
)
def test_a_circle_is_told(resources, circle):
    with pytest.raises(InvalidTemplateError) as told:
        a_plan(*resources)

    steps = " -> ".join(f"{NETWORKS}/{step}".lower() for step in circle.split(" -> "))
    assert f"Circular dependency detected: '{steps}'" in str(told.value)


def test_a_reference_is_a_dependency():
    plan = a_plan(
        a_resource(
            "set", SETS, properties={"a": f"[reference(resourceId('{ADDRESSES}', 'ip')).x]"}
        ),
        a_resource(
            "late", properties={"copy": [{"name": "x", "count": 1, "input": "[reference('set')]"}]}
        ),
        a_resource("ip", ADDRESSES),
    )

    assert names(plan) == ["ip", "set", "late"]
    assert plan.resources[1].depends_on == (path(f"{ADDRESSES}/ip"),)
    assert plan.referred == (path(f"{ADDRESSES}/ip"), path(f"{SETS}/set"))


def test_every_reference_of_an_expression_counts():
    plan = a_plan(
        a_resource(
            "z",
            properties={
                "x": "[concat(reference('a').x, if(reference('b').x, reference('c').x,"
                " reference('d').x))]",
                "y": "[if(true(), 1, reference('e'))]",
            },
        ),
        *map(a_resource, "abcde"),
    )

    assert [target[-1] for target in plan.resources[-2].depends_on] == ["a", "b", "c", "d"]
    assert plan.resources[-2].name == "z"


def test_a_choice_that_is_still_open_may_lead_to_what_does_not_hold():
    plan = a_plan(
        a_resource("a"),
        a_resource("b", properties={"x": "[if(reference('a').ok, div(1, 0), 2)]"}),
    )

    assert plan.resources[1].resolve(lambda *_, **__: {"ok": False})["properties"] == {"x": 2}
    with pytest.raises(InvalidTemplateError, match="The divisor of 'div' is zero"):
        plan.resources[1].resolve(lambda *_, **__: {"ok": True})


def test_a_reference_inside_a_resource_waits_for_that():
    subnet = f"resourceId('{NETWORKS}/subnets', 'net', 's')"
    plan = a_plan(
        a_resource("a", SETS, properties={"x": f"[reference({subnet}, '2022-01-01').y]"}),
        a_resource("net"),
    )

    assert names(plan) == ["net", "a"]


def test_a_resource_may_refer_to_what_is_inside_it():
    subnet = f"resourceId('{NETWORKS}/subnets', 'net', 's')"
    plan = a_plan(a_resource("net", properties={"x": f"[reference({subnet}, '2022-01-01').y]"}))

    assert plan.resources[0].depends_on == ()


def look_up_in(states, log=None):
    def look_up(resource_id, *, full, api_version):
        if log is not None:
            log.append((resource_id, full, api_version))
        return states.get(resource_id)

    return look_up


def test_a_reference_is_resolved_while_deploying():
    address = path(f"{ADDRESSES}/ip")
    plan = a_plan(
        a_resource("ip", ADDRESSES),
        a_resource(
            "set",
            SETS,
            properties={
                "name": "[concat('ip-', reference('ip').address)]",
                "whole": "[reference('ip', '2024-01-01', 'full').properties.address]",
                "object": "[reference('ip')]",
                "copy": [
                    {"name": "l", "count": 2, "input": "[reference('ip').list[copyIndex('l')]]"}
                ],
            },
        ),
    )
    resource = plan.resources[1]
    log = []
    states = {address: {"address": "1.2.3.4", "list": [7, 8], "properties": {"address": "5"}}}
    body = resource.resolve(look_up_in(states, log))

    assert resource.body["properties"]["name"] == "[concat('ip-', reference('ip').address)]"
    assert body["properties"]["name"] == "ip-1.2.3.4"
    assert body["properties"]["whole"] == "5"
    assert body["properties"]["l"] == [7, 8]
    assert log[:2] == [(address, False, "2022-01-01"), (address, True, "2024-01-01")]
    body["properties"]["object"]["list"].append(9)
    assert states[address]["list"] == [7, 8]


def test_lambdas_may_refer_to_resources():
    var = "lambdaVariables"
    state = "reference(lambdaVariables('n'))"
    both = "createArray('a', 'b')"
    plan = a_plan(
        a_resource(
            "z",
            properties={
                "all": f"[map({both}, lambda('n', {state}.v))]",
                "some": f"[filter({both}, lambda('n', greater({state}.v, 1)))]",
                "sum": f"[reduce({both}, 0, lambda('s', 'n', add({var}('s'), {state}.v)))]",
                "sorted": f"[sort({both}, lambda('m', 'n', less({state}.v, 2)))]",
                "keyed": f"[toObject({both}, lambda('n', string({state}.v)))]",
                "listed": "[map(reference('a').list, lambda('x', add(lambdaVariables('x'), 1)))]",
                "named": f"[toObject({both}, lambda('n', {var}('n')), lambda('n', {state}.v))]",
            },
        ),
        a_resource("a"),
        a_resource("b"),
    )
    states = {
        path(f"{NETWORKS}/a"): {"v": 1, "list": [1, 2]},
        path(f"{NETWORKS}/b"): {"v": 2},
    }

    assert names(plan) == ["a", "b", "z"]
    assert plan.resources[2].resolve(look_up_in(states))["properties"] == {
        "all": [1, 2],
        "some": ["b"],
        "sum": 3,
        "sorted": ["b", "a"],
        "keyed": {"1": "a", "2": "b"},
        "listed": [2, 3],
        "named": {"a": 1, "b": 2},
    }


def test_what_a_runtime_cannot_find_is_told_with_the_resource():
    plan = a_plan(a_resource("a"), a_resource("b", properties={"x": ["[reference('a').y]"]}))
    resource = plan.resources[1]

    with pytest.raises(InvalidTemplateError) as told:
        resource.resolve(look_up_in({}))
    assert str(told.value) == (
        f"Unable to process template language expressions for resource '{resource.id}': 'The"
        f" resource '{path(NETWORKS)}/a' could not be found.'. Path 'properties.x[0]'."
    )

    with pytest.raises(InvalidTemplateError, match=r"property 'y' doesn't exist, available .* 'z'"):
        resource.resolve(look_up_in({path(f"{NETWORKS}/a"): {"z": 1}}))


def test_a_refusal_of_the_runtime_is_passed_on():
    plan = a_plan(a_resource("a"), a_resource("b", properties={"x": "[reference('a').y]"}))

    def look_up(resource_id, *, full, api_version):
        raise ResourceNotFoundError(f"{resource_id} is gone.")

    with pytest.raises(ResourceNotFoundError, match="is gone"):
        plan.resources[1].resolve(look_up)


def test_references_that_cannot_hold_are_refused_before_deployment():
    missing = path(f"{NETWORKS}/elsewhere")
    for reference, sentence in (
        ("reference('nobody')", "The resource 'nobody' is not defined in the template."),
        (f"reference('{missing}')", "which the template does not define, requires an API version."),
        ("reference('out')", "is not deployed, as its condition is false"),
        ("reference('many')", "is ambiguous: 2 resources are called so"),
    ):
        with pytest.raises(InvalidTemplateError) as told:
            a_plan(
                a_resource("a", properties={"x": f"[{reference}.y]"}),
                a_resource("out", condition=False),
                a_resource("[concat('n', copyIndex())]", copy={"name": "many", "count": 2}),
            )
        assert sentence in str(told.value)
        assert "Path 'resources[0].properties.x'." in str(told.value)


def test_with_an_api_version_what_exists_already_can_be_referred_to():
    elsewhere = path(f"{NETWORKS}/elsewhere")
    plan = a_plan(
        a_resource("out", condition=False),
        a_resource(
            "a",
            properties={
                "x": f"[reference('{elsewhere}', '2022-01-01').v]",
                "y": "[reference('out', '2022-01-01').v]",
            },
        ),
    )
    states = {elsewhere: {"v": 1}, path(f"{NETWORKS}/out"): {"v": 2}}

    assert plan.resources[0].depends_on == ()
    assert plan.resources[0].resolve(look_up_in(states))["properties"] == {"x": 1, "y": 2}


GRAPHS = st.integers(1, 12).flatmap(
    lambda size: st.fixed_dictionaries(
        {str(n): st.lists(st.integers(0, size - 1).map(str), max_size=3) for n in range(size)}
    )
)


@given(GRAPHS)
def test_every_order_respects_the_dependencies_or_there_is_a_circle(graph):
    try:
        order = in_order(graph)
    except ShapeError as error:
        steps = str(error).split("'")[1].split(" -> ")
        assert steps[0] == steps[-1]
        assert all(after in graph[before] for before, after in pairwise(steps))
        return
    assert sorted(order) == sorted(graph)
    assert all(order.index(needed) < order.index(key) for key in graph for needed in graph[key])
