"""All resources in one list: sets, networks and the rest, filtered and in pages."""

import pytest

from tests.web.desk import GROUP, SUBSCRIPTION, WEB, a_desk, a_model

NET = f"{GROUP}/providers/Microsoft.Network"
OTHER = GROUP.replace("/Group", "/Other")


@pytest.fixture
async def full():
    async with a_desk() as desk:
        await desk.arm("PUT", OTHER, {"location": "westus"})
        await desk.arm("PUT", WEB, {**a_model(1), "tags": {"team": "a"}})
        body = {"location": "eastus", "tags": {"team": "b"}, "properties": {"subnets": []}}
        await desk.arm("PUT", f"{NET}/virtualNetworks/net", body)
        await desk.arm("PUT", f"{NET}/publicIPAddresses/ip", {"location": "westus"})
        elsewhere = f"{OTHER}/providers/Microsoft.Network/virtualNetworks/far"
        await desk.arm("PUT", elsewhere, {"location": "westus"})
        lock = f"{GROUP}/providers/Microsoft.Authorization/locks/keep"
        await desk.arm("PUT", lock, {})
        yield desk


async def names(desk, path):
    listed = await desk.arm("GET", path)
    assert listed.status_code == 200, listed.text
    return [each["name"] for each in listed.json()["value"]]


async def test_everything_that_has_a_place_is_listed(full):
    assert await names(full, f"{GROUP}/resources") == ["web", "ip", "net"]
    everywhere = f"/subscriptions/{SUBSCRIPTION}/resources"
    assert await names(full, everywhere) == ["web", "ip", "net", "far"]
    shown = (await full.arm("GET", f"{GROUP}/resources")).json()["value"][0]
    assert shown == {
        "id": WEB,
        "name": "web",
        "type": "Microsoft.Compute/virtualMachineScaleSets",
        "location": "westus",
        "tags": {"team": "a"},
        "sku": {"name": "Standard_D2s_v5", "capacity": 1, "tier": "Standard"},
    }


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("resourceType eq 'microsoft.network/virtualnetworks'", ["net"]),
        ("resourceType eq 'Microsoft.Compute/virtualMachineScaleSets'", ["web"]),
        ("name eq 'NET'", ["net"]),
        ("name ne 'net'", ["web", "ip"]),
        ("substringof('e', name)", ["web", "net"]),
        ("location eq 'eastus'", ["net"]),
        ("tagName eq 'team'", ["web", "net"]),
        ("tagName eq 'team' and tagValue eq 'a'", ["web"]),
        ("tagName eq 'team' AND name eq 'net'", ["net"]),
        ("resourceGroup eq 'group'", ["web", "ip", "net"]),
        ("name eq 'o''clock'", []),
        ("", ["web", "ip", "net"]),
    ],
)
async def test_a_filter_lets_pass_what_it_names(full, wanted, expected):
    assert await names(full, f"{GROUP}/resources?$filter={wanted}") == expected


@pytest.mark.parametrize(
    "wrong",
    [
        "name",
        "name eq net",
        "name eq 'a' or name eq 'b'",
        "colour eq 'x'",
        "name eq 'a' and",
        "x" * 5000,
    ],
)
async def test_a_filter_that_nobody_understands_is_refused(full, wrong):
    refused = await full.arm("GET", f"{GROUP}/resources?$filter={wrong}")

    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "InvalidFilterInQueryString"


async def test_a_long_list_comes_in_pages_that_keep_the_filter(full):
    first = (await full.arm("GET", f"{GROUP}/resources?$top=1&$filter=name ne 'ip'")).json()
    second = (await full.send("GET", first["nextLink"])).json()

    assert [each["name"] for each in first["value"] + second["value"]] == ["web", "net"]
    assert "nextLink" not in second
    refused = await full.arm("GET", f"{GROUP}/resources?$top=0")
    assert refused.json()["error"]["target"] == "$top"
