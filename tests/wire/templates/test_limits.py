"""Every bound, and that what is beyond it is refused soon and with a sentence."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastcall.engine.errors import DomainError, InvalidTemplateError
from lastcall.engine.limits import (
    TEMPLATE_BYTES_MAX,
    TEMPLATE_DEPTH_MAX,
    TEMPLATE_OUTPUTS_MAX,
    TEMPLATE_PARAMETERS_MAX,
    TEMPLATE_RESOURCES_MAX,
    TEMPLATE_VARIABLES_MAX,
)
from lastcall.wire.templates import plan_deployment
from tests.wire.templates.builders import CONTEXT, a_plan, a_resource, a_template, value_of


def refused(sentence, *resources, **sections):
    with pytest.raises(InvalidTemplateError, match=sentence):
        a_plan(*resources, **sections)


def many(count, value):
    return {f"n{number}": value for number in range(count)}


def test_a_template_has_so_many_parameters():
    default = {"type": "int", "defaultValue": 1}
    a_plan(parameters=many(TEMPLATE_PARAMETERS_MAX, default))

    refused(
        "parameters limit exceeded. Limit: '256' and actual count: '257'",
        parameters=many(TEMPLATE_PARAMETERS_MAX + 1, default),
    )


def test_a_template_has_so_many_variables():
    a_plan(variables=many(TEMPLATE_VARIABLES_MAX, 1))

    refused("variables limit exceeded. Limit: '512'", variables=many(TEMPLATE_VARIABLES_MAX + 1, 1))


def test_a_template_has_so_many_outputs():
    output = {"type": "int", "value": 1}
    a_plan(outputs=many(TEMPLATE_OUTPUTS_MAX, output))

    refused("outputs limit exceeded. Limit: '64'", outputs=many(TEMPLATE_OUTPUTS_MAX + 1, output))


def test_a_template_has_so_many_resources_copies_included():
    copies = a_resource("[concat('n', copyIndex())]", copy={"name": "c", "count": 800})
    assert len(a_plan(copies).resources) == TEMPLATE_RESOURCES_MAX

    refused(
        "resources limit exceeded. Limit: '800' and actual count: '801'", copies, a_resource("x")
    )


def test_a_template_has_so_many_bytes():
    half = "x" * (TEMPLATE_BYTES_MAX // 2)
    a_plan(variables={"v": half})

    refused("have more than 4194304 bytes", variables={"v": half, "w": half})


def nested(depth):
    value = "leaf"
    for _ in range(depth):
        value = [value]
    return value


def test_a_template_is_so_deep():
    around = 5  # properties of a resource in a list in the template, and what the parameters add
    a_plan(a_resource(properties=nested(TEMPLATE_DEPTH_MAX - around - 1)))

    refused("is nested more than 64 levels deep", a_resource(properties=nested(TEMPLATE_DEPTH_MAX)))
    refused("is nested more than 64 levels deep", a_resource(properties=nested(100_000)))


def test_variables_that_build_up_may_be_many():
    variables = {"v0": "0"} | {
        f"v{n}": f"[add(int(variables('v{n - 1}')), 1)]" for n in range(1, TEMPLATE_VARIABLES_MAX)
    }

    assert value_of("[variables('v511')]", variables=variables) == 511


def test_variables_that_have_to_be_looked_for_are_nested_only_so_deep():
    last = TEMPLATE_VARIABLES_MAX - 1
    variables = {f"v{n}": f"[add(variables('v{n + 1}'), 1)]" for n in range(last)} | {f"v{last}": 0}

    refused(
        "refer to each other more than 120 levels deep",
        a_resource(properties={"x": "[variables('v0')]"}),
        variables=variables,
    )


def test_the_deepest_that_is_allowed_does_not_exhaust_the_stack():
    # Expressions in values in variables in expressions: the most frames for each level.
    chain = {f"v{n}": [f"[concat(variables('v{n + 1}'), createArray())]"] for n in range(60)}
    variables = chain | {"v60": []}
    frames = len(_frames())

    def planned(depth):
        if depth:
            return planned(depth - 1)
        return a_plan(a_resource(properties="[variables('v20')]"), variables=variables)

    planned(max(0, 250 - frames))


def test_what_exhausts_the_stack_all_the_same_is_refused():
    turn = "map(range(0, 1), lambda('x', variables('v{0}')))"
    variables = {f"v{n}": f"[{turn.format(n + 1)}]" for n in range(200)} | {"v200": []}

    def planned(depth):
        if depth:
            planned(depth - 1)
        else:
            a_plan(variables=variables)

    with pytest.raises(InvalidTemplateError, match="It is nested too deeply"):
        planned(sys.getrecursionlimit() - 400)


def _frames():
    frame, frames = sys._getframe(), []
    while frame:
        frames.append(frame)
        frame = frame.f_back
    return frames


@pytest.mark.parametrize(
    ("first", "more"),
    [
        ("'xxxxxxxxxx'", "[concat({0}, {0})]"),
        ("'xxxxxxxxxx'", "[replace({0}, 'x', {0})]"),
        ("'xxxxxxxxxx'", "[join(createArray({0}, {0}), {0})]"),
        ("'xxxxxxxxxx'", "[format('{{0}}{{0}}', {0})]"),
        ("'xxxxxxxxxx'", "[string(createArray({0}, {0}))]"),
        ("createArray(1)", "[concat({0}, {0})]"),
        ("createArray(1)", "[createArray({0}, {0})]"),
        ("createArray(1)", "[flatten(createArray({0}, {0}, {0}))]"),
        ("createObject('a', 1)", "[createObject('a', {0}, 'b', {0})]"),
        ("range(0, 1000)", "[map({0}, lambda('x', {0}))]"),
    ],
)
def test_what_doubles_again_and_again_is_stopped(first, more):
    variables = {"v0": f"[{first}]"} | {
        f"v{n}": more.format(f"variables('v{n - 1}')") for n in range(1, 50)
    }

    with pytest.raises(InvalidTemplateError) as told:
        value_of("[variables('v49')]", variables=variables)

    assert any(
        reason in str(told.value)
        for reason in ("makes more than it may", "The result would have", "levels deep")
    )


def test_many_arguments_do_not_get_around_it():
    arguments = ", ".join(["variables('v')"] * 1000)
    for function in ("concat", "createArray"):
        variables = {"v": "x" * 1_000_000, "w": f"[{function}({arguments})]"}
        with pytest.raises(InvalidTemplateError):
            value_of("[variables('w')]", variables=variables)


def test_copies_of_much_are_stopped():
    refused(
        "makes more than it may",
        a_resource(
            "[concat('n', copyIndex())]",
            copy={"name": "c", "count": 800},
            properties={"much": list(range(20_000))},
        ),
    )
    inner = {"copy": [{"name": "b", "count": 800, "input": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}]}
    refused(
        "makes more than it may",
        a_resource(properties={"copy": [{"name": "a", "count": 800, "input": inner}]}),
    )


def test_numbers_fit_in_64_bits():
    refused("A number does not fit in a 64-bit integer", a_resource(properties={"n": 2**64}))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
    | st.sampled_from(
        ["[parameters('p')]", "[copyIndex()]", "[variables('v')]", "[reference('r')]"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("name", "type", "apiVersion", "copy", "count", "input", "value", "p", "v"),
                    *("properties", "template", "dependsOn", "condition", "defaultValue", "r"),
                )
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
KINDS = st.sampled_from(["Microsoft.Resources/deployments", "A.B/c", "string", "int", "object"])
RESOURCE = st.fixed_dictionaries(
    {
        "type": KINDS,
        "name": st.sampled_from(["r", "s", "[parameters('p')]"]),
        "apiVersion": st.just("1"),
    },
    optional={
        "properties": JSON,
        "copy": JSON,
        "condition": JSON,
        "dependsOn": JSON,
        "resources": JSON,
    },
)


@settings(max_examples=150)
@given(
    st.lists(RESOURCE, max_size=3),
    st.fixed_dictionaries(
        {}, optional={"parameters": JSON, "variables": JSON, "outputs": JSON, "functions": JSON}
    ),
    JSON.filter(lambda value: isinstance(value, dict)) | st.just({}),
)
def test_whatever_a_template_is_it_is_planned_or_refused(resources, sections, values):
    template = a_template(*resources, **sections)
    try:
        plan = plan_deployment(template, values, CONTEXT)
        for resource in plan.resources:
            assert resource.body is not None
            resource.resolve(lambda *_, **__: {})
        plan.outputs(lambda *_, **__: {})
    except DomainError as error:
        message = str(error)
    else:
        message = "fine"
    assert message
    assert "Traceback" not in message
