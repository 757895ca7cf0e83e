"""If-Match and If-None-Match: the same for everything that can be written (R100)."""

import pytest

from tests.web.desk import GROUP, ROOT, VERSION, WEB, with_notice
from tests.web.machines import AVAILABILITY, SERVICE, VM, a_service, a_vm
from tests.web.settings import AUTO, INSIGHTS, a_setting

NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net"
HERE = {"location": "westus"}
KINDS = {
    "group": (GROUP.replace("/Group", "/Other"), HERE, VERSION),
    "scale set": (f"{ROOT}/virtualMachineScaleSets/other", with_notice(), VERSION),
    "machine": (VM, a_vm(), VERSION),
    "availability set": (AVAILABILITY, HERE, VERSION),
    "cloud service": (SERVICE, a_service(Web=1), VERSION),
    "autoscale setting": (AUTO, a_setting(), INSIGHTS),
    "network": (NETWORK, HERE, VERSION),
    "subnet": (f"{NETWORK}/subnets/a", {"properties": {"addressPrefix": "10.0.0.0/24"}}, VERSION),
}


@pytest.fixture(params=KINDS)
async def write(web, request):
    """Write one resource, under conditions, and return the status."""
    path, body, version = KINDS[request.param]
    if request.param == "subnet":
        await web.arm("PUT", NETWORK, HERE)

    async def write(**conditions):
        return (await web.arm("PUT", path, body, version, **conditions)).status_code

    return write


async def number(write):
    """Return what is between the quotes of an etag, found out by trying."""
    for tried in range(1, 9):
        if await write(if_match=f'"{tried}"') == 200:
            return tried + 1
    raise AssertionError("No etag was taken.")


async def test_what_is_not_there_matches_nothing(write):
    for etag in ("*", '"1"', 'W/"1"'):
        assert await write(if_match=etag) == 412
    assert await write(if_none_match="*") in (200, 201)


async def test_what_is_there_is_not_made_again(write):
    await write()

    assert await write(if_none_match="*") == 412
    assert await write(if_none_match=" * ") == 412


async def test_only_the_latest_etag_matches_weak_or_strong(write):
    await write()
    latest = await number(write)

    for stale in (f'"{latest - 1}"', f'W/"{latest - 1}"', '"x"', "", '""', "W/", f'"{latest}'):
        assert await write(if_match=stale) == 412, stale
    for etag in (f'"{latest}"', f'W/"{latest + 1}"', f"{latest + 2}", "*"):
        assert await write(if_match=etag) == 200, etag


@pytest.mark.parametrize("value", ['"1"', 'W/"1"', "", "**"])
async def test_other_values_of_if_none_match_are_refused(web, value):
    paths = {name: path for name, (path, _, _) in KINDS.items()}
    paths["instance"] = f"{WEB}/virtualMachines/0"
    before = web.dump()
    for name, path in paths.items():
        _, body, version = KINDS.get(name, (path, {}, VERSION))
        answer = await web.arm("PUT", path, body, version, if_none_match=value)
        assert answer.status_code == 400, name
        assert answer.json()["error"]["target"] == "If-None-Match", name
    assert web.dump() == before


async def test_a_weak_etag_of_an_instance_matches_too(web):
    instance = f"{WEB}/virtualMachines/0"
    etag = (await web.arm("GET", instance)).headers["etag"]

    assert (await web.arm("PUT", instance, {}, if_match=f"W/{etag}")).status_code == 200
    assert (await web.arm("PUT", instance, {}, if_match=f"W/{etag}")).status_code == 412
    assert (await web.arm("PUT", instance, {}, if_none_match="*")).status_code == 412


@pytest.mark.parametrize("path", [GROUP, AUTO])
async def test_a_patch_has_conditions_too(web, path):
    await web.arm("PUT", AUTO, a_setting(), INSIGHTS)
    version = INSIGHTS if path == AUTO else VERSION

    for conditions, status in (
        ({"if_match": '"1"'}, 200),
        ({"if_match": '"1"'}, 412),
        ({"if_none_match": "*"}, 412),
        ({"if_match": 'W/"2"'}, 200),
    ):
        answer = await web.arm("PATCH", path, {"tags": {"a": "b"}}, version, **conditions)
        assert answer.status_code == status
