"""The control address: the same routes, for those who have a good token."""

from datetime import timedelta

import httpx2
import pytest

from lastcall.clock import VirtualClock
from lastcall.ports import SignerUnavailableError
from lastcall.web.apps import Account, SignIn, build_app
from lastcall.web.routing import PORTAL, Caller, Route, Table, admit_everyone, json
from tests.app.signing import (
    CONTROL,
    OWN,
    SECRET,
    TENANT,
    TODAY,
    QuickSigner,
    an_authority,
    some_tokens,
)
from tests.web.desk import OURS, SUBSCRIPTION, VERSION, Desk, a_desk
from tests.web.test_error_shape import url_of

CLOCK = f"{OURS}/clock"
OPEN = {
    "/aliases.json",
    *("/healthz", "/readyz", "/metadata/endpoints", "/common/discovery/instance"),
    *("/{authority*}/.well-known/openid-configuration", "/{authority*}/token"),
    *("/{authority*}/discovery/keys", "/{authority*}/discovery/v2.0/keys"),
}


class ControlDesk(Desk):
    """A client of the control address, at its own URL."""

    def __init__(self, desk, tokens):
        account = Account(subscription=SUBSCRIPTION, tenant=TENANT)
        self.authority = an_authority(desk.platform, tokens)
        app = build_app(desk.platform, account, SignIn(self.authority, CONTROL), is_control=True)
        super().__init__(desk.platform, desk.store, app)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        self.http = httpx2.AsyncClient(transport=transport, base_url=CONTROL)

    async def token(self, resource=CONTROL):
        return (await self.authority.sign_in(OWN.app_id, SECRET, resource)).text


@pytest.fixture
def clock():
    return VirtualClock(TODAY)


@pytest.fixture
async def control(clock):
    async with a_desk() as desk:
        yield ControlDesk(desk, some_tokens(clock=clock))


async def test_who_has_a_token_comes_in(control):
    bearer = f"Bearer {await control.token()}"

    assert (await control.send("GET", CLOCK, authorization=bearer)).status_code == 200
    assert (
        await control.send("GET", CLOCK, authorization=bearer.upper()[:6] + bearer[6:])
    ).is_success
    missing = await control.send("GET", "/nowhere", authorization=bearer)
    assert missing.status_code == 404


async def test_everything_but_what_leads_to_a_token_needs_one(control):
    assert {route.path for route in control.routes if route.is_open} == OPEN
    for route in control.routes:
        answer = await control.send(route.method, url_of(route))
        assert (answer.status_code == 401) == (route.path not in OPEN), route.path


@pytest.mark.parametrize("path", ["/nowhere", "/", "/subscriptions/x/y", "/lastcall/v1/secret"])
@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE"])
async def test_who_has_none_does_not_learn_what_there_is(control, path, verb):
    assert (await control.send(verb, path)).status_code == 401


async def test_a_wrong_verb_needs_a_token_too(control):
    assert (await control.send("PATCH", CLOCK)).status_code == 401


async def test_the_refusal_says_where_to_get_a_token_in_arms_own_shape(control):
    answer = await control.send("GET", CLOCK)

    assert answer.json() == {
        "error": {
            "code": "AuthenticationFailed",
            "message": "Authentication failed: there is no 'Authorization' header.",
        }
    }
    assert answer.headers["www-authenticate"] == (
        f'Bearer authorization_uri="{CONTROL}/{TENANT}", error="invalid_token",'
        " error_description=\"Authentication failed: there is no 'Authorization' header.\""
    )


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "AuthenticationFailed"),
        ("Bearer", "AuthenticationFailed"),
        ("Bearer ", "AuthenticationFailed"),
        ("Basic eDp5", "AuthenticationFailed"),
        ("Bearer x", "InvalidAuthenticationToken"),
        ("Bearer a.b.c", "InvalidAuthenticationToken"),
        ('Bearer "; drop', "InvalidAuthenticationToken"),
        (f"Bearer {'x' * 20_000}", "InvalidAuthenticationToken"),
    ],
)
async def test_what_is_no_token_of_ours_is_refused(control, header, code):
    answer = await control.send("GET", CLOCK, authorization=header)

    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == code


async def test_two_tokens_are_one_too_many(control):
    token = await control.token()
    headers = [("authorization", f"Bearer {token}")] * 2

    assert (await control.http.request("GET", CLOCK, headers=headers)).status_code == 401


async def test_an_expired_token_is_refused(control, clock):
    bearer = f"Bearer {await control.token()}"
    clock.advance(timedelta(hours=1))

    answer = await control.send("GET", CLOCK, authorization=bearer)

    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "ExpiredAuthenticationToken"


async def test_the_platforms_clock_has_no_say_in_it(control):
    bearer = f"Bearer {await control.token()}"
    days = {"by": "P300D"}

    moved = await control.send("POST", f"{CLOCK}/advance", days, authorization=bearer)

    assert moved.status_code == 200
    assert (await control.send("GET", CLOCK, authorization=bearer)).status_code == 200


async def test_a_token_for_somebody_else_is_refused(control):
    bearer = f"Bearer {await control.token('https://vault.azure.net')}"

    answer = await control.send("GET", CLOCK, authorization=bearer)

    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "InvalidAuthenticationTokenAudience"


async def test_whatever_a_token_says_the_header_stays_one_line(control):
    signer = QuickSigner()
    forged = signer.sign({"iss": 'x"\r\nSet-Cookie: y', "tid": TENANT})

    answer = await control.send("GET", CLOCK, authorization=f"Bearer {forged}")

    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert answer.headers["www-authenticate"].count('"') == 6


async def test_the_managed_identity_of_this_machine_is_the_portals_alone(control):
    url = "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=x"
    assert (await control.send("GET", url, metadata="true")).status_code == 401
    bearer = f"Bearer {await control.token()}"

    answer = await control.send("GET", url, metadata="true", authorization=bearer)

    assert answer.status_code == 405


@pytest.mark.parametrize(
    "host", ["lastcall.example", "lastcall.example:7443", "[2001:db8::1]:7443"]
)
async def test_it_may_have_any_name(control, host):
    found = await control.send("GET", "/adfs/.well-known/openid-configuration", host=host)

    assert found.json()["token_endpoint"] == f"https://{host}/adfs/oauth2/token"


@pytest.mark.parametrize("host", ["", "a b", "x/y", "a@b", '"', "a" * 300])
async def test_what_is_no_name_is_refused(control, host):
    assert (await control.send("GET", "/healthz", host=host)).status_code == 403


async def test_a_foreign_page_is_refused_whatever_it_has(control):
    bearer = f"Bearer {await control.token()}"
    for origin, status in (("https://evil.example", 403), ("null", 403), (CONTROL, 200)):
        answer = await control.send("GET", CLOCK, origin=origin, authorization=bearer)
        assert answer.status_code == status


async def test_a_handler_knows_who_is_asking(control):
    async def who(call):
        return json(call.caller)

    route = Route(method="GET", path="/who", handler=who, summary="")
    everyone = Table([route], admit_everyone)
    transport = httpx2.ASGITransport(app=everyone)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        assert (await http.get("/who")).json() == {"name": PORTAL.name, "id": ""}

    guarded = Table([route], control.app.router.default.load()._admit)
    transport = httpx2.ASGITransport(app=guarded)
    async with httpx2.AsyncClient(transport=transport, base_url=CONTROL) as http:
        bearer = {"authorization": f"Bearer {await control.token()}"}
        found = (await http.get("/who", headers=bearer)).json()
    assert found == {"name": "default", "id": OWN.app_id}
    assert Caller(**found)


async def test_a_key_that_cannot_be_used_is_told_without_its_place(caplog):
    class Broken(QuickSigner):
        def prepare(self):
            raise SignerUnavailableError("The file /secret/place is damaged.")

    async with a_desk() as desk:
        control = ControlDesk(desk, some_tokens(Broken()))
        answer = await control.send("GET", CLOCK, authorization="Bearer x")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "ServiceUnavailable"
    assert "/secret" not in answer.text
    assert "/secret" in caplog.text


async def test_a_version_is_still_demanded_of_those_who_are_in(control):
    bearer = f"Bearer {await control.token()}"
    url = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachineScaleSets"

    assert (await control.send("GET", url, authorization=bearer)).status_code == 400
    found = await control.send("GET", f"{url}?api-version={VERSION}", authorization=bearer)
    assert found.json() == {"value": []}
