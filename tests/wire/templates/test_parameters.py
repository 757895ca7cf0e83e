import re

import msgspec
import pytest

from lastcall.engine.errors import InvalidTemplateDeploymentError, InvalidTemplateError
from lastcall.wire.templates import plan_deployment
from tests.wire.templates.builders import CONTEXT, a_plan, a_template, value_of

VALUE = "[parameters('p')]"


def given_to(definition, *values):
    """Return what a parameter is worth, given nothing or one value."""
    given = dict(zip(["p"], values, strict=False))
    return value_of(VALUE, given, parameters={"p": definition})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", "text"),
        ("String", ""),
        ("securestring", "secret"),
        ("int", -3),
        ("bool", False),
        ("object", {"a": [1]}),
        ("secureObject", {}),
        ("array", []),
    ],
)
def test_a_parameter_has_the_value_that_is_given(kind, value):
    assert given_to({"type": kind}, value) == value


def test_what_is_given_is_not_evaluated():
    assert given_to({"type": "string"}, "[concat('a')]") == "[concat('a')]"


def test_a_default_value_is_evaluated_and_may_ask_for_other_parameters():
    parameters = {
        "p": {
            "type": "string",
            "defaultValue": "[concat(parameters('q'), '-', resourceGroup().name)]",
        },
        "q": {"type": "string", "defaultValue": "web"},
    }
    assert value_of(VALUE, parameters=parameters) == "web-myGroup"
    assert value_of(VALUE, {"Q": "db"}, parameters=parameters) == "db-myGroup"


def test_null_is_as_good_as_nothing():
    assert given_to({"type": "string", "defaultValue": "d"}, None) == "d"
    assert given_to({"type": "string", "nullable": True}, None) is None
    assert given_to({"type": "string", "nullable": True}) is None


def test_time_and_chance_are_for_default_values():
    parameters = {
        "p": {"type": "string", "defaultValue": "[utcNow()]"},
        "q": {"type": "string", "defaultValue": "[utcNow('yyyy-MM-dd')]"},
        "r": {"type": "string", "defaultValue": "[newGuid()]"},
        "s": {"type": "string", "defaultValue": "[newGuid()]"},
        "t": {"type": "string", "defaultValue": "[utcNow('u')]"},
    }
    values = a_plan(parameters=parameters).parameters()
    again = a_plan(parameters=parameters).parameters()
    other = msgspec.structs.replace(CONTEXT, seed="another seed")

    assert values["p"]["value"] == "20260203T040506Z"
    assert values["q"]["value"] == "2026-02-03"
    assert values["t"]["value"] == "2026-02-03 04:05:06Z"
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", values["r"]["value"])
    assert values["r"] != values["s"]
    assert values == again
    assert a_plan(parameters=parameters, context=other).parameters()["r"] != values["r"]


def test_a_plan_shows_its_parameters_without_secrets():
    parameters = {
        "Name": {"type": "string"},
        "key": {"type": "secureString"},
        "size": {"type": "int", "defaultValue": 2},
    }
    plan = a_plan(parameters=parameters, given={"name": "n", "key": "hidden"})

    assert plan.parameters() == {
        "Name": {"type": "String", "value": "n"},
        "key": {"type": "SecureString"},
        "size": {"type": "Int", "value": 2},
    }


@pytest.mark.parametrize(
    ("definition", "values", "sentence"),
    [
        ({"type": "string"}, [], "The value for the template parameter 'p' is not provided'."),
        ({"type": "string"}, [None], "The value for the template parameter 'p' is not provided'."),
        (
            {"type": "string"},
            [5],
            "Expected a value of type 'String', but received a value of type 'Integer'",
        ),
        (
            {"type": "int"},
            ["5"],
            "Expected a value of type 'Integer', but received a value of type 'String'",
        ),
        ({"type": "int"}, [True], "but received a value of type 'Boolean'"),
        ({"type": "int"}, [1.5], "but received a value of type 'Float'"),
        ({"type": "bool"}, ["true"], "Expected a value of type 'Boolean'"),
        ({"type": "object"}, [[]], "Expected a value of type 'Object'"),
        ({"type": "array"}, [{}], "Expected a value of type 'Array'"),
        ({"type": "string", "defaultValue": 5}, [], "Expected a value of type 'String'"),
        (
            {"type": "string", "allowedValues": ["a", "b"]},
            ["c"],
            "The value 'c' is not part of the allowed value(s): 'a,b'",
        ),
        (
            {"type": "array", "allowedValues": ["a", "b"]},
            [["a", "c"]],
            "is not part of the allowed value(s)",
        ),
        ({"type": "string", "allowedValues": "a"}, ["a"], "'allowedValues' is not an array"),
        ({"type": "int", "minValue": 2}, [1], "The value is less than the minimum of 2"),
        ({"type": "int", "maxValue": 2}, [3], "The value is more than the maximum of 2"),
        (
            {"type": "string", "minLength": 2},
            ["a"],
            "The length of the value is less than the minimum of 2",
        ),
        (
            {"type": "array", "maxLength": 1},
            [[1, 2]],
            "The length of the value is more than the maximum of 1",
        ),
        ({"type": "int", "maxValue": "2"}, [3], "'maxValue' is of type 'String', not 'Integer'"),
        ({"type": "text"}, ["a"], "The type 'text' is not one of String, SecureString, Int, Bool"),
        ({}, ["a"], "The type '' is not one of"),
        ("string", ["a"], "It is of type 'String', not 'Object'"),
    ],
)
def test_a_parameter_that_is_not_right_is_refused(definition, values, sentence):
    with pytest.raises(InvalidTemplateError) as told:
        given_to(definition, *values)

    message = str(told.value)
    assert message.startswith("Deployment template validation failed: '")
    assert sentence in message
    assert message.endswith("Path 'parameters.p'.")


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ({"type": "string", "allowedValues": ["Standard"]}, "standard"),
        ({"type": "array", "allowedValues": ["a", "b"]}, ["b"]),
        ({"type": "int", "minValue": 1, "maxValue": 3}, 3),
        ({"type": "string", "minLength": 1, "maxLength": 3}, "abc"),
    ],
)
def test_a_parameter_within_its_bounds_is_taken(definition, value):
    assert given_to(definition, value) == value


def test_no_refusal_tells_a_secret():
    for definition in (
        {"type": "securestring", "allowedValues": ["a"]},
        {"type": "securestring", "maxLength": 3},
    ):
        with pytest.raises(InvalidTemplateError) as told:
            given_to(definition, "hunter2")
        assert "hunter2" not in str(told.value)


def test_parameters_that_the_template_does_not_have_are_refused():
    with pytest.raises(
        InvalidTemplateError,
        match=r"do not correspond to any parameters defined in the template: 'x'. The parameters"
        " defined in the template are: 'p'",
    ):
        a_plan(given={"x": 1}, parameters={"p": {"type": "int", "defaultValue": 1}})


def test_parameters_are_given_as_objects_with_a_value():
    with pytest.raises(InvalidTemplateError, match="'p' is not given as an object with the member"):
        plan_deployment(a_template(parameters={"p": {"type": "int"}}), {"p": 1}, CONTEXT)


def test_a_secret_in_a_key_vault_is_refused():
    with pytest.raises(InvalidTemplateDeploymentError, match="'p' refers to a key vault"):
        plan_deployment(
            a_template(parameters={"p": {"type": "securestring"}}),
            {"p": {"reference": {}}},
            CONTEXT,
        )


@pytest.mark.parametrize(
    "parameters",
    [
        {"p": {"type": "string", "defaultValue": "[parameters('p')]"}},
        {
            "p": {"type": "string", "defaultValue": "[parameters('q')]"},
            "q": {"type": "string", "defaultValue": "[parameters('P')]"},
        },
    ],
)
def test_a_parameter_in_terms_of_itself_is_refused(parameters):
    with pytest.raises(InvalidTemplateError, match="is defined in terms of itself"):
        a_plan(parameters=parameters)


def test_a_default_value_cannot_ask_for_variables_or_resources():
    for expression, sentence in (
        ("[variables('v')]", "The template variable 'v' is not found"),
        ("[reference('r')]", "'reference' is not expected at this location"),
    ):
        with pytest.raises(InvalidTemplateError, match=sentence) as told:
            a_plan(
                parameters={"p": {"type": "string", "defaultValue": expression}},
                variables={"v": "x"},
            )
        assert str(told.value).endswith("Path 'parameters.p.defaultValue'.")
