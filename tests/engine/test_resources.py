from datetime import UTC, datetime

from lastcall.engine.resources import Resource, ResourceId


def test_a_resource_is_called_as_its_path_ends():
    resource = Resource(
        id=ResourceId("/subscriptions/s/resourcegroups/mine"),
        path="/subscriptions/s/resourceGroups/Mine",
        kind="microsoft.resources/resourcegroups",
        group="mine",
        content={},
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )

    assert resource.name == "Mine"
