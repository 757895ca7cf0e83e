import pytest

from lastcall.engine.resources import Resource, ResourceId

from .builders import NOON

GROUP = "/subscriptions/s/resourceGroups/g"


def a_resource(path: str) -> Resource:
    return Resource(
        id=ResourceId(path.lower()), path=path, kind="k", group="g", content={}, created_at=NOON
    )


@pytest.mark.parametrize(
    ("path", "is_below"),
    [
        (GROUP, True),
        (f"{GROUP}/providers/x/y/Z", True),
        (f"{GROUP}2", False),
        (f"{GROUP}2/providers/x/y/z", False),
        ("/subscriptions/s", False),
    ],
)
def test_what_is_at_or_below_a_path_begins_with_all_of_it(path, is_below):
    assert a_resource(path).is_at_or_below(ResourceId(GROUP.lower())) is is_below


def test_a_resource_is_called_as_its_path_ends():
    assert a_resource(f"{GROUP}/providers/x/y/Z").name == "Z"
