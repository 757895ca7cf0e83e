"""Signing in: discovery, the token endpoint, and the cloud's own description."""

import base64
from urllib.parse import urlencode

import pytest

from tests.app.signing import CONTROL, ISSUER, OWN, SECRET, TENANT
from tests.web.desk import OURS

TOKEN = "/adfs/oauth2/token"
GOOD = {
    "grant_type": "client_credentials",
    "client_id": OWN.app_id,
    "client_secret": SECRET,
    "scope": f"{CONTROL}//.default",
}


async def ask(desk, path=TOKEN, form=None, **headers):
    given = {name: value for name, value in (form or GOOD).items() if value is not None}
    return await desk.send("POST", path, urlencode(given).encode(), **headers)


async def issued(desk, **changes):
    return (await ask(desk, form=GOOD | changes)).json()["access_token"]


@pytest.mark.parametrize("path", ["adfs", TENANT, f"{TENANT}/v2.0", f"adfs/{TENANT}", "common"])
async def test_discovery_leads_to_the_token_endpoint_whatever_the_authority(desk, path):
    found = (await desk.send("GET", f"/{path}/.well-known/openid-configuration")).json()

    assert found["issuer"] == ISSUER
    assert found["token_endpoint"].startswith(f"{CONTROL}/")
    where = found["token_endpoint"].removeprefix(CONTROL)
    assert ("/v2.0/" in where) == path.endswith("v2.0")
    assert (await ask(desk, where)).status_code == 200
    keys = found["jwks_uri"].removeprefix(CONTROL)
    assert (await desk.send("GET", keys)).json()["keys"][0]["kid"]


async def test_instance_discovery_knows_every_authority_of_ours(desk):
    asked = urlencode({"authorization_endpoint": f"{CONTROL}/{TENANT}/oauth2/v2.0/authorize"})
    found = await desk.send("GET", f"/common/discovery/instance?api-version=1.1&{asked}")

    where = found.json()["tenant_discovery_endpoint"].removeprefix(CONTROL)
    assert where == f"/{TENANT}/v2.0/.well-known/openid-configuration"
    assert found.json()["metadata"][0]["aliases"] == ["127.0.0.1:7443"]


@pytest.mark.parametrize("asked", ["", "x", "http://a/b", "https://", "https:///x"])
async def test_what_is_no_authority_is_refused(desk, asked):
    query = urlencode({"authorization_endpoint": asked})
    answer = await desk.send("GET", f"/common/discovery/instance?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"]["target"] == "authorization_endpoint"


async def test_a_scope_gets_the_second_versions_answer(desk):
    answer = await ask(desk)

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json().keys() == {"token_type", "expires_in", "ext_expires_in", "access_token"}
    assert answer.json()["expires_in"] == 3600


async def test_a_resource_gets_the_first_versions_answer(desk):
    answer = await ask(desk, form=GOOD | {"scope": None, "resource": "https://x/"})

    assert answer.json()["resource"] == "https://x/"
    assert answer.json()["expires_in"] == "3600"
    assert answer.json()["expires_on"].isdigit()


@pytest.mark.parametrize(
    "path",
    ["/x/token", "/a/b/c/d/e/f/token", "/adfs/x/oauth2/v2.0/token", f"/{TENANT}/OAUTH2/TOKEN"],
)
async def test_every_path_that_ends_so_gives_tokens(desk, path):
    assert (await ask(desk, path)).status_code == 200


async def test_nothing_in_a_subscription_does(desk):
    answer = await ask(desk, "/subscriptions/x/resourceGroups/y/token")

    assert answer.status_code == 404


async def test_a_client_may_say_who_it_is_in_a_header(desk):
    basic = base64.b64encode(f"{OWN.app_id}:{SECRET}".encode()).decode()
    form = GOOD | {"client_id": None, "client_secret": None}

    assert (await ask(desk, form=form, authorization=f"Basic {basic}")).status_code == 200


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_id": "00000000-0000-0000-0000-000000000000"}, 401, "invalid_client"),
        ({"client_id": None}, 400, "invalid_request"),
        ({"client_secret": ""}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": None}, 400, "invalid_request"),
        ({"scope": None}, 400, "invalid_request"),
        ({"scope": "openid"}, 400, "invalid_scope"),
        ({"scope": "a/.default b/.default"}, 400, "invalid_scope"),
        ({"scope": "/.default"}, 400, "invalid_request"),
        ({"resource": ""}, 400, "invalid_request"),
        ({"resource": "x" * 3_000}, 400, "invalid_resource"),
        ({"resource": "\x00"}, 400, "invalid_resource"),
        ({"more": "x" * 70_000}, 400, "invalid_request"),
        ({str(number): "x" for number in range(100)}, 400, "invalid_request"),
    ],
)
async def test_a_wrong_form_is_refused_as_oauth_has_it(desk, changes, status, error):
    before = desk.dump()

    answer = await ask(desk, form=GOOD | changes)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.json()["error_description"].startswith("AADSTS")
    assert answer.json()["error_description"].endswith(".")
    assert SECRET not in answer.text
    assert desk.dump() == before


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"\xff", b"grant_type", b"grant_type=a&grant_type=b", b"=" * 500]
)
async def test_what_is_no_form_is_refused(desk, body):
    answer = await desk.send("POST", TOKEN, body)

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize("header", ["Basic x", "Basic /////w==", "Basic"])
async def test_a_header_that_cannot_be_read_is_refused(desk, header):
    form = GOOD | {"client_id": None}

    assert (await ask(desk, form=form, authorization=header)).status_code == 400


async def test_a_principal_is_added_shown_and_removed(desk):
    made = await desk.send("POST", f"{OURS}/principals", {"name": "ci"})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    who = made.json()

    listed = (await desk.send("GET", f"{OURS}/principals")).json()["value"]
    assert [each["name"] for each in listed] == ["default", "ci"]
    assert "secret" not in listed[1]
    signed_in = {"client_id": who["appId"], "client_secret": who["secret"]}
    assert (await ask(desk, form=GOOD | signed_in)).status_code == 200

    assert (await desk.send("DELETE", f"{OURS}/principals/{who['appId']}")).status_code == 204
    assert (await ask(desk, form=GOOD | signed_in)).status_code == 401


@pytest.mark.parametrize("name", ["", "x" * 65, "a b", "../x", "-x", "é", 5, None])
async def test_a_principal_cannot_have_just_any_name(desk, name):
    answer = await desk.send("POST", f"{OURS}/principals", {"name": name})

    assert answer.status_code == 400
    assert len((await desk.send("GET", f"{OURS}/principals")).json()["value"]) == 1


async def test_the_cloud_is_described_in_the_form_of_each_version(desk):
    async def described(version):
        return (await desk.send("GET", f"/metadata/endpoints?api-version={version}")).json()

    one = await described("2022-09-01")
    assert one["resourceManager"] == CONTROL
    assert one["authentication"] == {
        "loginEndpoint": f"{CONTROL}/adfs",
        "audiences": [f"{CONTROL}/", CONTROL],
        "tenant": "common",
        "identityProvider": "AAD",
    }
    assert await described("2019-05-01") == [one]
    for first in ("1.0", "2015-01-01"):
        assert (await described(first))["authentication"]["loginEndpoint"] == f"{CONTROL}/adfs"


@pytest.mark.parametrize("query", ["", "?api-version=", "?api-version=soon"])
async def test_the_description_needs_a_version(desk, query):
    assert (await desk.send("GET", f"/metadata/endpoints{query}")).status_code == 400


MANAGED = "/metadata/identity/oauth2/token"


@pytest.mark.parametrize("header", [{"metadata": "True"}, {"x_identity_header": "anything"}])
@pytest.mark.parametrize("version", ["2018-02-01", "2019-08-01"])
async def test_this_machine_gets_a_token_as_from_a_managed_identity(desk, header, version):
    url = f"{MANAGED}?api-version={version}&resource={CONTROL}/"
    answer = (await desk.send("GET", url, **header)).json()

    assert answer.keys() == {
        *("access_token", "client_id", "expires_in", "expires_on", "ext_expires_in"),
        *("not_before", "resource", "token_type"),
    }
    assert answer["client_id"] == OWN.app_id
    assert answer["expires_in"] == "86400"
    assert answer["resource"] == f"{CONTROL}/"


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        (f"{MANAGED}?api-version=2018-02-01&resource=x", {}),
        (f"{MANAGED}?api-version=2018-02-01&resource=x", {"metadata": "false"}),
        (f"{MANAGED}?api-version=2018-02-01", {"metadata": "true"}),
        (f"{MANAGED}?resource=x", {"metadata": "true"}),
        (f"{MANAGED}?api-version=2018-02-01&resource=x&client_id=y", {"metadata": "true"}),
        (f"{MANAGED}?api-version=2018-02-01&resource=%00", {"metadata": "true"}),
    ],
)
async def test_a_managed_identity_is_asked_for_in_one_way_only(desk, url, headers):
    answer = await desk.send("GET", url, **headers)

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"
