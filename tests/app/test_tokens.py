"""What a token says, and which tokens are believed."""

from datetime import timedelta

import pytest

from lastcall.app.tokens import (
    AuthenticationError,
    ExpiredTokenError,
    Holder,
    InvalidTokenError,
    WrongAudienceError,
)
from lastcall.clock import VirtualClock
from tests.app.signing import CONTROL, ISSUER, OWN, TENANT, TODAY, QuickSigner, some_tokens

HOUR = timedelta(hours=1)


def claims(**changes):
    now = int(TODAY.timestamp())
    good = {
        "aud": f"{CONTROL}/",
        "iss": ISSUER,
        "tid": TENANT,
        "nbf": now,
        "exp": now + 60,
        "appid": OWN.app_id,
        "oid": OWN.object_id,
    }
    return {name: value for name, value in (good | changes).items() if value is not None}


async def test_a_token_says_who_for_what_and_until_when():
    signer = QuickSigner()
    token = await some_tokens(signer).issue(OWN, "https://vault.azure.net", HOUR)

    said = signer.read(token.text)
    now = int(TODAY.timestamp())
    assert said["aud"] == token.resource == "https://vault.azure.net"
    assert said["iss"] == ISSUER
    assert (said["nbf"], said["iat"], said["exp"]) == (now - 300, now, now + 3600)
    assert (said["appid"], said["oid"], said["sub"]) == (OWN.app_id, OWN.object_id, OWN.object_id)
    assert (said["tid"], said["ver"], said["idtyp"]) == (TENANT, "1.0", "app")
    assert (token.not_before, token.expires_at) == (TODAY - timedelta(minutes=5), TODAY + HOUR)


@pytest.mark.parametrize(
    "audience",
    [
        CONTROL,
        f"{CONTROL}/",
        f"{CONTROL}//",
        "HTTPS://LOCALHOST:7443/",
        "https://management.azure.com",
        "https://management.azure.com/",
        "https://management.core.windows.net/",
    ],
)
async def test_a_token_for_us_is_believed_in_every_spelling(audience):
    tokens = some_tokens()
    token = await tokens.issue(OWN, audience, HOUR)

    assert await tokens.holder(token.text) == OWN


async def test_a_machines_token_says_whose_it_is():
    machine = Holder(app_id="a", object_id="o", name="web", resource_id="/subscriptions/x/web")
    tokens = some_tokens()
    token = await tokens.issue(machine, CONTROL, HOUR)

    assert await tokens.holder(token.text) == machine


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"iss": "https://sts.windows.net/x/"}, InvalidTokenError),
        ({"iss": None}, InvalidTokenError),
        ({"tid": "00000000-0000-0000-0000-000000000000"}, InvalidTokenError),
        ({"exp": int(TODAY.timestamp())}, ExpiredTokenError),
        ({"exp": 0}, ExpiredTokenError),
        ({"exp": None}, InvalidTokenError),
        ({"exp": "tomorrow"}, InvalidTokenError),
        ({"exp": True}, InvalidTokenError),
        ({"nbf": int(TODAY.timestamp()) + 1}, InvalidTokenError),
        ({"nbf": None}, InvalidTokenError),
        ({"aud": "https://vault.azure.net"}, WrongAudienceError),
        ({"aud": f"{CONTROL}.evil.example"}, WrongAudienceError),
        ({"aud": "https://127.0.0.1:7444/"}, WrongAudienceError),
        ({"aud": [CONTROL]}, WrongAudienceError),
        ({"aud": None}, WrongAudienceError),
    ],
)
async def test_a_token_that_is_not_for_here_and_now_is_refused(changes, refusal):
    signer = QuickSigner()
    await some_tokens(signer).holder(signer.sign(claims()))  # But for the change it is good.

    with pytest.raises(refusal) as refused:
        await some_tokens(signer).holder(signer.sign(claims(**changes)))

    assert type(refused.value) is refusal
    assert isinstance(refused.value, AuthenticationError)


async def test_a_token_is_good_until_it_expires_and_not_a_second_longer():
    clock = VirtualClock(TODAY)
    tokens = some_tokens(clock=clock)
    token = await tokens.issue(OWN, CONTROL, HOUR)
    clock.advance(HOUR - timedelta(seconds=1))
    assert await tokens.holder(token.text) == OWN

    clock.advance(timedelta(seconds=1))

    with pytest.raises(ExpiredTokenError):
        await tokens.holder(token.text)


@pytest.mark.parametrize("text", ["", "x", "x" * 20_000, "a.b.c"])
async def test_what_was_not_signed_here_is_refused(text):
    with pytest.raises(InvalidTokenError):
        await some_tokens().holder(text)


async def test_the_signature_of_another_is_not_ours():
    token = await some_tokens(QuickSigner(b"other")).issue(OWN, CONTROL, HOUR)

    with pytest.raises(InvalidTokenError):
        await some_tokens().holder(token.text)


async def test_the_key_is_prepared_once_and_only_when_it_is_needed():
    signer = QuickSigner()
    tokens = some_tokens(signer)
    assert signer.preparations == 0

    for _ in range(3):
        await tokens.issue(OWN, CONTROL, HOUR)

    assert signer.preparations == 1
