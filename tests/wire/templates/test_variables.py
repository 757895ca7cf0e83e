import pytest

from lastcall.engine.errors import InvalidTemplateError
from tests.wire.templates.builders import a_plan, value_of

VALUE = "[variables('v')]"


def test_variables_may_use_each_other_in_whatever_order():
    variables = {"v": "[concat(variables('w'), '!')]", "w": "[toUpper(variables('X'))]", "x": "a"}

    assert value_of(VALUE, variables=variables) == "A!"


def test_a_variable_can_be_any_value():
    variables = {"v": {"a": ["[add(1, 1)]", None, True], "[concat('k', 'ey')]": "[[literal]"}}

    assert value_of(VALUE, variables=variables) == {"a": [2, None, True], "key": "[literal]"}


def test_loops_make_arrays_of_variables():
    variables = {
        "copy": [{"name": "v", "count": 3, "input": "[concat('disk', copyIndex('v', 1))]"}],
        "w": {"copy": [{"name": "lun", "count": 2, "input": {"id": "[copyIndex('lun')]"}}], "x": 1},
    }

    assert value_of(VALUE, variables=variables) == ["disk1", "disk2", "disk3"]
    assert value_of("[variables('w')]", variables=variables) == {
        "lun": [{"id": 0}, {"id": 1}],
        "x": 1,
    }


def test_a_variable_called_copy_is_just_a_variable():
    assert value_of("[variables('copy')]", variables={"copy": "that"}) == "that"


def test_a_variable_in_terms_of_itself_is_refused():
    with pytest.raises(InvalidTemplateError, match="'v' is defined in terms of itself"):
        value_of(VALUE, variables={"v": "[variables('w')]", "w": "[variables('v')]"})


def test_what_is_wrong_is_told_where_it_is_written():
    with pytest.raises(InvalidTemplateError) as told:
        value_of(VALUE, variables={"v": {"a": [1, "[div(1, 0)]"]}})

    assert str(told.value) == (
        "Deployment template language expression evaluation failed: 'The divisor of 'div' is"
        " zero.'. Path 'variables.v.a[1]'."
    )


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"copy": [{"name": "v", "count": 1, "input": ["[div(1, 0)]"]}]}, "copy[0].input[0]"),
        ({"copy": [{"name": "v", "count": "[div(1, 0)]", "input": 1}]}, "copy[0].count"),
        ({"v": {"[div(1, 0)]": 1}}, "v[div(1, 0)]"),
    ],
)
def test_what_is_wrong_in_loops_and_names_is_told_where_it_is_written(variables, where):
    with pytest.raises(InvalidTemplateError) as told:
        value_of(VALUE, variables=variables)

    assert str(told.value).endswith(f"Path 'variables.{where}'.")


def test_the_name_of_a_property_is_a_string():
    with pytest.raises(InvalidTemplateError, match="The name of a property is not a string"):
        value_of(VALUE, variables={"v": {"[add(1, 1)]": 1}})


def test_a_variable_that_nobody_uses_may_be_wrong():
    assert a_plan(variables={"v": "[div(1, 0)]"}).resources == ()


def test_a_variable_cannot_refer_to_resources():
    with pytest.raises(InvalidTemplateError, match="'reference' is not expected at this location"):
        value_of(VALUE, variables={"v": "[reference('x')]"})


def test_names_differ_by_more_than_case():
    with pytest.raises(InvalidTemplateError, match="The name 'V' is used twice"):
        a_plan(variables={"v": 1, "V": 2})


def test_functions_of_the_template():
    functions = [
        {
            "namespace": "contoso",
            "members": {
                "hello": {
                    "parameters": [{"name": "who", "type": "string"}],
                    "output": {"type": "string", "value": "[concat('hello ', parameters('who'))]"},
                },
                "wrong": {"output": {"type": "int", "value": "text"}},
                "nosy": {"output": {"type": "int", "value": "[parameters('size')]"}},
            },
        }
    ]
    parameters = {"size": {"type": "int", "defaultValue": 1}}

    def worth(expression):
        return value_of(f"[{expression}]", functions=functions, parameters=parameters)

    assert worth("Contoso.Hello('you')") == "hello you"
    for expression, sentence in (
        ("contoso.hello()", "function requires 1 argument"),
        ("contoso.hello(1)", "argument 1 is of type 'Integer', expected is 'String'"),
        ("contoso.wrong()", "returns a value of type 'String', not 'Int'"),
        ("contoso.nosy()", "The template parameter 'size' is not found"),
        ("other.hello('you')", "The template function 'other.hello' is not valid"),
    ):
        with pytest.raises(InvalidTemplateError, match=sentence):
            worth(expression)


@pytest.mark.parametrize(
    "functions",
    [
        "x",
        ["x"],
        [{}],
        [{"namespace": "n", "members": {"f": 1}}],
        [{"namespace": "n", "members": 1}],
        [{"namespace": "n", "members": {"f": {"parameters": 1}}}],
        [{"namespace": "n", "members": {"f": {"output": {"type": "x"}}}}],
    ],
)
def test_functions_that_are_not_defined_right_are_refused(functions):
    with pytest.raises(InvalidTemplateError, match="Path 'functions"):
        a_plan(functions=functions)
