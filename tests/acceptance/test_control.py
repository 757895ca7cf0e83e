"""The control address of a real process, over real TLS."""

import json
import socket
import ssl
import stat
from pathlib import Path

import httpx2
import pytest

from lastcall.trust.certificates import AUTHORITY_KEY, LEAF
from lastcall.trust.credentials import FILE as CREDENTIALS
from lastcall.trust.files import AUTHORITY
from lastcall.trust.signing import FILE as SIGNING_KEY
from tests.acceptance.test_up import refused
from tests.cli.processes import fetch, start, up

pytestmark = pytest.mark.acceptance

CLOCK = "/lastcall/v1/clock"


def client(where, **more):
    trust = ssl.create_default_context(cafile=where["ca"])
    return httpx2.Client(base_url=where["control"], verify=trust, trust_env=False, **more)


def sign_in(http, state, **changes):
    own = json.loads((state / CREDENTIALS).read_text())
    form = {
        "grant_type": "client_credentials",
        "client_id": own["app_id"],
        "client_secret": own["secret"],
        "scope": f"{str(http.base_url).rstrip('/')}/.default",
    }
    return http.post("/adfs/oauth2/token", data=form | changes)


def bearer(http, state):
    return {"Authorization": f"Bearer {sign_in(http, state).json()['access_token']}"}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_a_client_that_trusts_the_authority_signs_in_and_is_served(tmp_path):
    with up(tmp_path) as where, client(where) as http:
        assert http.get(CLOCK).status_code == 401
        headers = bearer(http, tmp_path)

        assert http.get(CLOCK, headers=headers).json()["mode"] == "real"
        assert http.get("/healthz").status_code == 200
        assert sign_in(http, tmp_path, client_secret="wrong").status_code == 401
        keys = http.get("/adfs/discovery/keys").json()["keys"]
        assert keys[0]["alg"] == "RS256"
        # The portal asks for nothing, and is loopback's.
        assert fetch(f"{where['portal']}{CLOCK}")[0] == 200


def test_a_client_that_does_not_trust_it_is_not_fooled(tmp_path):
    untrusted = pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED")
    with up(tmp_path) as where, httpx2.Client(trust_env=False) as http, untrusted:
        http.get(where["control"])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_it_speaks_todays_tls(tmp_path, version):
    with up(tmp_path) as where:
        trust = ssl.create_default_context(cafile=where["ca"])
        trust.minimum_version = trust.maximum_version = version
        with httpx2.Client(verify=trust, trust_env=False) as http:
            assert http.get(f"{where['control']}/healthz").status_code == 200


def test_plain_http_gets_nowhere_on_it(tmp_path):
    with up(tmp_path) as where:
        port = int(where["control"].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200" not in plain.recv(100)


def test_everything_survives_a_restart_and_secrets_are_their_owners(tmp_path):
    address = f"127.0.0.1:{free_port()}"
    with up(tmp_path, "--control", address) as where, client(where) as http:
        headers = bearer(http, tmp_path)
        authority = Path(where["ca"]).read_bytes()
    secret = (AUTHORITY_KEY, LEAF, SIGNING_KEY, CREDENTIALS)
    modes = {oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) for name in secret}
    before = {name: (tmp_path / name).read_bytes() for name in (*secret, AUTHORITY)}

    with up(tmp_path, "--control", address) as where, client(where) as http:
        assert http.get(CLOCK, headers=headers).status_code == 200
        assert Path(where["ca"]).read_bytes() == authority

    assert modes == {"0o600"}
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_token_of_another_server_is_worth_nothing(tmp_path):
    address = f"127.0.0.1:{free_port()}"
    with up(tmp_path / "one", "--control", address) as where, client(where) as http:
        headers = bearer(http, tmp_path / "one")

    # At the same address, so that issuer and audience are the same.
    with up(tmp_path / "two", "--control", address) as where, client(where) as http:
        answer = http.get(CLOCK, headers=headers)

    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "InvalidAuthenticationToken"


def test_it_may_listen_where_others_reach_it(tmp_path):
    with up(tmp_path, "--control", "0.0.0.0:0") as where, client(where) as http:
        assert where["control"].startswith("https://127.0.0.1:")
        headers = bearer(http, tmp_path)
        assert http.get(CLOCK, headers=headers).status_code == 200
        other = {**headers, "Host": f"{socket.gethostname()}:7443"}
        assert http.get(CLOCK, headers=other).status_code == 200
        origin = {**headers, "Origin": "https://evil.example"}
        assert http.get(CLOCK, headers=origin).status_code == 403


@pytest.mark.parametrize("name", [AUTHORITY, LEAF, CREDENTIALS])
def test_a_damaged_file_stops_the_start_with_one_sentence(tmp_path, name):
    with up(tmp_path):
        pass
    (tmp_path / name).write_text("nonsense")

    sentence = refused(start(tmp_path))

    assert f"{tmp_path / name} is damaged." in sentence
    assert "Remove" in sentence


def test_an_address_that_is_taken_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        sentence = refused(start(tmp_path, "--control", address))

    assert address in sentence
    assert "--control HOST:PORT" in sentence
