"""Our own description: the routes are what it says."""

import json
import re
from pathlib import Path

import pytest

from lastcall.web.admin.clock import Advance
from tests.web.desk import OURS

DATA = Path(__file__).parents[3] / "shared/spec/data"
VENDOR = DATA / "arm_compute_2024-07-01_virtualMachineScaleSet.json"
# What is described in several files, the first of them counts.
DESCRIPTIONS = (
    VENDOR,
    DATA / "arm_compute_2019-03-01_compute.json",
    DATA / "maintenance_2023-10-01-preview.json",
    DATA / "insights_2022-10-01_autoscale.json",
)
# What later descriptions have, and those of cloud services, which are not beside this repository.
UNDESCRIBED = re.compile(
    r".*(/cloudservices.*|/scheduledevents|/microsoft.insights/metrics|/virtualmachines/\{\}/(assesspatches|runcommand|reapply"
    r"|attachdetachdatadisks|installpatches|migratetovmscaleset|retrievebootdiagnosticsdata"
    r"|simulateeviction))"
)
COMPUTED = re.compile(
    r"microsoft.compute/(virtualmachines|availabilitysets|cloudservices)\b"
    r"|microsoft.insights/autoscalesettings\b"
)
OWN = ("/lastcall/", "/healthz", "/readyz")
NAME = re.compile(r"\{[^}]*\}")


def normal(path):
    return NAME.sub("{}", path).lower()


async def test_our_description_has_exactly_the_routes_that_are_answered(desk):
    described = (await desk.send("GET", f"{OURS}/openapi.json")).json()
    ours = {(r.path, r.method) for r in desk.routes if r.path.startswith(OWN)}

    assert described["openapi"].startswith("3.1")
    assert ours == {
        (path, method.upper()) for path, item in described["paths"].items() for method in item
    }


async def test_our_description_resolves_and_names_every_field(desk):
    described = (await desk.send("GET", f"{OURS}/openapi.json")).json()
    schemas = described["components"]["schemas"]

    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert references <= schemas.keys()
    assert set(schemas["Advance"]["properties"]) == set(Advance.__struct_fields__)
    assert schemas["Advance"]["additionalProperties"] is False


async def test_what_is_answered_is_what_is_described(web):
    described = (await web.send("GET", f"{OURS}/openapi.json")).json()
    schemas = described["components"]["schemas"]
    await web.send("POST", f"{OURS}/events", {"type": "Freeze", "instances": ["web_0"]})

    for name in ("Event", "Instance", "Scope", "Line"):
        path = "history" if name == "Line" else f"{name.lower()}s"
        shown = (await web.send("GET", f"{OURS}/{path}")).json()["value"]
        schema = schemas[name if name == "Line" else f"{name}View"]
        assert all(entry.keys() == schema["properties"].keys() for entry in shown)
        assert shown


@pytest.mark.skipif(not DATA.exists(), reason="the vendor's OpenAPI file is not here")
async def test_our_control_plane_is_part_of_the_vendors(desk):
    paths = {
        normal(path): item
        for description in reversed(DESCRIPTIONS)
        for path, item in json.loads(description.read_text())["paths"].items()
    }

    for route in desk.routes:
        path = normal(route.path)
        if COMPUTED.search(path):
            if path not in paths:
                assert UNDESCRIBED.fullmatch(path), path
                continue
            declared = paths[path][route.method.lower()]["responses"]
            assert {str(status) for status in route.answers} <= declared.keys()
