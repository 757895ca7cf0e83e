"""Tokens of a machine's own identity."""

import pytest

from lastcall.app.managed import identity_of
from lastcall.app.tokens import Holder
from lastcall.metadata.server import MetadataServer
from tests.app.signing import CONTROL, QuickSigner, an_authority, some_tokens
from tests.metadata.stage import LOCALHOST, Stage, a_request

TOKEN = "/metadata/identity/oauth2/token?api-version=2018-02-01&resource="
SYSTEM = {"identity": {"type": "SystemAssigned"}, "properties": {"virtualMachineProfile": {}}}
SET = (
    "/subscriptions/sub/resourceGroups/Group/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/web"
)


@pytest.fixture
def signer():
    return QuickSigner()


@pytest.fixture
async def giving(stage, signer):
    """The stage, with a second server that gives tokens."""
    server = MetadataServer(
        stage.platform, authority=an_authority(stage.platform, some_tokens(signer))
    )
    _, port = await server.start(LOCALHOST, 0)
    second = Stage(stage.platform, server, port)
    yield second
    for client in second.clients:
        await client.close()
    await server.stop()


async def test_a_machine_gets_a_token_of_the_identity_of_its_set(giving, signer):
    machine, other = await giving.scale_set(SYSTEM)

    answer = await giving.ask(a_request(f"{TOKEN}{CONTROL}/"), machine)

    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    told = answer.json()
    assert told["client_id"] == identity_of(SET).app_id
    assert (told["token_type"], told["resource"]) == ("Bearer", f"{CONTROL}/")
    claims = signer.read(told["access_token"])
    assert (claims["xms_mirid"], claims["oid"]) == (SET, identity_of(SET).object_id)
    assert claims["exp"] - claims["iat"] == 86_400
    of_other = (await giving.ask(a_request(f"{TOKEN}{CONTROL}/"), other)).json()
    assert of_other["client_id"] == told["client_id"]


async def test_the_control_plane_believes_it(giving):
    machine, _ = await giving.scale_set(SYSTEM)
    told = (await giving.ask(a_request(f"{TOKEN}{CONTROL}/"), machine)).json()

    holder = await an_authority(giving.platform).admit(told["access_token"])

    assert isinstance(holder, Holder)
    assert holder.resource_id == SET


async def test_a_machine_whose_model_assigns_none_gets_none(giving):
    machine, _ = await giving.scale_set({"properties": {}})
    (lone,) = await giving.machines("lone")

    for who in (machine, lone):
        answer = await giving.ask(a_request(f"{TOKEN}x"), who)
        assert answer.status == 400
        assert answer.json()["error"] == "invalid_request"
        assert "Identity not found" in answer.json()["error_description"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Metadata: true",), 200),
        (("X-IDENTITY-HEADER: secret",), 200),
        (("X-IDENTITY-HEADER: ",), 400),
        ((), 400),
        (("Metadata: true", "X-Forwarded-For: 10.0.0.1"), 400),
        (("X-IDENTITY-HEADER: secret", "Origin: http://evil.example"), 400),
    ],
)
async def test_a_header_is_needed_that_browsers_do_not_send(giving, headers, status):
    machine, _ = await giving.scale_set(SYSTEM)

    answer = await giving.ask(a_request(f"{TOKEN}x", headers=headers), machine)

    assert answer.status == status


async def test_the_other_header_opens_nothing_else(giving):
    machine, _ = await giving.scale_set(SYSTEM)
    url = "/metadata/instance?api-version=2021-02-01"

    answer = await giving.ask(a_request(url, headers=("X-IDENTITY-HEADER: x",)), machine)

    assert answer.status == 400


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("/metadata/identity/oauth2/token?api-version=2018-02-01", 400),
        ("/metadata/identity/oauth2/token?api-version=2018-02-01&resource=", 400),
        ("/metadata/identity/oauth2/token?api-version=2017-03-01&resource=x", 400),
        ("/metadata/identity/oauth2/token?resource=x", 400),
        (f"{TOKEN}x&client_id=nobody", 400),
        (f"{TOKEN}{'x' * 3000}", 400),
        ("/metadata/identity?api-version=2018-02-01&resource=x", 404),
        ("/metadata/identity/oauth2?api-version=2018-02-01&resource=x", 404),
    ],
)
async def test_a_wrong_question_is_refused(giving, url, status):
    machine, _ = await giving.scale_set(SYSTEM)

    answer = await giving.ask(a_request(url), machine)

    assert answer.status == status
    assert answer.json()["error"]


async def test_a_token_is_only_read(giving):
    machine, _ = await giving.scale_set(SYSTEM)

    answer = await giving.ask(a_request(f"{TOKEN}x", verb="POST", body=b""), machine)

    assert (answer.status, answer.headers["allow"]) == (405, "GET")


async def test_where_nobody_gives_tokens_there_are_none(stage):
    machine, _ = await stage.scale_set(SYSTEM)

    assert (await stage.ask(a_request(f"{TOKEN}x"), machine)).status == 404
