import pytest

from lastcall.wire.templates import what_if
from tests.wire.templates.builders import NETWORKS, SETS, a_plan, a_resource, a_template, path
from tests.wire.templates.test_nested import a_deployment

NET = path(f"{NETWORKS}/net")
BEFORE = {
    "id": NET,
    "name": "net",
    "type": NETWORKS,
    "location": "westus",
    "tags": {"team": "blue"},
    "properties": {
        "provisioningState": "Succeeded",
        "primary": True,
        "port": 80,
        "prefixes": ["10.0.0.0/16"],
        "subnets": [
            {"name": "a", "id": "ida", "properties": {"prefix": "10.0.0.0/24"}},
            {"name": "b", "id": "idb", "properties": {"prefix": "10.0.1.0/24"}},
        ],
    },
}


def change_of(before=BEFORE, **members):
    (change,) = what_if(a_plan(a_resource("NET", **members)), {NET: before})
    return change


def delta_of(**properties):
    change = change_of(properties=properties)
    return change.get("delta", [])


def test_what_is_not_there_is_created():
    (change,) = what_if(a_plan(a_resource("net", tags={}, properties={"x": "[add(1, 1)]"})), {})

    assert change == {
        "resourceId": NET,
        "changeType": "Create",
        "after": {
            "id": NET,
            "name": "net",
            "type": NETWORKS,
            "apiVersion": "2022-01-01",
            "location": "westus",
            "tags": {},
            "properties": {"x": 2},
        },
    }


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"location": "West US"},
        {"tags": {"TEAM": "blue"}, "identity": None, "zones": []},
        {"properties": {"port": "80", "primary": "true", "missing": None}},
        {"properties": {"subnets": [{"name": "b"}, {"name": "a", "properties": {}}]}},
    ],
)
def test_what_is_as_it_should_be_is_not_changed(members):
    change = change_of(**members)

    assert change["changeType"] == "NoChange"
    assert change["before"] == BEFORE
    assert "delta" not in change


def test_what_differs_is_told_with_its_path():
    change = change_of(
        tags={"team": "red", "cost": "5"},
        properties={"port": 81, "primary": None, "new": {"a": 1}},
        sku={"name": "Standard"},
    )

    assert change["changeType"] == "Modify"
    assert change["before"] == BEFORE
    assert change["after"]["tags"] == {"team": "red", "cost": "5"}
    assert change["after"]["properties"]["provisioningState"] == "Succeeded"
    assert change["delta"] == [
        {"path": "tags.team", "propertyChangeType": "Modify", "before": "blue", "after": "red"},
        {"path": "tags.cost", "propertyChangeType": "Create", "after": "5"},
        {"path": "properties.port", "propertyChangeType": "Modify", "before": 80, "after": 81},
        {"path": "properties.primary", "propertyChangeType": "Delete", "before": True},
        {"path": "properties.new", "propertyChangeType": "Create", "after": {"a": 1}},
        {"path": "sku", "propertyChangeType": "Create", "after": {"name": "Standard"}},
    ]


def test_arrays_of_names_are_compared_by_name():
    assert delta_of(
        subnets=[{"name": "c"}, {"name": "a", "properties": {"prefix": "10.9.0.0/24"}}]
    ) == [
        {
            "path": "properties.subnets",
            "propertyChangeType": "Array",
            "children": [
                {"path": "0", "propertyChangeType": "Create", "after": {"name": "c"}},
                {
                    "path": "1",
                    "propertyChangeType": "Modify",
                    "children": [
                        {
                            "path": "properties.prefix",
                            "propertyChangeType": "Modify",
                            "before": "10.0.0.0/24",
                            "after": "10.9.0.0/24",
                        }
                    ],
                },
                {
                    "path": "1",
                    "propertyChangeType": "Delete",
                    "before": BEFORE["properties"]["subnets"][1],
                },
            ],
        }
    ]


def test_other_arrays_are_compared_by_place():
    assert delta_of(prefixes=["10.1.0.0/16", "10.2.0.0/16"]) == [
        {
            "path": "properties.prefixes",
            "propertyChangeType": "Array",
            "children": [
                {
                    "path": "0",
                    "propertyChangeType": "Modify",
                    "before": "10.0.0.0/16",
                    "after": "10.1.0.0/16",
                },
                {"path": "1", "propertyChangeType": "Create", "after": "10.2.0.0/16"},
            ],
        }
    ]


def test_a_value_of_another_kind_is_a_change():
    assert delta_of(port={"from": 80}) == [
        {
            "path": "properties.port",
            "propertyChangeType": "Modify",
            "before": 80,
            "after": {"from": 80},
        }
    ]


def test_what_the_template_does_not_have_is_ignored_or_deleted():
    child = f"{NET}/subnets/s"
    other = path(f"{SETS}/web")
    existing = {child: {"id": child}, other: {"id": other}, NET: BEFORE}
    plan = a_plan(a_resource("net"))

    assert [change["changeType"] for change in what_if(plan, existing)] == [
        "NoChange",
        "Ignore",
        "Ignore",
    ]
    assert what_if(plan, existing, complete=True)[1:] == [
        {"resourceId": other, "changeType": "Delete", "before": {"id": other}},
        {
            "resourceId": child,
            "changeType": "Ignore",
            "before": {"id": child},
            "after": {"id": child},
        },
    ]


def test_a_reference_to_what_exists_is_resolved():
    plan = a_plan(
        a_resource("net"),
        a_resource("new", properties={}),
        a_resource(
            "web",
            SETS,
            properties={
                "port": "[reference('net').port]",
                "team": "[reference('net', '1', 'Full').tags.team]",
                "later": "[reference('new').x]",
            },
        ),
    )
    change = what_if(plan, {NET: BEFORE})[2]

    assert change["after"]["properties"] == {
        "port": 80,
        "team": "blue",
        "later": "[reference('new').x]",
    }


def test_deployments_inside_are_told_by_what_they_change():
    plan = a_plan(a_deployment(a_template(a_resource("net"), a_resource("b"))))

    assert [
        (change["resourceId"], change["changeType"]) for change in what_if(plan, {NET: BEFORE})
    ] == [
        (NET, "NoChange"),
        (path(f"{NETWORKS}/b"), "Create"),
    ]
