"""Resource groups over HTTP: made, tagged, listed, and deleted with everything in them."""

from datetime import timedelta

import pytest

from tests.web.desk import GROUP, SETS, SUBSCRIPTION, VERSION, WEB, a_desk, a_model, with_notice
from tests.web.machines import AVAILABILITY, VM
from tests.web.machines import with_notice as machine_with_notice

OTHER = GROUP.replace("/Group", "/Other")
ALL = f"/subscriptions/{SUBSCRIPTION}/resourceGroups"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net"
NOTICE = timedelta(minutes=10)


async def follow(desk, answer):
    return await desk.send("GET", answer.headers["location"])


def code(answer):
    return answer.json()["error"]["code"]


async def test_a_group_is_new_once_and_keeps_its_first_spelling(desk):
    body = {"location": "West Europe", "tags": {"a": "b"}, "managedBy": "/x"}
    made = await desk.arm("PUT", OTHER, body)
    again = await desk.arm("PUT", OTHER.lower(), {"location": "westeurope"})

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == {
        "id": OTHER,
        "name": "Other",
        "type": "Microsoft.Resources/resourceGroups",
        "location": "westeurope",
        "tags": {"a": "b"},
        "managedBy": "/x",
        "properties": {"provisioningState": "Succeeded"},
    }
    assert again.json()["id"] == OTHER
    assert "tags" not in again.json()
    assert (await desk.arm("GET", OTHER.upper())).json() == again.json()


async def test_a_group_needs_a_location_that_exists_and_keeps_it(desk):
    nowhere = await desk.arm("PUT", OTHER, {"tags": {}})
    unknown = await desk.arm("PUT", OTHER, {"location": "atlantis"})
    moved = await desk.arm("PUT", GROUP, {"location": "eastus"})

    assert (nowhere.status_code, code(nowhere)) == (400, "LocationRequired")
    assert (unknown.status_code, code(unknown)) == (400, "LocationNotAvailableForResourceGroup")
    assert (moved.status_code, code(moved)) == (409, "InvalidResourceGroupLocation")
    assert "'westus'" in moved.json()["error"]["message"]
    assert (await desk.arm("GET", OTHER)).status_code == 404


@pytest.mark.parametrize("name", ["ends.", "a b", "a%2Fb", "x" * 91, "a$"])
async def test_a_group_cannot_have_just_any_name(desk, name):
    refused = await desk.arm("PUT", f"{ALL}/{name}", {"location": "westus"})

    assert (refused.status_code, code(refused)) == (400, "InvalidResourceGroup")


@pytest.mark.parametrize(
    "tags", [[], "x", {"a": 1}, {"": "x"}, {"a": "x" * 257}, {str(n): "" for n in range(51)}]
)
async def test_tags_are_a_few_short_texts(desk, tags):
    refused = await desk.arm("PATCH", GROUP, {"tags": tags})

    assert (refused.status_code, code(refused)) == (400, "InvalidParameter")


async def test_patch_changes_tags_and_nothing_else(desk):
    changed = await desk.arm("PATCH", GROUP, {"tags": {"a": "b"}, "location": "eastus"})
    missing = await desk.arm("PATCH", OTHER, {"tags": {"a": "b"}})

    assert (changed.json()["tags"], changed.json()["location"]) == ({"a": "b"}, "westus")
    assert (missing.status_code, code(missing)) == (404, "ResourceGroupNotFound")


async def test_head_says_whether_a_group_exists(desk):
    there, gone = await desk.arm("HEAD", GROUP), await desk.arm("HEAD", OTHER)

    assert (there.status_code, there.content) == (204, b"")
    assert (gone.status_code, gone.content) == (404, b"")


async def test_groups_are_listed_by_tag_and_in_pages(desk):
    for number in range(3):
        tags = {"team": f"t{number}"}
        await desk.arm("PUT", f"{ALL}/g{number}", {"location": "westus", "tags": tags})

    async def names(query):
        return [each["name"] for each in (await desk.arm("GET", f"{ALL}{query}")).json()["value"]]

    assert await names("") == ["g0", "g1", "g2", "Group"]
    assert await names("?$filter=tagName eq 'TEAM'") == ["g0", "g1", "g2"]
    assert await names("?$filter=tagName eq 'team' and tagValue eq 't1'") == ["g1"]
    page = (await desk.arm("GET", f"{ALL}?$top=3")).json()
    following = (await desk.send("GET", page["nextLink"])).json()
    both = [each["name"] for each in page["value"] + following["value"]]
    assert both == ["g0", "g1", "g2", "Group"]
    assert "nextLink" not in following


async def test_what_is_addressed_in_a_group_that_is_not_there_says_so(desk):
    elsewhere = WEB.replace("/Group/", "/Other/")
    requests = [
        ("GET", OTHER, None),
        ("DELETE", OTHER, None),
        ("GET", f"{OTHER}/resources", None),
        ("GET", SETS.replace("/Group/", "/Other/"), None),
        ("PUT", elsewhere, a_model(1)),
        ("PATCH", elsewhere, {"tags": {}}),
        ("GET", elsewhere, None),
        ("DELETE", elsewhere, None),
        ("POST", f"{elsewhere}/restart", None),
        ("GET", f"{elsewhere}/virtualMachines", None),
        ("GET", f"{elsewhere}/virtualMachines/0", None),
        ("DELETE", f"{elsewhere}/virtualMachines/0", None),
        ("PUT", NETWORK.replace("/Group/", "/Other/"), {"location": "westus"}),
        ("GET", NETWORK.replace("/Group/", "/Other/"), None),
        ("DELETE", NETWORK.replace("/Group/", "/Other/"), None),
        ("GET", NETWORK.replace("/Group/", "/Other/").rpartition("/")[0], None),
    ]
    for method, path, body in requests:
        before = desk.dump()
        answer = await desk.send(method, f"{path}?api-version={VERSION}", body)
        assert answer.status_code == 404, (method, path)
        assert answer.json()["error"] == {
            "code": "ResourceGroupNotFound",
            "message": "Resource group 'Other' could not be found.",
        }
        assert desk.dump() == before


async def test_an_empty_group_is_gone_at_once(desk):
    await desk.arm("PUT", NETWORK, {"location": "westus"})
    deleted = await desk.arm("DELETE", GROUP)

    assert deleted.status_code == 202
    assert deleted.content == b""
    assert "azure-asyncoperation" not in deleted.headers
    assert deleted.headers["retry-after"] == "1"
    assert f"/subscriptions/{SUBSCRIPTION}/operationresults/" in deleted.headers["location"]
    assert (await follow(desk, deleted)).status_code == 200
    assert (await desk.arm("GET", GROUP)).status_code == 404
    await desk.arm("PUT", GROUP, {"location": "westus"})
    assert (await desk.arm("GET", NETWORK)).status_code == 404


async def test_a_group_goes_when_its_machines_have_had_their_notices(web):
    empty = f"{SETS}/empty"
    await web.arm("PUT", empty, a_model(0))
    await web.arm("PUT", NETWORK, {"location": "westus"})
    deleted = await web.arm("DELETE", GROUP)
    running = await follow(web, deleted)

    assert (running.status_code, running.headers["location"]) == (202, deleted.headers["location"])
    assert running.headers["retry-after"] == "1"
    shown = (await web.arm("GET", GROUP)).json()
    assert shown["properties"]["provisioningState"] == "Deleting"
    assert (await web.arm("GET", NETWORK)).status_code == 200
    events = (await web.send("GET", "/lastcall/v1/events")).json()["value"]
    assert {event["type"] for event in events} == {"Terminate"}

    await web.settle(NOTICE)

    assert (await follow(web, deleted)).status_code == 200
    for gone in (GROUP, WEB, empty, NETWORK):
        answer = await web.arm("GET", gone)
        assert (answer.status_code, code(answer)) == (404, "ResourceGroupNotFound")


async def test_a_group_on_its_way_out_takes_nothing_in(web):
    await web.arm("PUT", NETWORK, {"location": "westus"})
    await web.arm("DELETE", GROUP)
    for method, path, body in [
        ("PUT", GROUP, {"location": "westus"}),
        ("PATCH", GROUP, {"tags": {}}),
        ("PUT", WEB, with_notice()),
        ("PATCH", WEB, {"tags": {"a": "b"}}),
        ("PUT", f"{SETS}/new", a_model(1)),
        ("PUT", NETWORK, {"location": "westus"}),
        ("PATCH", NETWORK, {"tags": {}}),
    ]:
        before = web.dump()
        refused = await web.send(method, f"{path}?api-version={VERSION}", body)
        assert (refused.status_code, code(refused)) == (409, "ResourceGroupBeingDeleted")
        assert "'Group'" in refused.json()["error"]["message"]
        assert web.dump() == before


async def test_a_second_deletion_follows_the_first(web):
    first, second = await web.arm("DELETE", GROUP), await web.arm("DELETE", GROUP)

    assert first.headers["location"] == second.headers["location"]


@pytest.mark.parametrize("is_second", [False, True])
async def test_forced_types_go_without_notice(web, is_second):
    if is_second:
        await web.arm("DELETE", GROUP)
    types = "Microsoft.Compute/virtualMachines,Microsoft.Compute/virtualMachineScaleSets"
    deleted = await web.arm("DELETE", f"{GROUP}?forceDeletionTypes={types}")

    assert (await follow(web, deleted)).status_code == 200
    assert (await web.arm("GET", GROUP)).status_code == 404


@pytest.mark.parametrize("is_second", [False, True])
@pytest.mark.parametrize("kind", ["virtualMachines", "availabilitySets"])
async def test_machines_outside_of_sets_are_forced_too(desk, kind, is_second):
    together = {"availabilitySet": {"id": AVAILABILITY}} if kind == "availabilitySets" else {}
    if together:
        await desk.arm("PUT", AVAILABILITY, {"location": "westus"})
    await desk.arm("PUT", VM, machine_with_notice(**together))
    await desk.watch()
    if is_second:
        waiting = await desk.arm("DELETE", GROUP)
        assert (await follow(desk, waiting)).status_code == 202
    deleted = await desk.arm("DELETE", f"{GROUP}?forceDeletionTypes=Microsoft.Compute/{kind}")

    assert (await follow(desk, deleted)).status_code == 200
    assert (await desk.arm("GET", GROUP)).status_code == 404


async def test_other_groups_stay_when_one_goes(web):
    await web.arm("PUT", OTHER, {"location": "westus"})
    theirs = WEB.replace("/Group/", "/Other/")
    await web.arm("PUT", theirs, a_model(1))
    await web.arm("DELETE", GROUP)
    await web.settle(NOTICE)

    assert (await web.arm("GET", theirs)).status_code == 200
    assert (await web.arm("GET", GROUP)).status_code == 404


async def test_nobody_knows_an_operation_that_never_was(desk):
    results = f"/subscriptions/{SUBSCRIPTION}/operationresults"
    answer = await desk.arm("GET", f"{results}/00000000-0000-0000-0000-000000000009")

    assert (answer.status_code, code(answer)) == (404, "NotFound")


async def test_a_resource_cannot_pass_for_a_group():
    async with a_desk() as desk:
        await desk.arm("PUT", NETWORK, {"location": "westus"})
        disguised = NETWORK.removeprefix(f"{ALL}/").replace("/", "%2F")
        for method in ("GET", "DELETE"):
            assert (await desk.arm(method, f"{ALL}/{disguised}")).status_code == 404
        assert (await desk.arm("GET", NETWORK)).status_code == 200
