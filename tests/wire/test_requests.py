import pytest
from hypothesis import given

from lastcall.engine.errors import InvalidParameterError
from lastcall.engine.model import UNPROTECTED, Protection
from lastcall.wire.requests import parse_instance_ids, parse_protection

from .builders import DOCUMENTS, refusal_of


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"instanceIds": ["1", "2", "1"]}, ("1", "2")),
        ({"instanceIds": [3]}, ("3",)),
        ({"instanceIds": ["web_0a1b2c3d"]}, ("web_0a1b2c3d",)),
        ({"instanceIds": ["*"]}, None),
        ({"instanceIds": ["1", "*"]}, None),
    ],
)
def test_named_instances_are_meant_and_a_star_means_all(document, expected):
    assert parse_instance_ids(document, required=True) == expected


@pytest.mark.parametrize("document", [None, {}, {"instanceIds": None}])
def test_no_list_means_all_where_it_may_be_left_out(document):
    assert parse_instance_ids(document, required=False) is None
    with pytest.raises(InvalidParameterError, match="Required parameter") as refusal:
        parse_instance_ids(document, required=True)
    assert refusal.value.target == "instanceIds"


@pytest.mark.parametrize(
    "value", [[], "1", {}, [None], [True], [""], ["a/b"], [["1"]], ["1"] * 1001, ["a" * 81]]
)
def test_a_bad_list_is_refused(value):
    with pytest.raises(InvalidParameterError) as refusal:
        parse_instance_ids({"instanceIds": value}, required=False)
    assert refusal.value.target == "instanceIds"


BOTH = Protection(from_scale_in=True, from_scale_set_actions=True)


@pytest.mark.parametrize(
    ("policy", "old", "expected"),
    [
        ({"protectFromScaleIn": True}, UNPROTECTED, Protection(from_scale_in=True)),
        ({"protectFromScaleIn": "true"}, UNPROTECTED, Protection(from_scale_in=True)),
        (
            {"protectFromScaleSetActions": True},
            UNPROTECTED,
            Protection(from_scale_set_actions=True),
        ),
        ({"protectFromScaleIn": False}, BOTH, Protection(from_scale_set_actions=True)),
        ({"protectFromScaleIn": None}, BOTH, Protection(from_scale_set_actions=True)),
        ({}, BOTH, BOTH),
        (None, BOTH, UNPROTECTED),
    ],
)
def test_protection_is_set_kept_and_taken_away(policy, old, expected):
    assert parse_protection({"properties": {"protectionPolicy": policy}}, old) == expected


@pytest.mark.parametrize("document", [{}, {"properties": None}, {"properties": {}}])
def test_a_write_that_does_not_mention_protection_keeps_it(document):
    assert parse_protection(document, BOTH) == BOTH
    assert parse_protection(document) == UNPROTECTED


@pytest.mark.parametrize("policy", [5, [], {"protectFromScaleIn": "yes"}])
def test_bad_protection_is_refused(policy):
    with pytest.raises(InvalidParameterError) as refusal:
        parse_protection({"properties": {"protectionPolicy": policy}})
    assert refusal.value.target.startswith("properties.protectionPolicy")


@given(DOCUMENTS)
def test_any_document_is_read_or_refused(document):
    for read in (
        lambda: parse_instance_ids(document, required=True),
        lambda: parse_protection(document),
    ):
        refusal = refusal_of(read)
        assert refusal is None or refusal.target
