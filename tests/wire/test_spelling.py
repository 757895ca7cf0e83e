import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcall.engine.errors import InvalidRequestContentError
from lastcall.wire import defaults, merging, traits
from lastcall.wire.arm import EXTENSIONS, SECRETS
from lastcall.wire.bodies import parse_body
from lastcall.wire.instances import COPIED
from lastcall.wire.interfaces import CONFIGURATIONS, OF_ADDRESS, OF_INTERFACE
from lastcall.wire.members import LATER, MEMBERS, OF_INSTANCE, refuse_members
from lastcall.wire.merging import merge
from lastcall.wire.own_model import ATTACH, DETACH, DISKS, KEPT
from lastcall.wire.requests import IDS, POLICY, parse_instance_ids, parse_protection
from lastcall.wire.spelling import NAMES, OPAQUE, with_known_names
from lastcall.wire.traits import capacity

from .builders import KNOWN_NAMES, a_model, refusal_of, with_terminate

CASES = [str.upper, str.lower, str.swapcase, str.title, lambda name: name[:1].upper() + name[1:]]


def renamed(value, case):
    """Return a copy with every name in another case, but for what users fill themselves."""
    if isinstance(value, list):
        return [renamed(item, case) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        case(name): item if name in OPAQUE else renamed(item, case) for name, item in value.items()
    }


def read(document):
    return parse_body(json.dumps(document).encode())


def a_full_model():
    model = with_terminate(
        {"enable": "true", "notBeforeTimeout": "PT7M"},
        osProfile={"computerNamePrefix": "w", "adminPassword": "secret"},
    )
    model["tags"] = {"Enable": "yes", "ENABLE": "no"}
    model["zones"] = ["1"]
    model["properties"]["upgradePolicy"] = {"mode": "rolling"}
    return model


@pytest.mark.parametrize("case", CASES)
def test_a_model_means_the_same_in_every_case(case):
    given = read(renamed(a_full_model(), case))

    assert given == a_full_model()
    assert traits.traits(merge(None, given), "web") == traits.traits(
        merge(None, a_full_model()), "web"
    )
    assert capacity(given) == 2


@pytest.mark.parametrize("case", CASES)
def test_small_bodies_mean_the_same_in_every_case(case):
    ids = read({case("instanceIds"): ["1"]})
    policy = {"properties": {"protectionPolicy": {"protectFromScaleIn": True}}}

    assert parse_instance_ids(ids, required=True) == ("1",)
    assert parse_protection(read(renamed(policy, case))).from_scale_in


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.path)
def test_no_spelling_slips_past_the_gate_of_the_version(member, case):
    document = {}
    for step in reversed(member.path.split(".")):
        document = {case(step): document}
    body = json.dumps(document).encode()
    refusal = refusal_of(lambda: refuse_members(parse_body(body), "2018-10-01", body))

    assert refusal is not None
    assert refusal.code == "BadRequest"
    assert "position 0" not in str(refusal)


def test_unknown_names_and_what_users_name_themselves_stay_as_given():
    document = {
        "Custom": {"Inner": [{"DEEP": 1}]},
        "tags": {"Name": "a", "NAME": "b"},
        "identity": {"userAssignedIdentities": {"/Subscriptions/X": {"Id": 1}}},
        "extensions": [{"settings": {"Sku": {"NAME": 1}}, "protectedSettings": {"Id": 2}}],
    }

    assert read(document) == document


@pytest.mark.parametrize(
    "document",
    [
        {"sku": {"capacity": 1, "Capacity": 2}},
        {"Properties": {}, "properties": {}},
        {"list": [{"NAME": "a", "name": "a"}]},
        {"tags": {}, "Tags": {}},
    ],
)
def test_two_spellings_of_one_member_are_refused(document):
    with pytest.raises(InvalidRequestContentError, match="in two spellings"):
        read(document)


def test_every_name_that_we_look_for_is_known():
    members = (*MEMBERS, *LATER, *OF_INSTANCE)
    paths = [member.path.replace("[]", "") for member in members]
    paths += [*merging.READ_ONLY, POLICY, IDS, CONFIGURATIONS, EXTENSIONS, DISKS]
    paths += [path for path in vars(traits).values() if str(path).startswith("properties.")]
    paths += traits.APPROVALS.values()
    looked_for = {name for path in paths for name in path.split(".") if name}
    looked_for |= {name for names in merging.READ_ONLY.values() for name in names}
    looked_for |= merging.BOOLEANS | merging.WORDS.keys() | merging.NOTICE_DEFAULTS.keys()
    for added in (defaults.SYSTEM, defaults.WINDOWS, defaults.INTERFACE, defaults.ROLLING):
        looked_for |= added.keys()
    looked_for |= {*COPIED, *OF_ADDRESS, *OF_INTERFACE, *KEPT, ATTACH, DETACH}
    looked_for |= SECRETS | OPAQUE | set(KNOWN_NAMES) | a_model().keys()

    assert looked_for - NAMES == set()


@given(st.dictionaries(st.sampled_from(sorted(NAMES)), st.integers()))
def test_what_is_spelled_as_documented_is_left_alone(document):
    assert with_known_names(document) == document
