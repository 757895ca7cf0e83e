"""The signature of a state folder: it stays, and nothing else is taken for it."""

import base64
import hashlib
import hmac
import json
import stat

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lastcall.ports import SignerUnavailableError
from lastcall.trust.signing import FILE, KeySigner

CLAIMS = {"aud": "x", "exp": 1, "appid": "me"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("signing")


def encoded(part):
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def test_a_key_is_made_once_is_its_owners_alone_and_survives_a_restart(folder):
    token = KeySigner(folder).sign(CLAIMS)
    mode = stat.S_IMODE((folder / FILE).stat().st_mode)

    assert mode == 0o600
    assert KeySigner(folder).read(token) == CLAIMS


def test_what_others_could_read_is_closed_to_them(folder):
    KeySigner(folder).prepare()
    (folder / FILE).chmod(0o644)

    KeySigner(folder).prepare()

    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600


def test_others_can_verify_with_the_public_key(folder):
    signer = KeySigner(folder)
    token = signer.sign(CLAIMS)
    (key,) = signer.public_keys()

    found = jwt.decode(
        token, jwt.PyJWK(key), algorithms=["RS256"], options={"verify_exp": False}, audience="x"
    )

    assert found == CLAIMS
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "JWT", "kid": key["kid"]}
    assert "d" not in key


def test_forgeries_are_not_read(folder):
    signer = KeySigner(folder)
    token = signer.sign(CLAIMS)
    header, body, signature = token.split(".")
    # The confusion of old libraries: the public key taken for a shared secret.
    claimed = f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{body}"
    modulus = base64.urlsafe_b64decode(signer.public_keys()[0]["n"] + "==")
    sealed = hmac.new(modulus, claimed.encode(), hashlib.sha256).digest()
    stranger = rsa.generate_private_key(65537, 2048)
    forgeries = [
        f"{encoded({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        f"{encoded({'alg': 'None'})}.{body}.{signature}",
        jwt.encode(CLAIMS, stranger, "RS256"),
        f"{claimed}.{base64.urlsafe_b64encode(sealed).rstrip(b'=').decode()}",
        f"{header}.{encoded(CLAIMS | {'appid': 'you'})}.{signature}",
        f"{header}.{body}.{signature[:-4]}",
        f"{header}.{body}",
        f"{header}.{body}.",
        header,
        "",
        "..",
        "\u2603.\u2603.\u2603",
        f"{header}.{encoded([1])}.{signature}",
        "A" * 10_000,
    ]

    assert [signer.read(forged) for forged in forgeries] == [None] * len(forgeries)
    assert signer.read(token) == CLAIMS


@pytest.mark.parametrize("content", [b"", b"nonsense", "ec"])
def test_a_damaged_key_is_named_in_one_sentence(tmp_path, content):
    if content == "ec":  # A key, but of another kind.
        other = ec.generate_private_key(ec.SECP256R1())
        content = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / FILE).write_bytes(content)

    with pytest.raises(SignerUnavailableError, match=f"{FILE} is damaged") as refused:
        KeySigner(tmp_path).prepare()

    assert "\n" not in str(refused.value)
    assert (tmp_path / FILE).read_bytes() == content
