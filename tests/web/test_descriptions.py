"""Our own description: the routes are what it says."""

import json
import re

from lastcall.web.admin.clock import Advance
from tests.web.desk import OURS


async def test_our_description_has_exactly_the_routes_that_are_answered(desk):
    described = (await desk.send("GET", f"{OURS}/openapi.json")).json()
    ours = {(r.path, r.method) for r in desk.routes if not r.path.startswith("/subscriptions")}

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
