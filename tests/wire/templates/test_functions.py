"""Every function: what it gives, and what it refuses."""

import math
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidTemplateDeploymentError, InvalidTemplateError
from lastcall.wire.templates.evaluator import evaluate
from lastcall.wire.templates.faults import ExpressionError
from lastcall.wire.templates.functions import FUNCTIONS
from lastcall.wire.templates.functions.lambdas import LAMBDAS
from lastcall.wire.templates.functions.surroundings import LISTS
from lastcall.wire.templates.scope import Budget, Scope
from lastcall.wire.templates.signatures import Given
from lastcall.wire.templates.syntax import Call, Literal
from tests.wire.templates.builders import CONTEXT, GROUP, SUBSCRIPTION, TENANT, value_of

GIVEN = {
    "true": True,
    "list": [1, 2, 2, 3],
    "words": ["b", "a", "B"],
    "object": {"one": 1, "Two": {"x": [10, 20]}, "none": None},
    "other": {"ONE": 5, "Two": {"y": 1}},
    "mixed": [1, "1", True, None],
    "pairs": [[1, 2], [], [3]],
    "people": [{"name": "Ann", "age": 40}, {"name": "Bob", "age": 30}],
}
DECLARED = {
    name: {"type": {bool: "bool", list: "array", dict: "object"}[type(value)]}
    for name, value in GIVEN.items()
}


def worth(expression):
    return value_of(f"[{expression}]", given=GIVEN, parameters=DECLARED)


X, A, B, P, R, W, N = (f"lambdaVariables('{name}')" for name in "xabprwn")


def p(name):
    return f"parameters('{name}')"


VALUES = {
    # Strings
    "concat('a', 1, 'b', true())": "a1bTrue",
    "concat('only')": "only",
    f"concat({p('list')}, {p('pairs')})": [1, 2, 2, 3, [1, 2], [], [3]],
    "format('{0}-{1}-{0}', 'a', 7)": "a-7-a",
    "format('{0:D3}|{1,4}|{1,-4}|{2:X}|{3:N1}', 7, 'ab', 255, 1234)": "007|  ab|ab  |FF|1,234.0",
    "format('{0:x4}|{0:F}|{0:N0}', 30)": "001e|30.00|30",
    "format('{0:D3}', -7)": "-007",
    "format('{{{0}}}', 'x')": "{x}",
    "format('none')": "none",
    f"format('{{0}}', {p('list')})": "[1,2,2,3]",
    "replace('a-b-c', '-', '')": "abc",
    "split('a,b;c', ',')": ["a", "b;c"],
    "split('a,b;c', createArray(',', ';'))": ["a", "b", "c"],
    "split('abc', '')": ["abc"],
    "join(createArray('a', 'b', 3), '-')": "a-b-3",
    "toLower('ABC')": "abc",
    "toUpper('abc')": "ABC",
    "TOUPPER('abc')": "ABC",
    "trim('  a b  ')": "a b",
    "substring('abcdef', 2)": "cdef",
    "substring('abcdef', 2, 3)": "cde",
    "substring('abc', 3, 0)": "",
    "startsWith('Abc', 'aB')": True,
    "startsWith('abc', 'b')": False,
    "endsWith('abC', 'Bc')": True,
    "indexOf('banANA', 'an')": 1,
    "lastIndexOf('banANA', 'an')": 3,
    "indexOf('abc', 'z')": -1,
    f"indexOf({p('list')}, 2)": 1,
    f"lastIndexOf({p('list')}, 2)": 2,
    f"lastIndexOf({p('list')}, 9)": -1,
    "padLeft('7', 3, '0')": "007",
    "padLeft(7, 3)": "  7",
    "string(12)": "12",
    "string(true())": "True",
    "string('s')": "s",
    "string(null())": "",
    f"string({p('object')})": '{"one":1,"Two":{"x":[10,20]},"none":null}',
    # Encodings
    "base64('one, two')": "b25lLCB0d28=",
    "base64ToString('b25lLCB0d28=')": "one, two",
    "base64ToJson('eyJhIjogMX0=')": {"a": 1},
    "dataUri('Hello')": "data:text/plain;charset=utf8;base64,SGVsbG8=",
    "dataUriToString('data:;base64,SGVsbG8=')": "Hello",
    "dataUriToString('data:text/plain,a%20b')": "a b",
    "uri('http://a.com/b/', 'c/d.sh')": "http://a.com/b/c/d.sh",
    "uri('http://a.com/b', 'c')": "http://a.com/c",
    "uriComponent('http://a.com/b c~d')": "http%3A%2F%2Fa.com%2Fb%20c~d",
    "uriComponentToString('a%20b%2Fc')": "a b/c",
    "json('{\"a\": [1, null, 1.5]}')": {"a": [1, None, 1.5]},
    "json('null')": None,
    # Names
    "length(uniqueString('a'))": 13,
    "equals(uniqueString('a', 'b'), uniqueString('a', 'b'))": True,
    "equals(uniqueString('a', 'b'), uniqueString('ab'))": False,
    "guid('a', 'b')": "2d796349-8c7e-55ec-9624-54ece82ed031",
    # Containers
    "length('abc')": 3,
    f"length({p('list')})": 4,
    f"length({p('object')})": 3,
    "empty('')": True,
    "empty(null())": True,
    f"empty({p('list')})": False,
    "empty(json('{}'))": True,
    "contains('abc', 'bc')": True,
    "contains('abc', 'BC')": False,
    "contains('a1', 1)": True,
    f"contains({p('list')}, 3)": True,
    f"contains({p('mixed')}, '1')": True,
    f"contains({p('list')}, '3')": False,
    f"contains({p('object')}, 'TWO')": True,
    f"contains({p('object')}, 'three')": False,
    "first('abc')": "a",
    "last('abc')": "c",
    "first('')": "",
    f"first({p('list')})": 1,
    f"last({p('list')})": 3,
    "last(createArray())": None,
    "skip('abc', 1)": "bc",
    f"skip({p('list')}, 3)": [3],
    f"skip({p('list')}, -1)": [1, 2, 2, 3],
    "take('abc', 9)": "abc",
    f"take({p('list')}, 2)": [1, 2],
    f"take({p('list')}, -2)": [],
    f"union({p('list')}, createArray(9, 1))": [1, 2, 3, 9],
    f"union({p('object')}, {p('other')})": {"one": 5, "Two": {"x": [10, 20], "y": 1}, "none": None},
    f"intersection({p('list')}, createArray(3, 2, 7))": [2, 3],
    f"intersection({p('object')}, createObject('one', 1, 'Two', 2))": {"one": 1},
    # Arrays
    "array('a')": ["a"],
    f"array({p('list')})": [1, 2, 2, 3],
    "createArray(1, 'a', null())": [1, "a", None],
    "createArray()": [],
    "range(5, 3)": [5, 6, 7],
    "range(0, 0)": [],
    f"flatten({p('pairs')})": [1, 2, 3],
    # Objects
    "createObject('a', 1, 'b', createArray())": {"a": 1, "b": []},
    "createObject()": {},
    "items(createObject('b', 1, 'A', 2))": [{"key": "A", "value": 2}, {"key": "b", "value": 1}],
    "objectKeys(createObject('b', 1, 'A', 2))": ["A", "b"],
    "shallowMerge(createArray(createObject('a', 1), createObject('a', 2)))": {"a": 2},
    f"tryGet({p('object')}, 'two', 'x', 1)": 20,
    f"tryGet({p('object')}, 'three', 'x')": None,
    f"tryGet({p('list')}, 9)": None,
    "coalesce(null(), null(), 'a', 'b')": "a",
    "coalesce(null())": None,
    # Numbers
    "add(5, -3)": 2,
    "sub(5, 7)": -2,
    "mul(-4, 3)": -12,
    "div(7, 2)": 3,
    "div(-7, 2)": -3,
    "mod(7, 3)": 1,
    "mod(-7, 3)": -1,
    "int('42')": 42,
    "int(' -7 ')": -7,
    "int(float('2.9'))": 2,
    "float('1.5')": 1.5,
    "float(2)": 2.0,
    "min(3, 1, 2)": 1,
    f"min({p('list')})": 1,
    "max(3, 1, 2)": 3,
    f"max({p('list')})": 3,
    # Logic
    "true()": True,
    "false()": False,
    "null()": None,
    "if(true(), 'a', div(1, 0))": "a",
    "if(false(), div(1, 0), 'b')": "b",
    "and(true(), true(), false())": False,
    "or(false(), false(), true())": True,
    "not(false())": True,
    "bool('TRUE')": True,
    "bool(0)": False,
    "bool('0')": False,
    "equals('a', 'A')": False,
    "equals(1, 1)": True,
    "equals(1, true())": False,
    "equals(1, float(1))": False,
    "equals(null(), null())": True,
    "equals(createObject('a', 1, 'b', 2), createObject('b', 2, 'a', 1))": True,
    "less(1, 2)": True,
    "less('a', 'b')": True,
    "lessOrEquals(2, 2)": True,
    "greater(1, 2)": False,
    "greaterOrEquals(float('2.5'), 2)": True,
    # Dates
    "dateTimeAdd('2026-01-31T10:00:00Z', 'P1M')": "2026-02-28T10:00:00Z",
    "dateTimeAdd('2026-01-31 10:00:00Z', '-P1DT2H')": "2026-01-30 08:00:00Z",
    "dateTimeAdd('20260131T100000Z', 'PT90M')": "20260131T113000Z",
    "dateTimeAdd('2026-01-31', 'P1Y2W')": "2027-02-14",
    "dateTimeAdd('2026-12-05', 'P1M', 'd/M/yy hh:mm tt')": "5/1/27 12:00 AM",
    "dateTimeAdd('2026-01-05', 'PT1S', 'ddd, ''at'' H:m:s.fff')": "Mon, at 0:0:1.000",
    "dateTimeAdd('2026-01-05', 'PT1S', 'r')": "Mon, 05 Jan 2026 00:00:01 GMT",
    "dateTimeToEpoch('1970-01-02T00:00:00Z')": 86400,
    "dateTimeFromEpoch(86400)": "1970-01-02T00:00:00Z",
    # Resources
    "resourceId('A.B/c', 'x')": f"{GROUP}/providers/A.B/c/x",
    "resourceId('A.B/c/d', 'x', 'y')": f"{GROUP}/providers/A.B/c/x/d/y",
    "resourceId('other', 'A.B/c', 'x')": (
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/other/providers/A.B/c/x"
    ),
    f"resourceId('{TENANT}', 'other', 'A.B/c', 'x')": (
        f"/subscriptions/{TENANT}/resourceGroups/other/providers/A.B/c/x"
    ),
    "subscriptionResourceId('A.B/c', 'x')": f"/subscriptions/{SUBSCRIPTION}/providers/A.B/c/x",
    f"subscriptionResourceId('{TENANT}', 'A.B/c', 'x')": (
        f"/subscriptions/{TENANT}/providers/A.B/c/x"
    ),
    "tenantResourceId('A.B/c', 'x')": "/providers/A.B/c/x",
    "extensionResourceId('/x', 'A.B/c', 'y')": "/x/providers/A.B/c/y",
    # Surroundings
    "parameters('LIST')[0]": 1,
    "resourceGroup().location": "westus",
    "resourceGroup().id": GROUP,
    "resourceGroup().tags.team": "blue",
    "subscription().subscriptionId": SUBSCRIPTION,
    "subscription().displayName": "Local",
    "tenant().tenantId": TENANT,
    "deployment().name": "myDeployment",
    "deployment().properties.template.contentVersion": "1.0.0.0",
    "environment().suffixes.storage": "core.local",
    "providers('Microsoft.Compute', 'virtualMachineScaleSets').apiVersions[0]": "2024-07-01",
    "pickZones('Microsoft.Compute', 'virtualMachines', 'westus')": ["1"],
    "pickZones('Microsoft.Compute', 'virtualMachines', 'westus', 2, 1)": ["2", "3"],
    # Lambdas
    f"map({p('list')}, lambda('x', mul({X}, 2)))": [2, 4, 4, 6],
    f"map({p('words')}, lambda('w', 'n', concat({W}, {N})))": [
        "b0",
        "a1",
        "B2",
    ],
    f"filter({p('people')}, lambda('p', less({P}.age, 35)))": [{"name": "Bob", "age": 30}],
    f"sort({p('words')}, lambda('a', 'b', less({A}, {B})))": [
        "B",
        "a",
        "b",
    ],
    f"reduce({p('list')}, 10, lambda('a', 'b', add({A}, {B})))": 18,
    f"toObject({p('people')}, lambda('p', {P}.name), lambda('p', {P}.age))": {
        "Ann": 40,
        "Bob": 30,
    },
    f"toObject(take({p('people')}, 1), lambda('p', {P}.name))": {"Ann": {"name": "Ann", "age": 40}},
    f"map({p('pairs')}, lambda('r', map({R}, lambda('x', length({R})))))": [
        [2, 2],
        [],
        [1],
    ],
    # Member access
    f"{p('object')}.two.X[1]": 20,
    f"{p('object')}['One']": 1,
    f"{p('object')}.?three.x": None,
    f"{p('object')}.none.?x": None,
    f"{p('object')}.?two.x[0]": 10,
    f"{p('list')}[?9]": None,
    f"{p('list')}[?0]": 1,
    f"{p('list')}[sub(length({p('list')}), 1)]": 3,
}

REFUSED = {
    "nothing('a')": "The template function 'nothing' is not valid.",
    "toLower()": "'toLower': function requires 1 argument(s) while 0 were provided.",
    "substring('a')": "function requires 2 to 3 argument(s) while 1 were provided.",
    "concat()": "function requires at least 1 argument(s) while 0 were provided.",
    "toLower(1)": "'toLower': argument 1 is of type 'Integer', expected is 'String'.",
    "join('a', ',')": "argument 1 is of type 'String', expected is 'Array'.",
    "add('1', 2)": "argument 1 is of type 'String', expected is 'Integer'.",
    "add(true(), 2)": "argument 1 is of type 'Boolean', expected is 'Integer'.",
    "length(1)": "argument 1 is of type 'Integer', expected is 'String, Array or Object'.",
    f"concat('a', {p('list')})": "neither all arrays nor all texts",
    f"concat({p('list')}, 'a')": "neither all arrays nor all texts",
    "format('{0}')": "asks for argument {0}, and 0 are given",
    "format('{')": "a brace that is not closed or not opened",
    "format('{0:Q}', 1)": "The format 'Q' is not one of D, X, N and F",
    "format('{0,999999999}', 1)": "The result would have 999999999 characters",
    "replace('a', '', 'b')": "looks for is empty",
    "substring('abc', 2, 5)": "must refer to a location within the string",
    "substring('abc', -1)": "must refer to a location within the string",
    "split('a', createArray(1))": "delimiters of 'split' are not all strings",
    "padLeft('a', 17, '0')": "a width of 0 to 16",
    "padLeft('a', 3, 'ab')": "one character to fill up with",
    "base64ToString('!')": "not the base 64 of a string",
    "base64ToString('/w==')": "not the base 64 of a string",
    "json('{')": "not valid JSON",
    "json('99999999999999999999')": "does not fit in a 64-bit integer",
    "dataUriToString('x')": "not a data URI",
    "uriComponentToString('%ff')": "not a string that was encoded for a URI",
    "uri('http://[', 'a')": "not a URI",
    "contains('abc', true())": "can't look for a value of type 'Boolean'",
    "indexOf('abc', 1)": "is of type 'Integer', not 'String'",
    "union('a', 'b')": "not all arrays or all objects",
    f"union({p('list')}, {p('object')})": "not all arrays or all objects",
    f"intersection({p('list')}, {p('object')})": "not all arrays or all objects",
    "range(0, 10001)": "'range' makes 0 to 10000 numbers",
    "range(2147483647, 1)": "none above 2147483647",
    "range(0, -1)": "'range' makes 0 to 10000 numbers",
    "flatten(createArray(1))": "not all arrays",
    "createObject('a')": "a string and a value in turn",
    "createObject(1, 2)": "a string and a value in turn",
    "shallowMerge(createArray(1))": "are not objects",
    "add(9223372036854775807, 1)": "does not fit in a 64-bit integer",
    "mul(9223372036854775807, 2)": "does not fit in a 64-bit integer",
    "div(1, 0)": "The divisor of 'div' is zero.",
    "mod(1, 0)": "The divisor of 'mod' is zero.",
    "int('4x')": "not a string of digits",
    "int(float('1e30'))": "does not fit in a 64-bit integer",
    "float('x')": "is not a number",
    "float('1e999')": "out of range",
    "min(createArray())": "an array of at least one integer",
    "max(createArray('a'))": "an array of at least one integer",
    "if('true', 1, 2)": "The condition of 'if' is of type 'String'.",
    "bool('maybe')": "neither 'true' nor 'false'",
    "less('a', 1)": "can't compare a string with a number",
    "dateTimeAdd('yesterday', 'P1D')": "is not a date",
    "dateTimeAdd('2026-01-01', '1 day')": "is not an ISO 8601 duration",
    "dateTimeAdd('2026-01-01', 'P9999Y')": "out of range",
    "dateTimeAdd('2026-01-01', 'P1D', 'yyyyy')": "a part that is not known: 'yyyyy'",
    f"dateTimeAdd('2026-01-01', 'P1D', '{'y' * 101}')": "at most 100 characters",
    "dateTimeFromEpoch(9223372036854775807)": "out of range",
    "resourceId('a', 'b')": "it takes a resource type with its provider namespace",
    "resourceId('A.B/c', 'x', 'y')": "requires '1' resource name argument(s), and 2 are given",
    "resourceId('x', 'g', 'A.B/c', 'n')": "'x' is not the id of a subscription",
    "tenantResourceId('a', 'A.B/c', 'n')": "after at most 0 argument(s)",
    "resourceId('A.B/c', '')": "incorrect segment lengths",
    "parameters('nobody')": "The template parameter 'nobody' is not found.",
    "variables('nobody')": "The template variable 'nobody' is not found.",
    "copyIndex()": "'copyIndex' is not expected at this location",
    "copyIndex('loop')": "no loop is called 'loop' here",
    "newGuid()": "only be used in the default value of a parameter",
    "utcNow()": "only be used in the default value of a parameter",
    "providers('A.B', 'c')": "The resource type 'c' is not known in the namespace 'A.B'.",
    "pickZones('A', 'b', 'c', 4)": "among 3 zones",
    "pickZones('', 'b', 'c')": "a namespace, a resource type and a location",
    "reference('a', 'b', 'Half')": "can only be 'Full'",
    "lambda('x', 1)": "'lambda' is not expected at this location",
    "lambdaVariables('x')": "The lambda variable 'x' is not found.",
    "map('a', lambda('x', 1))": "argument 1 is of type 'String', expected is 'Array'",
    f"map({p('list')}, 1)": "'map' takes a lambda function",
    f"map({p('list')}, lambda(1, 1))": "takes 1 to 2 names and an expression",
    f"filter({p('list')}, lambda('x', 1))": "returns a value of type 'Integer', not 'Boolean'",
    f"toObject({p('list')}, lambda('x', 1))": "is of type 'Integer', not 'String'",
    f"{p('object')}.three": "'three' doesn't exist, available properties are 'one, Two, none'",
    "createObject().a": "available properties are 'none'",
    f"{p('list')}[4]": "array index '4' is out of bounds: the array has 4 item(s)",
    f"{p('list')}[-1]": "array index '-1' is out of bounds",
    f"{p('list')}.x": "of a value of type 'Array' can't be found by a key of type 'String'",
    f"{p('object')}[0]": "of a value of type 'Object' can't be found by a key of type 'Integer'",
    "null().x": "of a value of type 'Null'",
}


@pytest.mark.parametrize(("expression", "value"), VALUES.items())
def test_a_function_gives_its_value(expression, value):
    result = worth(expression)

    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(("expression", "sentence"), REFUSED.items())
def test_a_function_refuses_what_it_cannot_do(expression, sentence):
    with pytest.raises(InvalidTemplateError) as told:
        worth(expression)

    message = str(told.value)
    assert sentence in message
    assert message.startswith("Deployment template language expression evaluation failed: '")
    assert message.endswith("Path 'resources[0].properties.value'.")


@pytest.mark.parametrize("name", LISTS)
def test_secrets_of_resources_are_refused(name):
    with pytest.raises(InvalidTemplateDeploymentError, match=f"'{name}' asks a resource for its"):
        worth(f"{name}(resourceId('A.B/c', 'x'), '2022-01-01')")


def test_every_function_is_shown_here_or_among_resources():
    shown = " ".join([*VALUES, *REFUSED]).lower()
    elsewhere = {"reference", *(name.lower() for name in LISTS)}

    assert {name for name in FUNCTIONS if f"{name}(" not in shown} <= elsewhere


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, function in FUNCTIONS.items()
        if function.given is not Given.SCOPE_AND_EXPRESSIONS
    ],
)
@settings(max_examples=20)
@given(arguments=st.lists(JSON, max_size=5))
def test_no_function_fails_in_another_way_whatever_it_is_given(name, arguments):
    scope = Scope(CONTEXT, Budget(), FUNCTIONS, draw=lambda: "a guid")
    call = Call(name, tuple(Literal(argument) for argument in arguments))
    with suppress(ExpressionError):
        evaluate(call, scope)


@pytest.mark.parametrize("name", LAMBDAS.functions)
@settings(max_examples=20)
@given(arguments=st.lists(JSON, max_size=3), body=JSON)
def test_no_lambda_function_fails_in_another_way_whatever_it_is_given(name, arguments, body):
    made = Call("lambda", (Literal("x"), Literal("y"), Literal(body)))
    scope = Scope(CONTEXT, Budget(), FUNCTIONS)
    call = Call(name, (*(Literal(argument) for argument in arguments), made))
    with suppress(ExpressionError):
        evaluate(call, scope)


EXPRESSIONS = st.recursive(
    st.sampled_from(["'a'", "'{0}'", "1", "-1", "null()", X, *map(p, GIVEN)]),
    lambda inner: (
        st.builds("{}({})".format, st.sampled_from(sorted(FUNCTIONS)), inner)
        | st.builds("{}({}, {})".format, st.sampled_from(sorted(FUNCTIONS)), inner, inner)
        | st.builds("map({}, lambda('x', {}))".format, inner, inner)
        | st.builds("{}{}".format, inner, st.sampled_from([".one", "[0]", ".?x", "[?9]"]))
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(EXPRESSIONS)
def test_whatever_an_expression_says_it_has_a_value_or_is_refused(expression):
    with suppress(InvalidTemplateError, InvalidTemplateDeploymentError):
        worth(expression)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


TEXTS = st.text(max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_concat_does_not_mind_how_it_is_grouped(a, b, c):
    a, b, c = map(quoted, (a, b, c))

    assert worth(f"concat({a}, concat({b}, {c}))") == worth(f"concat(concat({a}, {b}), {c})")
    assert worth(f"concat({a}, {b}, {c})") == worth(f"format('{{0}}{{1}}{{2}}', {a}, {b}, {c})")


@given(TEXTS)
def test_what_is_encoded_is_decoded(text):
    for there, back in (
        ("base64", "base64ToString"),
        ("uriComponent", "uriComponentToString"),
        ("dataUri", "dataUriToString"),
    ):
        assert worth(f"{back}({there}({quoted(text)}))") == text


@given(st.lists(st.text(alphabet="abc", max_size=3), min_size=1, max_size=5))
def test_split_undoes_join(words):
    array = ", ".join(map(quoted, words))

    assert worth(f"split(join(createArray({array}), '-'), '-')") == words


@given(st.integers(-1000, 1000), st.integers(-1000, 1000).filter(bool))
def test_quotient_and_remainder_make_the_number_again(number, divisor):
    assert (
        worth(f"add(mul(div({number}, {divisor}), {divisor}), mod({number}, {divisor}))") == number
    )
    assert worth(f"mod({number}, {divisor})") == int(math.fmod(number, divisor))


@given(JSON)
def test_json_undoes_string(value):
    text = value_of(
        "[string(parameters('v').v)]", {"v": {"v": [value]}}, parameters={"v": {"type": "object"}}
    )
    again = value_of("[json(parameters('t'))]", {"t": text}, parameters={"t": {"type": "string"}})

    assert again == [value]
