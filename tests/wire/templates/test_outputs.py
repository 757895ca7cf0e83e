import pytest

from lastcall.engine.errors import InvalidTemplateError
from lastcall.wire.templates.outputs import camel_case
from tests.wire.templates.builders import NETWORKS, SETS, a_plan, a_resource, path, unknown


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("VMSS", "vmss"),
        ("myOutput", "myOutput"),
        ("MyOutput", "myOutput"),
        ("URLValue", "urlValue"),
        ("URL", "url"),
        ("ID", "id"),
        ("I", "i"),
        ("IDs", "iDs"),
        ("vmss", "vmss"),
        ("VM1", "vM1"),
        ("A_B", "a_B"),
        ("AB CD", "ab CD"),
        ("_X", "_X"),
        ("", ""),
    ],
)
def test_names_are_written_as_azures_serializer_does(given, written):
    assert camel_case(given) == written


def test_outputs_have_types_and_values():
    outputs = {
        "VMSS": {"type": "object", "value": {"a": "[add(1, 1)]"}},
        "text": {"type": "STRING", "value": "[resourceGroup().name]"},
        "number": {"type": "int", "value": 5},
        "flag": {"type": "bool", "value": "[not(true())]"},
        "list": {"type": "array", "value": ["[toUpper('a')]"]},
        "key": {"type": "secureString", "value": "hidden"},
        "left": {"type": "string", "value": "x", "condition": "[equals(1, 2)]"},
        "nothing": {"type": "string", "value": None, "nullable": True},
    }

    assert a_plan(outputs=outputs).outputs(unknown) == {
        "vmss": {"type": "Object", "value": {"a": 2}},
        "text": {"type": "String", "value": "myGroup"},
        "number": {"type": "Int", "value": 5},
        "flag": {"type": "Bool", "value": False},
        "list": {"type": "Array", "value": ["A"]},
        "key": {"type": "SecureString"},
        "nothing": {"type": "String", "value": None},
    }


def test_an_output_may_show_a_resource():
    set_id = path(f"{SETS}/web")
    plan = a_plan(
        a_resource("web", SETS),
        outputs={
            "VMSS": {
                "type": "object",
                "value": f"[reference(resourceId('{SETS}', 'web'),"
                " providers('Microsoft.Compute', 'virtualMachineScaleSets').apiVersions[0])]",
            },
            "principal": {
                "type": "string",
                "value": "[reference('web', '2024-07-01', 'Full').identity.principalId]",
            },
        },
    )

    def look_up(resource_id, *, full, api_version):
        assert (resource_id, api_version) == (set_id, "2024-07-01")
        return {"identity": {"principalId": "me"}} if full else {"capacity": 2}

    assert plan.outputs(look_up) == {
        "vmss": {"type": "Object", "value": {"capacity": 2}},
        "principal": {"type": "String", "value": "me"},
    }
    assert plan.referred == (set_id,)


def test_a_loop_makes_an_array_of_outputs():
    plan = a_plan(
        a_resource("[concat('n', copyIndex())]", copy={"name": "nets", "count": 2}),
        outputs={
            "ids": {
                "type": "array",
                "copy": {"count": 2, "input": "[reference(concat('n', copyIndex())).id]"},
            }
        },
    )

    def look_up(resource_id, *, full, api_version):
        return {"id": resource_id}

    assert plan.outputs(look_up)["ids"]["value"] == [path(f"{NETWORKS}/n{n}") for n in range(2)]


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ({"type": "string", "value": 5}, "of type 'Integer', and its declared type is 'String'"),
        ({"type": "object", "value": "[string(1)]"}, "of type 'String', and its declared type is"),
        ({"type": "string", "value": None}, "of type 'Null', and its declared type is 'String'"),
        ({"type": "string"}, "of type 'Null', and its declared type is 'String'"),
        ({"value": 5}, "The type '' is not one of String"),
        ({"type": "string", "value": "[div(1, 0)]"}, "The divisor of 'div' is zero."),
        ({"type": "int", "value": 1, "condition": 1}, "The condition of the output is of type"),
        ({"type": "array", "copy": 5}, "The copy loop of the output is not an object"),
        ({"type": "array", "copy": {"input": 1}}, "The 'count' of a copy loop is of type 'Null'"),
        ([], "It is of type 'Array', not 'Object'"),
    ],
)
def test_an_output_that_is_not_right_is_refused_before_deployment(output, sentence):
    with pytest.raises(InvalidTemplateError) as told:
        a_plan(outputs={"o": output})

    assert sentence in str(told.value)
    assert "Path 'outputs.o" in str(told.value)


def test_a_state_of_another_kind_than_the_output_is_refused():
    plan = a_plan(a_resource("a"), outputs={"O": {"type": "string", "value": "[reference('a').x]"}})

    with pytest.raises(InvalidTemplateError) as told:
        plan.outputs(lambda *_, **__: {"x": 5})

    assert "of type 'Integer', and its declared type is 'String'" in str(told.value)
    assert str(told.value).endswith("Path 'outputs.o'.")
