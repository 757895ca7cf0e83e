"""Resources of any type: kept as given, with what Azure adds; some live inside others."""

import pytest

from lastcall.engine.limits import RESOURCE_BYTES_MAX
from tests.web.desk import GROUP, ROOT, SUBSCRIPTION, WEB, a_model

PROVIDERS = f"{GROUP}/providers"
NET = f"{PROVIDERS}/Microsoft.Network"
VNET = f"{NET}/virtualNetworks/net"
BALANCER = f"{NET}/loadBalancers/lb"
ADDRESS = f"{NET}/publicIPAddresses/ip"
SPACE = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}


def a_network(*subnets, **more):
    prefixed = [
        {"name": name, "properties": {"addressPrefix": f"10.0.{number}.0/24"}}
        for number, name in enumerate(subnets)
    ]
    return {"location": "West US", "properties": {**SPACE, "subnets": prefixed}, **more}


def code(answer):
    return answer.json()["error"]["code"]


async def test_a_resource_is_kept_as_given_with_what_the_service_adds(desk):
    path = f"{PROVIDERS}/Microsoft.KeyVault/vaults/safe"
    body = {
        "Location": "West US",
        "tags": {"a": "b"},
        "sku": {"name": "standard"},
        "name": "ignored",
        "properties": {"Own": {"NAME": "kept"}, "none": None, "adminPassword": "secret"},
    }
    made, again = await desk.arm("PUT", path, body), await desk.arm("PUT", path.upper(), body)

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == {
        "name": "safe",
        "id": path,
        "etag": 'W/"1"',
        "type": "Microsoft.KeyVault/vaults",
        "location": "westus",
        "tags": {"a": "b"},
        "sku": {"name": "standard"},
        "properties": {"provisioningState": "Succeeded", "Own": {"NAME": "kept"}},
    }
    shown = (await desk.arm("GET", path)).json()
    assert shown == again.json() == {**made.json(), "etag": 'W/"2"'}
    assert (await desk.arm("HEAD", path)).status_code == 204


@pytest.mark.parametrize("name", ["adminPassword", "ADMINPASSWORD", "protectedsettings"])
async def test_a_secret_is_not_kept_in_any_spelling(desk, name):
    path = f"{PROVIDERS}/Microsoft.KeyVault/vaults/safe"
    body = {"location": "westus", "tags": {name: "shown"}, "properties": {"a": [{name: "hidden"}]}}
    made = await desk.arm("PUT", path, body)
    changed = await desk.arm("PATCH", path, {"properties": {"b": {name: "hidden"}}})

    assert made.json()["properties"]["a"] == [{}]
    assert changed.json()["properties"]["b"] == {}
    assert changed.json()["tags"] == {name: "shown"}
    assert "hidden" not in desk.dump()


async def test_put_replaces_and_patch_merges(desk):
    await desk.arm("PUT", VNET, a_network("a", tags={"x": "1", "y": "2"}))
    patched = (await desk.arm("PATCH", VNET, {"tags": {"z": "3"}})).json()
    assert patched["tags"] == {"z": "3"}
    assert [each["name"] for each in patched["properties"]["subnets"]] == ["a"]

    changed = await desk.arm("PATCH", VNET, {"properties": {"flowTimeoutInMinutes": 4}})
    assert changed.json()["properties"]["addressSpace"] == SPACE["addressSpace"]
    removed = await desk.arm("PATCH", VNET, {"properties": {"flowTimeoutInMinutes": None}})
    assert "flowTimeoutInMinutes" not in removed.json()["properties"]

    replaced = (await desk.arm("PUT", VNET, a_network())).json()
    assert replaced["properties"]["subnets"] == []
    assert "tags" not in replaced


async def test_children_do_not_add_up_to_more_than_a_resource_may_be(desk):
    await desk.arm("PUT", VNET, a_network())
    large = {"properties": {"addressPrefix": "10.0.0.0/24", "note": "x" * 600_000}}
    first = await desk.arm("PUT", f"{VNET}/subnets/a", large)
    before = desk.dump()
    second = await desk.arm("PUT", f"{VNET}/subnets/b", large)

    assert first.status_code == 201
    assert (second.status_code, code(second)) == (400, "InvalidRequestContent")
    assert f"{RESOURCE_BYTES_MAX} bytes" in second.json()["error"]["message"]
    assert desk.dump() == before
    assert (await desk.arm("DELETE", f"{VNET}/subnets/a")).status_code == 202


async def test_a_subnet_is_seen_from_both_sides(desk):
    await desk.arm("PUT", VNET, a_network("a", "b"))
    inline = (await desk.arm("GET", f"{VNET}/subnets/A")).json()
    assert inline == {
        "name": "a",
        "id": f"{VNET}/subnets/a",
        "etag": 'W/"1"',
        "type": "Microsoft.Network/virtualNetworks/subnets",
        "properties": {"provisioningState": "Succeeded", "addressPrefix": "10.0.0.0/24"},
    }

    prefix = {"properties": {"addressPrefix": "10.0.9.0/24"}}
    added = await desk.arm("PUT", f"{VNET}/subnets/c", prefix)
    changed = await desk.arm("PUT", f"{VNET}/SUBNETS/B", prefix)
    assert (added.status_code, changed.status_code) == (201, 200)
    network = (await desk.arm("GET", VNET)).json()
    assert [
        (each["name"], each["properties"]["addressPrefix"])
        for each in network["properties"]["subnets"]
    ] == [("a", "10.0.0.0/24"), ("b", "10.0.9.0/24"), ("c", "10.0.9.0/24")]
    listed = (await desk.arm("GET", f"{VNET}/subnets")).json()["value"]
    assert listed == network["properties"]["subnets"]

    assert (await desk.arm("DELETE", f"{VNET}/subnets/a")).status_code == 202
    assert (await desk.arm("DELETE", f"{VNET}/subnets/a")).status_code == 204
    left = (await desk.arm("GET", VNET)).json()["properties"]["subnets"]
    assert [each["name"] for each in left] == ["b", "c"]


async def test_a_network_that_was_read_can_be_written_back(desk):
    await desk.arm("PUT", VNET, a_network("a"))
    first = (await desk.arm("GET", VNET)).json()
    second = (await desk.arm("PUT", VNET, first)).json()

    assert str(second).replace('W/"2"', "") == str(first).replace('W/"1"', "")


async def test_everything_in_a_load_balancer_has_an_id(desk):
    pools = [{"name": "pool"}]
    await desk.arm(
        "PUT",
        BALANCER,
        {
            "location": "westus",
            "sku": {"name": "Standard"},
            "properties": {
                "backendAddressPools": pools,
                "FrontendIpConfigurations": [{"name": "front"}],
                "inboundNatPools": [{"name": "nat", "properties": {"backendPort": 22}}],
            },
        },
    )
    rule = {"properties": {"frontendPortRangeStart": "50000"}}
    made = await desk.arm("PUT", f"{BALANCER}/inboundNatRules/NatRule", rule)
    assert made.json()["id"] == f"{BALANCER}/inboundNatRules/NatRule"

    properties = (await desk.arm("GET", BALANCER)).json()["properties"]
    ids = {
        name: [each["id"] for each in properties[name]]
        for name in properties
        if isinstance(properties[name], list) and properties[name]
    }
    assert ids == {
        "frontendIPConfigurations": [f"{BALANCER}/frontendIPConfigurations/front"],
        "backendAddressPools": [f"{BALANCER}/backendAddressPools/pool"],
        "inboundNatPools": [f"{BALANCER}/inboundNatPools/nat"],
        "inboundNatRules": [f"{BALANCER}/inboundNatRules/NatRule"],
    }


async def test_a_public_address_is_given_once_and_never_twice(desk):
    body = {"location": "westus", "properties": {"dnsSettings": {"domainNameLabel": "web"}}}
    first = (await desk.arm("PUT", ADDRESS, body)).json()["properties"]
    second = (await desk.arm("PUT", f"{ADDRESS}2", body)).json()["properties"]
    again = (await desk.arm("PUT", ADDRESS, {**body, "tags": {}})).json()["properties"]

    assert (first["ipAddress"], second["ipAddress"]) == ("192.0.2.1", "192.0.2.2")
    assert again["ipAddress"] == "192.0.2.1"
    assert first["dnsSettings"]["fqdn"] == "web.westus.cloudapp.azure.com"
    await desk.arm("DELETE", ADDRESS)
    third = (await desk.arm("PUT", f"{ADDRESS}3", body)).json()["properties"]
    assert third["ipAddress"] == "192.0.2.1"


async def test_an_interface_gets_an_address_of_its_subnet(desk):
    await desk.arm("PUT", VNET, a_network("a"))

    async def made(name, **properties):
        body = {
            "location": "westus",
            "properties": {
                "ipConfigurations": [
                    {
                        "name": "c",
                        "properties": {"subnet": {"id": f"{VNET}/subnets/a"}, **properties},
                    }
                ]
            },
        }
        answer = await desk.arm("PUT", f"{NET}/networkInterfaces/{name}", body)
        return answer.json()["properties"]["ipConfigurations"][0]["properties"]

    assert (await made("one"))["privateIPAddress"] == "10.0.0.4"
    assert (await made("two"))["privateIPAddress"] == "10.0.0.5"
    assert (await made("one"))["privateIPAddress"] == "10.0.0.4"
    fixed = {"privateIPAllocationMethod": "Static", "privateIPAddress": "10.0.0.77"}
    assert (await made("three", **fixed))["privateIPAddress"] == "10.0.0.77"
    lost = await made("four", subnet={"id": f"{VNET}/subnets/nope"})
    assert "privateIPAddress" not in lost


async def test_a_child_needs_its_parent_and_goes_with_it(desk):
    server = f"{PROVIDERS}/Microsoft.Sql/servers/sql"
    orphan = await desk.arm("PUT", f"{server}/databases/db", {"location": "westus"})
    subnet = await desk.arm("PUT", f"{VNET}/subnets/a", {})
    assert {(orphan.status_code, code(orphan)), (subnet.status_code, code(subnet))} == {
        (404, "ParentResourceNotFound")
    }
    assert "Parent resource 'sql' not found." in orphan.json()["error"]["message"]

    await desk.arm("PUT", server, {"location": "westus"})
    await desk.arm("PUT", f"{server}2", {"location": "westus"})
    assert (await desk.arm("PUT", f"{server}/databases/db", {})).status_code == 201
    listed = (await desk.arm("GET", f"{server}/databases")).json()["value"]
    assert [each["id"] for each in listed] == [f"{server}/databases/db"]
    assert (await desk.arm("GET", f"{server}2/databases")).json()["value"] == []
    assert (await desk.arm("DELETE", server)).status_code == 200
    assert (await desk.arm("GET", f"{server}/databases/db")).status_code == 404
    assert (await desk.arm("GET", f"{server}2")).status_code == 200


async def test_what_a_service_makes_itself_may_be_a_parent(desk):
    account = f"{PROVIDERS}/Microsoft.Storage/storageAccounts/store"
    container = f"{account}/blobServices/default/containers/c"

    assert (await desk.arm("PUT", container, {})).status_code == 404
    # Its clients know no 201.
    assert (await desk.arm("PUT", account, {"location": "westus"})).status_code == 200
    assert (await desk.arm("PUT", container, {})).status_code == 201


async def test_extensions_belong_to_what_they_are_written_on(desk):
    lock = "providers/Microsoft.Authorization/locks/keep"
    body = {"properties": {"level": "CanNotDelete"}}
    assert code(await desk.arm("PUT", f"{WEB}/{lock}", body)) == "ParentResourceNotFound"
    await desk.arm("PUT", WEB, a_model(0))
    await desk.arm("PUT", VNET, a_network())
    for base in (WEB, VNET, GROUP):
        assert (await desk.arm("PUT", f"{base}/{lock}", body)).status_code == 201
        assert (await desk.arm("GET", f"{base}/{lock}")).json()["id"] == f"{base}/{lock}"
    listed = (await desk.arm("GET", f"{VNET}/providers/Microsoft.Authorization/locks")).json()
    assert [each["id"] for each in listed["value"]] == [f"{VNET}/{lock}"]
    assert (await desk.arm("DELETE", f"{VNET}/{lock}")).status_code == 200


async def test_the_subscription_has_resources_of_its_own(desk):
    role = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleAssignments/r"
    assert (await desk.arm("PUT", role, {"properties": {"a": 1}})).status_code == 201
    assert (await desk.arm("GET", role)).json()["properties"]["a"] == 1
    assert (await desk.arm("DELETE", role)).status_code == 200
    missing = await desk.arm("GET", role)
    assert (missing.status_code, code(missing)) == (404, "ResourceNotFound")


async def test_a_type_is_listed_in_a_group_and_everywhere(desk):
    other = GROUP.replace("/Group", "/Other")
    await desk.arm("PUT", other, {"location": "westus"})
    await desk.arm("PUT", VNET, a_network())
    await desk.arm("PUT", VNET.replace("/Group/", "/Other/"), a_network())
    kind = "providers/microsoft.network/VIRTUALNETWORKS"

    async def count(root):
        return len((await desk.arm("GET", f"{root}/{kind}")).json()["value"])

    assert (await count(GROUP), await count(f"/subscriptions/{SUBSCRIPTION}")) == (1, 2)


async def test_a_deletion_is_followed_where_its_clients_look(desk):
    await desk.arm("PUT", VNET, a_network())
    deleted = await desk.arm("DELETE", VNET)

    assert deleted.status_code == 202
    status = await desk.send("GET", deleted.headers["azure-asyncoperation"])
    assert "/providers/Microsoft.Network/locations/westus/operations/" in str(status.url)
    assert status.json()["status"] == "Succeeded"
    assert (await desk.send("GET", deleted.headers["location"])).status_code == 200
    assert (await desk.arm("GET", VNET)).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "expected"),
    [
        (f"{PROVIDERS}/Contoso.Things/boxes/b", {}, 404, "InvalidResourceNamespace"),
        (VNET, {}, 400, "LocationRequired"),
        (VNET, {"location": 7}, 400, "InvalidParameter"),
        (VNET, {"location": "westus", "Location": "x"}, 400, "InvalidRequestContent"),
        (VNET, {"location": "westus", "properties": 1}, 400, "InvalidParameter"),
        (VNET, {"location": "westus", "properties": {"subnets": {}}}, 400, "InvalidParameter"),
        (VNET, {"location": "westus", "properties": {"subnets": [1]}}, 400, "InvalidParameter"),
        (VNET, a_network("a", "A"), 400, "InvalidParameter"),
        (VNET, a_network("a/b"), 400, "InvalidParameter"),
        (VNET, a_network("Providers"), 400, "InvalidParameter"),
        (f"{NET}/virtualNetworks/providers", a_network(), 404, "InvalidResourceType"),
        (f"{NET}/virtualNetworks/-x-", a_network(), 400, "InvalidResourceName"),
        (f"{NET}/virtualNetworks/a%2Fb", a_network(), 400, "InvalidResourceName"),
        (f"{PROVIDERS}/Microsoft.Web/sites/a%3Fb", {}, 400, "InvalidResourceName"),
        (f"{PROVIDERS}/Microsoft.Web/sites/{'x' * 261}", {}, 400, "InvalidResourceName"),
        (f"{PROVIDERS}/Microsoft.Web/si%20tes/a", {}, 400, "InvalidResourceName"),
        (f"{PROVIDERS}/Microsoft.Web{'/a/b' * 9}", {}, 400, "InvalidResourceName"),
        (VNET, {"location": "westus", "kind": "x" * 2**20}, 400, "InvalidRequestContent"),
    ],
)
async def test_what_is_wrong_is_refused_and_changes_nothing(desk, path, body, status, expected):
    before = desk.dump()
    refused = await desk.arm("PUT", path, body)

    assert (refused.status_code, code(refused)) == (status, expected)
    assert desk.dump() == before


async def test_a_resource_stays_where_it_is(desk):
    await desk.arm("PUT", VNET, a_network())
    moved = await desk.arm("PUT", VNET, {**a_network(), "location": "eastus"})

    assert (moved.status_code, code(moved)) == (409, "InvalidResourceLocation")


@pytest.mark.parametrize("path", [VNET, WEB])
async def test_an_empty_segment_does_not_count(desk, path):
    """`az resource show` sends one in the place of a parent."""
    await desk.arm("PUT", path, {"location": "westus", **a_model(0)})
    doubled = path.replace("Microsoft.Network/", "Microsoft.Network//")
    doubled = doubled.replace("Microsoft.Compute/", "Microsoft.Compute//")

    assert (await desk.arm("GET", doubled)).json()["id"] == path


async def test_conditions_are_honoured(desk):
    stale = await desk.arm("PUT", VNET, a_network(), if_match='W/"1"')
    assert (stale.status_code, code(stale)) == (412, "PreconditionFailed")
    assert (await desk.arm("PUT", VNET, a_network(), if_none_match="*")).status_code == 201
    assert (await desk.arm("PUT", VNET, a_network(), if_none_match="*")).status_code == 412
    assert (await desk.arm("PUT", VNET, a_network(), if_match='W/"1"')).status_code == 200
    assert (await desk.arm("PATCH", VNET, {"tags": {}}, if_match='W/"1"')).status_code == 412
    assert (await desk.arm("PATCH", VNET, {"tags": {}}, if_match="*")).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        f"{WEB}/nothing",
        f"{WEB}/nothing/x",
        f"{PROVIDERS}/Microsoft.Resources/tags/default",
        f"{PROVIDERS}/Microsoft.Compute/locations/x",
        f"{VNET}/providers/Microsoft.Maintenance/scheduledevents/x",
    ],
)
async def test_types_that_somebody_looks_after_are_never_kept_as_given(desk, path):
    for method in ("GET", "PUT", "DELETE", "POST"):
        answer = await desk.arm(method, path, {} if method == "PUT" else None)
        assert (answer.status_code, code(answer)) == (404, "InvalidResourceType")


async def test_a_list_takes_no_writes_and_a_resource_no_posts(desk):
    listed, posted = (
        await desk.arm("PUT", f"{NET}/virtualNetworks", {}),
        await desk.arm("POST", VNET),
    )

    assert (listed.status_code, listed.headers["allow"]) == (405, "GET, HEAD")
    assert posted.status_code == 405
    assert posted.headers["allow"] == "DELETE, GET, HEAD, PATCH, PUT"
    assert (await desk.arm("PUT", f"{WEB}/instanceView", {})).headers["allow"] == "GET, HEAD"


async def test_a_type_that_compute_has_not_is_a_slip_of_the_pen(desk):
    path = f"{ROOT}/virtualMachineScaleSet/web"
    for method in ("PUT", "GET", "DELETE"):
        answer = await desk.arm(method, path, {"location": "westus"} if method == "PUT" else None)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "InvalidResourceType"
    disk = await desk.arm("PUT", f"{ROOT}/disks/d", {"location": "westus", "properties": {}})
    assert disk.status_code in (200, 201)
