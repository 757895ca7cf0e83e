"""Every route, wrongly used: the documented shape, and nothing changed."""

import asyncio
import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastcall.engine.limits import ARM_BODY_BYTES_MAX
from lastcall.web.arm.deployments import NOT_BUILT
from lastcall.web.arm.not_implemented import NOT_IMPLEMENTED
from lastcall.web.arm.virtual_machines import UNBUILT as UNBUILT_OF_MACHINES
from lastcall.web.arm.virtual_machines import VM as MACHINE
from tests.web.desk import ROOT, SUBSCRIPTION, VERSION, WEB, a_desk, with_notice
from tests.web.machines import AVAILABILITY, SERVICE, VM, a_service, a_vm
from tests.web.settings import a_setting
from tests.wire.builders import NAMES

GOOD = {
    "subscription": SUBSCRIPTION,
    "group": "Group",
    "set": "web",
    "instance": "0",
    "location": "westus",
    "operation": "00000000-0000-0000-0000-00000000000f",
    "event": "00000000-0000-0000-0000-00000000000F",
    "setting": "auto",
    "namespace": "Microsoft.Compute",
    "feature": "Something",
    "publisher": "Canonical",
    "offer": "UbuntuServer",
    "sku": "18.04-LTS",
    "version": "1.0.0",
    "resource*": "Microsoft.Network/virtualNetworks/net",
    "types*": "Microsoft.Network/virtualNetworks",
    "authority*": "adfs",
    "principal": "nobody",
    "scope": "00000000-0000-0000-0000-0000000000ff",
    "vm": "db",
    "availabilitySet": "pair",
    "service": "shop",
    "role": "FrontEnd",
    "roleInstance": "FrontEnd_IN_0",
    "resourceType": "virtualMachines",
    "resource": "db",
    "extension": "script",
    "child": "script",
    "interface": "nic",
    "address": "ip",
    "public": "address",
}
NAMED = (
    "set",
    "vm",
    "availabilitySet",
    "service",
    "instance",
    "operation",
    "event",
    "group",
    "scope",
    "role",
    "roleInstance",
    "resource",
    "extension",
    "child",
    "interface",
    "address",
)
UNBUILT = {(unbuilt.method, unbuilt.path) for unbuilt in NOT_IMPLEMENTED} | {
    *(("POST", f"{MACHINE}/{name}") for name in (*UNBUILT_OF_MACHINES, "deallocate")),
    *NOT_BUILT,
}
NOT_JSON = [b"{", b"", b"[]", b'"x"', b"\xff\xfe", b'{"a":' * 2000, b"nul", b'{"a":"\\ud800"}']
VERBS = ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]


def fill(path, names):
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", quote(value, safe="/" if name.endswith("*") else ""))
    return path


def is_arm(route):
    return route.path.startswith(("/subscriptions", "/tenants"))


def is_in_subscription(route):
    return "{subscription}" in route.path


def takes_a_body(route):
    return route.takes is not None or (is_arm(route) and route.method in ("PUT", "PATCH"))


def url_of(route, names=GOOD, query=f"api-version={VERSION}"):
    return f"{fill(route.path, names)}?{query}"


# A full stop, but for two texts that are Azure's own (R83, R109).
SENTENCE_ENDS = (".", "ARMResourceNotFoundFix", "only for Spot Virtual Machines")


def assert_envelope(answer):
    assert 400 <= answer.status_code < 500 or answer.status_code == 501, answer.text
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    if answer.url.path.endswith("/token") and answer.status_code in (400, 401):
        assert_oauth(answer)
        return
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert {"code", "message"} <= error.keys() <= {"code", "message", "target"}
    assert error["code"].isidentifier()
    assert error["message"].endswith(SENTENCE_ENDS)


def assert_oauth(answer):
    """What asks for a token is refused as OAuth 2 has it."""
    error = answer.json()
    assert {"error", "error_description"} <= error.keys()
    assert error.keys() <= {"error", "error_description", "error_codes"}
    assert error["error"].isidentifier()
    assert error["error_description"].endswith((".", "'."))


async def furnish(desk):
    """Make what the good names stand for, beside the set."""
    for path, body in (
        (VM, a_vm()),
        (AVAILABILITY, {"location": "westus"}),
        (SERVICE, a_service(FrontEnd=1)),
    ):
        assert (await desk.arm("PUT", path, body)).status_code in (200, 201)


@pytest.fixture
async def web(web):
    await furnish(web)
    await web.watch()
    return web


async def refused(desk, method, url, body=None, **headers):
    before = desk.dump()
    answer = await desk.send(method, url, body, **headers)
    assert_envelope(answer)
    assert desk.dump() == before
    return answer


async def test_every_control_plane_route_wants_a_known_api_version(web):
    for route in filter(is_arm, web.routes):
        missing = await refused(web, route.method, url_of(route, query=""))
        assert missing.json()["error"]["code"] == "MissingApiVersionParameter"
        for version in ("yesterday", "2024-13-45", "1999-01-01", "2024-07-01-beta", "x" * 5000):
            wrong = await refused(web, route.method, url_of(route, query=f"api-version={version}"))
            assert wrong.json()["error"]["code"] == "InvalidApiVersionParameter"


async def test_every_control_plane_route_knows_one_subscription(web):
    for route in filter(is_in_subscription, web.routes):
        for other in ("00000000-0000-0000-0000-000000000002", "x", "%00", "x" * 5000):
            url = url_of(route, GOOD | {"subscription": other})
            answer = await refused(web, route.method, url)
            assert answer.json()["error"]["code"] == "SubscriptionNotFound"
            assert answer.status_code == 404


async def test_every_route_refuses_a_foreign_host_and_origin(web):
    for route in web.routes:
        for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
            answer = await refused(web, route.method, url_of(route), **headers)
            assert answer.status_code == 403


async def test_every_path_names_its_verbs(web):
    for path in {route.path for route in web.routes}:
        allowed = {route.method for route in web.routes if route.path == path}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        for verb in set(VERBS) - allowed:
            url = f"{fill(path, GOOD)}?api-version={VERSION}"
            answer = await refused(web, verb, url)
            assert answer.status_code == 405
            assert set(answer.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize("body", NOT_JSON, ids=repr)
async def test_every_body_is_a_json_object(web, body):
    for route in filter(takes_a_body, web.routes):
        if not body and is_arm(route) and route.method == "POST" and "delete" not in route.path:
            continue  # For these a body is optional.
        answer = await refused(web, route.method, url_of(route), body)
        assert answer.status_code == 400


@pytest.mark.parametrize("declared", [True, False])
async def test_every_body_has_a_limit(web, declared):
    large = b" " * (ARM_BODY_BYTES_MAX + 1)

    async def in_chunks():
        yield large

    for route in filter(takes_a_body, web.routes):
        before = web.dump()
        content = large if declared else in_chunks()
        answer = await web.http.request(
            route.method,
            url_of(route),
            content=content,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 413
        assert_envelope(answer)
        assert web.dump() == before


@pytest.mark.parametrize(
    "notice", ["PT4M59S", "PT16M", "10", "P1M", "", "ten", 10, [], {}, "-PT5M"]
)
async def test_a_wrong_notice_is_refused_by_its_path(web, notice):
    for method in ("PUT", "PATCH"):
        answer = await refused(web, method, f"{WEB}?api-version={VERSION}", with_notice(notice))
        assert answer.json()["error"]["target"].endswith("notBeforeTimeout")


async def test_every_flag_and_number_is_checked(web):
    for route in web.routes:
        if route.method == "DELETE" and route.path.endswith(("{set}", "{instance}")):
            query = f"api-version={VERSION}&forceDeletion=maybe"
            await refused(web, "DELETE", url_of(route, query=query))
        for parameter in route.query:
            if parameter.type != "string":
                url = url_of(route, query=f"{parameter.name}=%F0%9F%90%8C")
                answer = await refused(web, route.method, url)
                assert answer.json()["error"]["target"] == parameter.name


@pytest.mark.parametrize("name", ["nope", "%", "a/b", "...", "\x00", "💥", "x" * 300, "' or 1=1"])
async def test_unknown_names_are_refused_or_already_gone(web, name):
    for route in web.routes:
        for place in NAMED:
            # A PUT makes what the last name of its path says.
            is_made = route.method == "PUT" and route.path.endswith(f"{{{place}}}")
            if f"{{{place}}}" not in route.path or (is_made and place != "instance"):
                continue
            before = web.dump()
            named = {"instanceIds": ["*"], "roleInstances": ["*"], "value": ["x"]}
            body = named if takes_a_body(route) else None
            answer = await web.send(route.method, url_of(route, GOOD | {place: name}), body)
            if route.method == "DELETE" and is_arm(route) and answer.status_code == 204:
                assert answer.content == b""
            else:
                assert_envelope(answer)
            assert web.dump() == before


@pytest.mark.parametrize("name", ["_x", "x.", "x-", "a b", "x" * 65, "💥"])
async def test_a_set_cannot_have_just_any_name(web, name):
    route = next(r for r in web.routes if r.method == "PUT" and r.path.endswith("{set}"))

    await refused(web, "PUT", url_of(route, GOOD | {"set": name}), with_notice())
    await refused(web, "PUT", url_of(route, GOOD | {"group": "a/b."}), with_notice())


@pytest.mark.parametrize("path", ["/", "/nothing", "//", "/subscription", "/lastcall/v1", "/%00"])
async def test_elsewhere_there_is_nothing(web, path):
    answer = await refused(web, "GET", path)
    assert answer.json()["error"]["code"] == "NotFound"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
WORDS = st.sampled_from(["*", "0", "web_0", "Freeze", "PT10M", "true", "Spot", "Rolling", "westus"])
KEYS = (
    NAMES
    | st.sampled_from(
        [
            "by",
            "seconds",
            "type",
            "instances",
            "notice",
            "started",
            "short",
            "kind",
            "names",
            "profiles",
            "rules",
            "capacity",
            "minimum",
            "maximum",
            "default",
            "metricTrigger",
            "scaleAction",
            "fixedDate",
            "recurrence",
            "schedule",
            "enabled",
            "targetResourceUri",
            "notifications",
            "resource",
            "name",
            "value",
            "at",
            "instance",
            "availabilitySet",
            "computerName",
            "hardwareProfile",
            "osDisk",
            "roleInstances",
            "platformUpdateDomainCount",
            "roleProfile",
            "roles",
            "value",
            "vmSize",
        ]
    )
    | st.text(max_size=5)
)
DOCUMENTS = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
JSON_BODIES = DOCUMENTS.map(lambda value: json.dumps(value).encode())
SOUND = st.sampled_from(
    [with_notice(), a_vm(), a_service(FrontEnd=2), a_setting(), {"location": "westus"}]
)
CHANGES = st.dictionaries(KEYS, DOCUMENTS, max_size=5)
MODELS = st.builds(lambda sound, changes: json.dumps(sound | changes).encode(), SOUND, CHANGES)
MODELS |= st.builds(
    lambda sound, changes: json.dumps(
        sound | {"properties": sound.get("properties", {}) | changes}
    ).encode(),
    SOUND,
    CHANGES,
)
FILTER = "eventTimestamp ge '2026-03-05T06:00:00Z' and status eq 'Failed'"
SEGMENTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)

BODIES = st.none() | st.binary(max_size=50) | JSON_BODIES | MODELS


@st.composite
def requests(draw):
    names = {
        name: draw(st.just(good) | SEGMENTS if name != "subscription" else st.just(good))
        for name, good in GOOD.items()
    }
    query = {
        "api-version": draw(st.sampled_from([VERSION, VERSION, "2018-10-01", "2020-12-01", "x"])),
        **draw(
            st.dictionaries(
                st.sampled_from(
                    [
                        "limit",
                        "skip",
                        "after",
                        "event",
                        "instance",
                        "all",
                        "$expand",
                        "$filter",
                        "$orderby",
                        "$select",
                        "$skiptoken",
                        "$top",
                        "forceDeletionTypes",
                        "hibernate",
                        "forceDeletion",
                        "monitor",
                        "$filter",
                        "$select",
                        "$skipToken",
                        "timespan",
                        "metricnames",
                        "before",
                        "resource",
                    ]
                )
                | SEGMENTS,
                st.sampled_from(
                    ["true", "1", "instanceView", "name desc", "name eq 'web'", "name eq 'web_0'"]
                )
                | st.just(FILTER)
                | SEGMENTS,
                max_size=2,
            )
        ),
    }
    headers = draw(
        st.dictionaries(
            st.sampled_from(["if-match", "if-none-match", "last-event-id"]),
            st.sampled_from(["*", '"1"', "1", "", 'W/"1"', "x" * 100]),
            max_size=2,
        )
    )
    return names, query, headers, draw(BODIES)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), requests())
def test_nothing_that_is_sent_breaks_anything(number, request):
    asyncio.run(no_harm(number, *request))


async def no_harm(number, names, query, headers, body):
    async with a_desk() as desk:
        await desk.arm("PUT", WEB, with_notice())
        await furnish(desk)
        routes = [route for route in desk.routes if not route.path.endswith("/stream")]
        route = routes[number % len(routes)]
        before = desk.dump()
        answer = await desk.http.request(
            route.method,
            fill(route.path, names),
            params=query,
            content=body,
            headers={"content-type": "application/json", **headers},
        )
        if answer.status_code >= 400:
            assert_envelope(answer)
            is_unbuilt = (route.method, route.path) in UNBUILT
            assert answer.status_code != 501 or is_unbuilt
            assert desk.dump() == before
        else:
            assert answer.status_code in route.answers
            await desk.settle()
            # What was accepted can be shown.
            for shown in (
                WEB,
                f"{WEB}/virtualMachines?$expand=instanceView",
                f"{WEB}/skus",
                f"{VM}?$expand=instanceView",
                f"{ROOT}/virtualMachines",
                AVAILABILITY,
                SERVICE,
                f"{SERVICE}/roles",
                f"{SERVICE}/roleInstances?$expand=instanceView",
            ):
                assert (await desk.arm("GET", shown)).status_code in (200, 404)
