"""Network interfaces and public addresses of instances, made up from the model."""

import pytest

from tests.web.desk import WEB, a_model

ONE = f"{WEB}/virtualMachines/0"
POOL = {"id": "/pools/one"}
PUBLIC = {"name": "pub", "properties": {"idleTimeoutInMinutes": 15}}
NETWORK = {
    "networkInterfaceConfigurations": [
        {
            "name": "front",
            "properties": {
                "primary": True,
                "enableAcceleratedNetworking": True,
                "networkSecurityGroup": {"id": "/groups/one"},
                "ipConfigurations": [
                    {
                        "name": "ip",
                        "properties": {
                            "subnet": {"id": "/subnets/one"},
                            "loadBalancerBackendAddressPools": [POOL],
                            "publicIPAddressConfiguration": PUBLIC,
                        },
                    },
                    {"name": "second", "properties": {}},
                ],
            },
        },
        {"name": "back", "properties": {"ipConfigurations": [{"name": "ip"}]}},
    ]
}


@pytest.fixture
async def net(desk):
    await desk.arm("PUT", WEB, a_model(2, networkProfile=NETWORK))
    return desk


async def get(desk, path):
    answer = await desk.arm("GET", path, version="2018-10-01")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_an_interface_has_the_addresses_of_its_instance(net):
    shown = (await get(net, f"{ONE}/networkInterfaces"))["value"]

    assert [entry["name"] for entry in shown] == ["front", "back"]
    front = shown[0]
    assert front["id"] == f"{ONE}/networkInterfaces/front"
    properties = front["properties"]
    assert properties["primary"] is True
    assert properties["virtualMachine"] == {"id": ONE}
    assert properties["networkSecurityGroup"] == {"id": "/groups/one"}
    assert properties["macAddress"] == "00-0D-3A-00-00-01"
    first = properties["ipConfigurations"][0]["properties"]
    assert first["privateIPAddress"] == "10.0.0.1"
    assert first["subnet"] == {"id": "/subnets/one"}
    assert first["loadBalancerBackendAddressPools"] == [POOL]
    addresses = [
        address["properties"]["privateIPAddress"]
        for entry in shown
        for address in entry["properties"]["ipConfigurations"]
    ]
    assert len(set(addresses)) == 3
    assert await get(net, f"{ONE}/networkInterfaces/FRONT") == front


async def test_the_instance_refers_to_its_interfaces(net):
    shown = (await net.arm("GET", ONE)).json()["properties"]["networkProfile"]

    assert shown["networkInterfaces"] == [
        {"id": f"{ONE}/networkInterfaces/front", "properties": {"primary": True}},
        {"id": f"{ONE}/networkInterfaces/back", "properties": {"primary": False}},
    ]


async def test_a_public_address_is_found_on_every_way_to_it(net):
    address = f"{ONE}/networkInterfaces/front/ipConfigurations/ip"
    everything = (await get(net, f"{WEB}/publicipaddresses"))["value"]
    path = f"{address}/publicIPAddresses/pub"

    assert [entry["properties"]["ipAddress"] for entry in everything] == [
        "198.18.0.1",
        "198.18.0.2",
    ]
    assert everything[0]["id"] == path
    assert everything[0]["properties"]["idleTimeoutInMinutes"] == 15
    assert await get(net, path) == everything[0]
    assert await get(net, f"{address}/publicipaddresses") == {"value": [everything[0]]}
    shown = await get(net, address)
    assert shown["properties"]["publicIPAddress"] == {"id": path}
    assert await get(
        net, f"{ONE}/networkInterfaces/back/ipConfigurations/ip/publicIPAddresses"
    ) == {"value": []}


async def test_a_zonal_instance_has_its_addresses_in_its_zone(desk):
    await desk.arm("PUT", WEB, a_model(1, networkProfile=NETWORK) | {"zones": ["2"]})

    (shown,) = (await get(desk, f"{WEB}/publicIPAddresses"))["value"]
    assert shown["zones"] == ["2"]


async def test_a_set_lists_the_interfaces_of_all_its_instances(net):
    listed = (await get(net, f"{WEB}/networkInterfaces"))["value"]

    assert len(listed) == 4
    assert {entry["properties"]["virtualMachine"]["id"] for entry in listed} == {
        ONE,
        f"{WEB}/virtualMachines/1",
    }


async def test_without_a_network_there_is_nothing_to_list(web):
    assert await get(web, f"{WEB}/networkInterfaces") == {"value": []}
    assert "networkProfile" not in (await web.arm("GET", ONE)).json()["properties"]


@pytest.mark.parametrize(
    "path",
    [
        "networkInterfaces/nope",
        "networkInterfaces/nope/ipConfigurations",
        "networkInterfaces/front/ipConfigurations/nope",
        "networkInterfaces/front/ipConfigurations/nope/publicIPAddresses",
        "networkInterfaces/front/ipConfigurations/second/publicIPAddresses/pub",
        "networkInterfaces/nope/ipConfigurations/ip/publicIPAddresses/pub",
    ],
)
async def test_what_is_not_there_is_a_404(net, path):
    answer = await net.arm("GET", f"{ONE}/{path}")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NotFound"
