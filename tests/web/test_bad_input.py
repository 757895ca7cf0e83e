"""What a client may get wrong about a set: the right status, ARM's envelope, nothing changed."""

import json

import pytest

from lastcall.engine.limits import ARM_BODY_BYTES_MAX
from lastcall.wire.versions import KNOWN
from tests.web.desk import SETS, VERSION, WEB, a_model, with_notice
from tests.web.test_error_shape import refused

URL = f"{WEB}?api-version={VERSION}"
NEW = f"{SETS}/new?api-version={VERSION}"
TERMINATE = "properties.virtualMachineProfile.scheduledEventsProfile.terminateNotificationProfile"
SINCE = "2019-03-01"  # R67: from here on the profile exists.
# What az, the SDKs and PowerShell send, on top of what the provider is known to have.
CLIENTS = ("2024-11-01", "2025-04-01", "2025-11-01", "2026-03-01", "2026-04-01")
VERSIONS = sorted({version for version in KNOWN if version >= SINCE} | set(CLIENTS))
OLDER = [version for version in KNOWN if version < SINCE]


def nested(value, path=TERMINATE):
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def error_of(answer):
    return answer.json()["error"]


# Wrong types and values

WRONG = [
    *[
        (TERMINATE, {"enable": value}, "enable")
        for value in ("maybe", "yes", "", 1, 0, [], {}, 1.5)
    ],
    *[(TERMINATE, value, "") for value in ("on", 5, True, [])],
    ("properties.virtualMachineProfile.scheduledEventsProfile", "on", ""),
    ("properties.virtualMachineProfile", [], ""),
    ("properties", "x", ""),
    ("sku", [], ""),
    *[("sku", {"capacity": value}, "capacity") for value in (-1, 1001, 1e3, True, "many", [], {})],
    ("sku", {"name": 7}, "name"),
    ("tags", {"a": 1}, ""),
    ("tags", ["a"], ""),
    ("properties.upgradePolicy", {"mode": "Sometimes"}, "mode"),
    ("properties.orchestrationMode", 1, ""),
    ("properties.platformFaultDomainCount", 6, ""),
    ("properties.singlePlacementGroup", "perhaps", ""),
    ("properties.scaleInPolicy", {"rules": ["Youngest"]}, "rules"),
]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(("path", "value", "below"), WRONG, ids=str)
async def test_a_wrong_value_is_refused_by_its_path(web, method, path, value, below):
    body = {"location": "westus"} | nested(value, path)

    answer = await refused(web, method, URL, body)

    assert answer.status_code == 400
    assert error_of(answer)["code"] == "InvalidParameter"
    assert error_of(answer)["target"] == (f"{path}.{below}" if below else path)


@pytest.mark.parametrize("enabled", [True, "true"])
@pytest.mark.parametrize(
    "time", ["PT4M59S", "PT15M0.001S", "PT16M", "PT0S", "PT1H", "P1D", "-PT10M", "10", 10, "PT"]
)
async def test_a_time_out_of_range_is_refused_on_a_new_set_and_on_an_old_one(web, time, enabled):
    body = with_notice(time)
    body["properties"] |= nested({"notBeforeTimeout": time, "enable": enabled})["properties"]

    for method, url in (("PUT", NEW), ("PUT", URL), ("PATCH", URL)):
        answer = await refused(web, method, url, body)
        assert answer.status_code == 400
        assert error_of(answer)["target"] == f"{TERMINATE}.notBeforeTimeout"


async def test_a_wrong_time_is_refused_even_where_the_notification_is_off(web):
    answer = await refused(web, "PATCH", URL, nested({"notBeforeTimeout": "PT1H"}))

    assert answer.status_code == 400


@pytest.mark.parametrize("location", ["", " ", "../x", "x\r\ny", "a/b", "💥", "x" * 65])
async def test_a_location_has_the_form_of_one(web, location):
    answer = await refused(web, "PUT", NEW, a_model() | {"location": location})

    assert answer.status_code == 400
    assert error_of(answer)["target"] == "location"


# Unknown instances

ACTIONS = ["delete", "deallocate", "manualupgrade", "poweroff", "redeploy", "reimage", "restart"]


@pytest.mark.parametrize("action", ACTIONS)
async def test_an_unknown_instance_refuses_the_whole_action(web, action):
    body = {"instanceIds": ["0", "1181"]}

    answer = await refused(web, "POST", f"{WEB}/{action}?api-version={VERSION}", body)

    assert answer.status_code == 400
    assert error_of(answer) == {
        "code": "InvalidParameter",
        "message": "The provided instanceId 1181 is not an active Virtual Machine Scale Set VM"
        " instanceId.",
        "target": "instanceIds",
    }


@pytest.mark.parametrize(
    "ids", [[], "0", {"0": 1}, [None], [True], [["0"]], [1.5], ["x" * 81], ["a b"], ["0"] * 1001]
)
async def test_a_wrong_list_of_instances_is_refused(web, ids):
    answer = await refused(web, "POST", f"{WEB}/delete?api-version={VERSION}", {"instanceIds": ids})

    assert (answer.status_code, error_of(answer)["target"]) == (400, "instanceIds")


async def test_an_unknown_instance_of_its_own_address_is_not_found(web):
    for verb in ("restart", "redeploy", "reimage", "simulateEviction"):
        url = f"{WEB}/virtualMachines/1181/{verb}?api-version={VERSION}"
        assert (await refused(web, "POST", url)).status_code == 404


# Bodies that are too much, or that valid JSON may hold and a model may not

LEVELS = 10_000
STRANGE = {
    "arrays": b'{"properties":' + b"[" * LEVELS + b"]" * LEVELS + b"}",
    "objects": b'{"properties":' * LEVELS + b"1" + b"}" * LEVELS,
    "unclosed": b'{"properties":[' * LEVELS,
    "nul": b'{"tags":{"a":"x\\u0000y"}}',
    "nul in a name": b'{"tags":{"a\\u0000":"x"}}',
    "raw nul": b'{"tags":{"a":"x\x00y"}}',
    "high surrogate": b'{"tags":{"a":"\\ud800"}}',
    "low surrogate": b'{"tags":{"a":"\\udfff."}}',
    "surrogate in a name": b'{"tags":{"\\ud83dx":"x"}}',
    "encoded surrogate": b'{"tags":{"a":"\xed\xa0\x80"}}',
    "not utf-8": b'{"tags":{"a":"\xe9"}}',
    "utf-16": '{"tags":{"a":"b"}}'.encode("utf-16"),
    "many digits": b'{"sku":{"capacity":' + b"9" * 100_000 + b"}}",
    "65 bits": b'{"sku":{"capacity":18446744073709551616}}',
    "large power": b'{"sku":{"capacity":1e400}}',
    "large where nobody looks": b'{"properties":{"novelty":' + b"9" * 400 + b"}}",
    "not a number": b'{"sku":{"capacity":NaN}}',
    "twice": b'{"sku":{"capacity":1},"sku":{"capacity":5}}',
    "twice below": b'{"properties":{"a":{"b":1,"b":1}}}',
    "twice in two cases": b'{"sku":{"capacity":1,"Capacity":5}}',
    "empty": b"",
    "blank": b" \r\n",
    "null": b"null",
    "an array": b"[{}]",
    "two": b"{}{}",
    "a form": b"tags=a",
}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("body", STRANGE.values(), ids=STRANGE.keys())
async def test_a_strange_body_is_refused(web, method, body):
    for url in (URL, f"{WEB}/virtualMachines/0?api-version={VERSION}"):
        if method == "PATCH" and url != URL:
            continue  # Instances have no PATCH.
        answer = await refused(web, method, url, body)
        assert answer.status_code == 400
        assert error_of(answer)["code"] == "InvalidRequestContent"
        assert len(answer.content) < 1000


@pytest.mark.parametrize("name", sorted(STRANGE.keys() - {"empty", "blank"}))
async def test_a_strange_body_of_an_action_is_refused(web, name):
    answer = await refused(web, "POST", f"{WEB}/restart?api-version={VERSION}", STRANGE[name])

    assert (answer.status_code, error_of(answer)["code"]) == (400, "InvalidRequestContent")


async def test_an_action_that_must_say_whom_it_means_needs_a_body(web):
    for body in (b"", b" ", b"{}", b'{"instanceIds":null}'):
        answer = await refused(web, "POST", f"{WEB}/delete?api-version={VERSION}", body)
        assert (answer.status_code, error_of(answer)["target"]) == (400, "instanceIds")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST"])
async def test_ten_megabytes_are_too_many(web, method):
    large = json.dumps({"tags": {"a": "x" * 10_000_000}}).encode()
    assert len(large) > ARM_BODY_BYTES_MAX
    url = f"{WEB}/restart?api-version={VERSION}" if method == "POST" else URL

    answer = await refused(web, method, url, large)

    assert (answer.status_code, error_of(answer)["code"]) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "",
        "x" * 5000,
    ],
)
async def test_a_body_is_said_to_be_json(web, kind):
    for method, url in (("PUT", URL), ("PATCH", URL), ("POST", f"{WEB}/restart?{URL[-22:]}")):
        answer = await refused(web, method, url, b'{"tags":{}}', content_type=kind)
        assert (answer.status_code, error_of(answer)["code"]) == (415, "UnsupportedMediaType")
        assert len(answer.content) < 1000


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON ; charset=UTF-8"])
async def test_json_by_any_spelling_is_read(web, kind):
    assert (await web.send("PATCH", URL, b'{"tags":{}}', content_type=kind)).status_code == 200


async def test_an_action_without_a_body_needs_no_type_and_may_have_any(web):
    for kind in ("application/json", "text/plain"):
        url = f"{WEB}/restart?api-version={VERSION}"
        assert (await web.send("POST", url, b"", content_type=kind)).status_code == 202


# api-versions


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_version_since_the_profile_takes_a_set_through_its_life(desk, version):
    made = await desk.arm("PUT", WEB, with_notice(), version=version)
    patch = nested({"notBeforeTimeout": "PT5M"})
    answers = [
        await desk.arm("PATCH", WEB, patch, version=version),
        await desk.arm("GET", f"{WEB}/virtualMachines", version=version),
        await desk.arm("GET", f"{WEB}/instanceView", version=version),
    ]
    restarted = await desk.arm("POST", f"{WEB}/restart", version=version)
    followed = await desk.send("GET", restarted.headers["azure-asyncoperation"])
    shown = await desk.arm("GET", WEB, version=version)
    deleted = await desk.arm("DELETE", WEB, version=version)

    assert made.status_code == 201
    assert [answer.status_code for answer in answers] == [200] * 3
    assert (restarted.status_code, followed.json()["status"]) == (202, "Succeeded")
    profile = shown.json()["properties"]["virtualMachineProfile"]["scheduledEventsProfile"]
    assert profile["terminateNotificationProfile"] == {"enable": True, "notBeforeTimeout": "PT5M"}
    assert deleted.status_code == 202
    assert f"api-version={version}" in deleted.headers["azure-asyncoperation"]


@pytest.mark.parametrize("version", OLDER)
async def test_an_older_version_refuses_the_profile_and_leaves_it_alone(web, version):
    url = f"{WEB}?api-version={version}"
    for method in ("PUT", "PATCH"):
        answer = await refused(web, method, url, with_notice())
        assert answer.status_code == 400
        error = error_of(answer)
        path = TERMINATE.rpartition(".")[0]
        assert error["code"] == "BadRequest"
        assert error["target"] == f"vmss.{path}"
        assert error["message"].startswith(
            "Could not find member 'scheduledEventsProfile' on object of type"
            f" 'VirtualMachineProfile'. Path '{path}', line 1, position "
        )

    assert (await web.arm("PUT", WEB, a_model(2), version=version)).status_code == 200
    shown = (await web.arm("GET", WEB)).json()["properties"]["virtualMachineProfile"]
    assert "scheduledEventsProfile" in shown


@pytest.mark.parametrize(
    "version", ["2015-06-14", "2014-12-01", "1970-01-01", "2019-02-30", "2019-3-1", "latest", "x"]
)
async def test_what_is_no_version_of_the_provider_is_refused(web, version):
    answer = await refused(web, "PUT", f"{WEB}?api-version={version}", with_notice())

    assert answer.status_code == 400
    assert error_of(answer)["code"] == "InvalidApiVersionParameter"
    assert "2026-04-01" in error_of(answer)["message"]
