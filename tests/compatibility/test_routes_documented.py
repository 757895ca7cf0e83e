"""Every route that is answered stands in docs/api.md, and no other."""

import re
from pathlib import Path

from tests.web.desk import a_desk

API = Path(__file__).parents[2] / "docs" / "api.md"
ROW = re.compile(r"^\| (GET|PUT|PATCH|POST|DELETE) \| `([^`]+)` \|", re.MULTILINE)
GROUP = "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute"
SHORT = {
    "{sets}": f"{GROUP}/virtualMachineScaleSets",
    "{vms}": f"{GROUP}/virtualMachines",
    "{availabilitySets}": f"{GROUP}/availabilitySets",
    "{services}": f"{GROUP}/cloudServices",
    "{owner}": f"{GROUP.replace('resourceGroups', 'resourcegroups')}/{{resourceType}}/{{resource}}"
    "/providers/Microsoft.Maintenance",
    "{settings}": "{root}/resourceGroups/{group}/providers/Microsoft.Insights/autoscaleSettings",
    "{offers}": "{compute}/locations/{location}/publishers/{publisher}/artifacttypes/vmimage"
    "/offers",
    "{compute}": "{root}/providers/Microsoft.Compute",
    "{features}": "{root}/providers/Microsoft.Features/providers/{namespace}/features",
    "{group}/": "{root}/resourceGroups/{group}/",
    "{root}": "/subscriptions/{subscription}",
}


def documented() -> list[tuple[str, str]]:
    rows = ROW.findall(API.read_text())
    for short, path in SHORT.items():
        rows = [(method, re.sub(f"^{re.escape(short)}", path, written)) for method, written in rows]
    return rows


async def test_every_route_is_documented_once_and_nothing_else_is():
    async with a_desk() as desk:
        answered = [(route.method, route.path) for route in desk.routes]

    assert sorted(documented()) == sorted(answered)
