"""Subscriptions, regions, providers, features, sizes, images: what clients look up first."""

import pytest

from tests.web.desk import SUBSCRIPTION, TENANT, WEB, a_model

ROOT = f"/subscriptions/{SUBSCRIPTION}"
COMPUTE = f"{ROOT}/providers/Microsoft.Compute"
HERE = f"{COMPUTE}/locations/westus"
FEATURE = f"{ROOT}/providers/Microsoft.Features/providers/Microsoft.Compute/features/Fast"
SKUS = f"{HERE}/publishers/Canonical/artifacttypes/vmimage/offers/UbuntuServer/skus"


async def value(desk, path):
    answer = await desk.arm("GET", path)
    assert answer.status_code == 200, answer.text
    return answer.json()["value"]


async def test_there_is_one_subscription_of_one_tenant(desk):
    (listed,) = await value(desk, "/subscriptions")
    (tenant,) = await value(desk, "/tenants")

    assert listed["id"] == ROOT
    assert (listed["subscriptionId"], listed["state"]) == (SUBSCRIPTION, "Enabled")
    assert listed["tenantId"] == tenant["tenantId"] == TENANT
    assert (await desk.arm("GET", ROOT)).json() == listed
    other = await desk.arm("GET", "/subscriptions/00000000-0000-0000-0000-000000000002")
    assert (other.status_code, other.json()["error"]["code"]) == (404, "SubscriptionNotFound")


async def test_regions_have_names_zones_and_partners(desk):
    regions = {each["name"]: each for each in await value(desk, f"{ROOT}/locations")}
    east, west = regions["eastus2"], regions["westus"]

    assert len(regions) > 50
    assert east["displayName"] == "East US 2"
    assert east["metadata"]["pairedRegion"] == [
        {"name": "centralus", "id": f"{ROOT}/locations/centralus"}
    ]
    assert [zone["logicalZone"] for zone in east["availabilityZoneMappings"]] == ["1", "2", "3"]
    assert "availabilityZoneMappings" not in west
    for each in regions.values():
        for paired in each["metadata"]["pairedRegion"]:
            if paired["name"] != "swedensouth":  # Open to whoever has asked for it only.
                assert paired["name"] in regions


async def test_providers_are_registered_until_somebody_says_otherwise(desk):
    listed = {each["namespace"] for each in await value(desk, f"{ROOT}/providers")}
    shown = (await desk.arm("GET", f"{ROOT}/providers/microsoft.compute")).json()
    sets = next(
        each for each in shown["resourceTypes"] if each["resourceType"] == "virtualMachineScaleSets"
    )
    assert {"Microsoft.Compute", "Microsoft.Network", "Microsoft.Resources"} <= listed
    assert (shown["id"], shown["registrationState"]) == (COMPUTE, "Registered")
    assert sets["apiVersions"][0] > sets["apiVersions"][-1]
    assert "West US" in sets["locations"]

    left = (await desk.arm("POST", f"{COMPUTE}/unregister")).json()
    assert left["registrationState"] == "Unregistered"
    assert (await desk.arm("GET", COMPUTE)).json() == left
    assert (await desk.arm("POST", f"{COMPUTE}/register")).json() == shown

    unknown = await desk.arm("GET", f"{ROOT}/providers/Contoso.Things")
    assert unknown.json()["error"]["code"] == "InvalidResourceNamespace"


async def test_features_are_remembered(desk):
    fresh = (await desk.arm("GET", FEATURE)).json()
    assert (fresh["name"], fresh["properties"]["state"]) == (
        "Microsoft.Compute/Fast",
        "NotRegistered",
    )
    everywhere = f"{ROOT}/providers/Microsoft.Features/features"
    assert await value(desk, everywhere) == []
    registered = (await desk.arm("POST", f"{FEATURE}/register")).json()
    assert registered["properties"]["state"] == "Registered"
    assert (await desk.arm("GET", FEATURE)).json()["properties"]["state"] == "Registered"
    assert len(await value(desk, everywhere)) == 1
    assert len(await value(desk, FEATURE.rpartition("/")[0])) == 1
    assert await value(desk, FEATURE.replace("Compute", "Network").rpartition("/")[0]) == []


async def test_sizes_say_what_a_machine_has(desk):
    sizes = {each["name"]: each for each in await value(desk, f"{HERE}/vmSizes")}

    assert sizes["Standard_D4s_v5"] == {
        "name": "Standard_D4s_v5",
        "numberOfCores": 4,
        "osDiskSizeInMB": 1047552,
        "resourceDiskSizeInMB": 0,
        "memoryInMB": 16384,
        "maxDataDiskCount": 8,
    }
    assert {"Standard_DS1_v2", "Standard_B2s", "Standard_F2s_v2", "Standard_E2s_v5"} <= sizes.keys()


async def test_skus_can_be_asked_of_one_region(desk):
    path = f"{COMPUTE}/skus?$filter=location eq 'EastUS'"
    skus = {each["name"]: each for each in await value(desk, path)}
    size = skus["Standard_D4s_v5"]

    assert size["locations"] == ["eastus"]
    assert size["locationInfo"][0]["zones"] == ["1", "2", "3"]
    assert {"name": "vCPUs", "value": "4"} in size["capabilities"]
    assert {"name": "MemoryGB", "value": "16"} in size["capabilities"]
    assert {"name": "PremiumIO", "value": "True"} in size["capabilities"]
    wrong = await desk.arm("GET", f"{COMPUTE}/skus?$filter=colour eq 'red'")
    assert wrong.json()["error"]["code"] == "InvalidFilterInQueryString"


async def test_usages_count_what_there_is(desk):
    await desk.arm("PUT", WEB, a_model(3))
    used = {
        each["name"]["value"]: each["currentValue"] for each in await value(desk, f"{HERE}/usages")
    }

    assert used == {
        "availabilitySets": 0,
        "cores": 6,
        "virtualMachines": 3,
        "virtualMachineScaleSets": 1,
    }


@pytest.mark.parametrize("what", ["vmSizes", "usages", "publishers"])
async def test_a_region_that_does_not_exist_has_nothing(desk, what):
    answer = await desk.arm("GET", f"{COMPUTE}/locations/atlantis/{what}")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "NoRegisteredProviderFound"


async def test_images_are_found_as_the_azure_cli_looks_for_them(desk):
    query = "$expand=properties&$orderby=name desc&$top=1"
    (latest,) = (await desk.arm("GET", f"{SKUS}/18.04-LTS/versions?{query}")).json()
    image = (await desk.arm("GET", f"{SKUS}/18.04-LTS/versions/{latest['name']}")).json()

    assert latest["name"].startswith("18.04.")
    assert latest["id"] == f"{SKUS}/18.04-LTS/versions/{latest['name']}"
    assert image == latest
    assert image["properties"]["osDiskImage"]["operatingSystem"] == "Linux"
    assert "hyperVGeneration" not in image["properties"]
    (bare,) = (await desk.arm("GET", f"{SKUS}/18.04-LTS/versions")).json()
    assert "properties" not in bare


async def test_known_images_are_listed_and_any_other_exists_too(desk):
    publishers = [each["name"] for each in (await desk.arm("GET", f"{HERE}/publishers")).json()]
    assert publishers == sorted(publishers)
    assert {"Canonical", "Debian", "MicrosoftWindowsServer"} <= set(publishers)
    offers = (await desk.arm("GET", SKUS.rpartition("/UbuntuServer")[0])).json()
    assert "UbuntuServer" in [each["name"] for each in offers]
    assert [each["name"] for each in (await desk.arm("GET", SKUS)).json()] == ["18.04-LTS"]
    turned = [
        each["name"]
        for each in (await desk.arm("GET", f"{HERE}/publishers?$orderby=name desc")).json()
    ]
    assert turned == publishers[::-1]

    own = SKUS.replace("Canonical", "MyWindowsShop").replace("UbuntuServer", "desk")
    pinned = (await desk.arm("GET", f"{own}/any/versions/7.7.7")).json()
    assert pinned["name"] == "7.7.7"
    assert pinned["properties"]["osDiskImage"]["operatingSystem"] == "Windows"
    wrong = await desk.arm("GET", f"{HERE}/publishers?$orderby=colour")
    assert wrong.json()["error"]["target"] == "$orderby"


async def test_aliases_need_no_version_and_stand_for_images(desk):
    document = (await desk.send("GET", "/aliases.json")).json()
    aliases = document["outputs"]["aliases"]["value"]

    assert aliases["Linux"]["UbuntuLTS"]["publisher"] == "Canonical"
    assert aliases["Windows"]["Win2019Datacenter"]["sku"] == "2019-Datacenter"
    assert {"Ubuntu2204", "Debian11", "Debian12", "CentOS"} <= aliases["Linux"].keys()
