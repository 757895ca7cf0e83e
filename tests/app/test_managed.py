"""Which identity a machine speaks for."""

import pytest

from lastcall.app.managed import IdentityNotFoundError, WantedIdentity, choose, identity_of

SET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/web"
FIRST, SECOND = "/subscriptions/s/identities/one", "/subscriptions/s/identities/two"
NONE = WantedIdentity()


def model(kind, *assigned):
    return {"identity": {"type": kind, "userAssignedIdentities": {key: {} for key in assigned}}}


def test_an_identity_is_the_same_in_whatever_case_and_another_for_others():
    assert identity_of(SET).app_id == identity_of(SET.upper()).app_id
    ids = {each for path in (SET, FIRST) for each in identity_of(path).__rich_repr__()}
    assert len({value for name, value in ids if name in ("app_id", "object_id")}) == 4


@pytest.mark.parametrize(
    "kind", ["SystemAssigned", "systemassigned", "SystemAssigned, UserAssigned"]
)
def test_the_sets_own_identity_goes_without_saying(kind):
    assert choose(model(kind, FIRST), SET, NONE).resource_id == SET


def test_the_only_one_that_was_assigned_goes_without_saying():
    chosen = choose(model("UserAssigned", FIRST), SET, NONE)
    assert (chosen.resource_id, chosen.bearer) == (FIRST, SET)


@pytest.mark.parametrize(
    "wanted",
    [
        WantedIdentity(client_id=identity_of(SECOND).app_id.upper()),
        WantedIdentity(object_id=identity_of(SECOND).object_id),
        WantedIdentity(resource_id=SECOND.upper()),
    ],
)
def test_one_of_several_is_named(wanted):
    found = choose(model("SystemAssigned,UserAssigned", FIRST, SECOND), SET, wanted)

    assert found.resource_id == SECOND


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, NONE),
        ({"identity": None}, NONE),
        ({"identity": "SystemAssigned"}, NONE),
        (model("None"), NONE),
        (model("UserAssigned", FIRST, SECOND), NONE),
        ({"identity": {"type": 5, "userAssignedIdentities": [FIRST]}}, NONE),
        (model("SystemAssigned"), WantedIdentity(client_id="nobody")),
        (model("SystemAssigned"), WantedIdentity(resource_id=FIRST)),
    ],
)
def test_what_the_model_does_not_give_is_not_found(given, wanted):
    with pytest.raises(IdentityNotFoundError):
        choose(given, SET, wanted)
