"""Certificates are made once, kept, and renewed by the same authority."""

import contextlib
import ssl
import stat
from datetime import UTC, datetime, timedelta

import pytest

from lastcall.trust.certificates import AUTHORITY_KEY, LEAF, Certificates
from lastcall.trust.files import AUTHORITY, TrustError
from lastcall.trust.minting import LEAF_LIFETIME, Mint
from lastcall.trust.names import LOOPBACK_NAMES, names_of

NOW = datetime.now(UTC)
FILES = (AUTHORITY, AUTHORITY_KEY, LEAF)


def certificate(folder, context, name):
    """Return what a client that trusts the folder's authority is shown under a name."""
    client = ssl.create_default_context(cafile=folder / AUTHORITY)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(back, there, server_hostname=name)
    answering = context.wrap_bio(there, back, server_side=True)
    for side in (asking, answering, asking):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return asking.getpeercert()


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("name", LOOPBACK_NAMES)
def test_a_client_that_trusts_the_authority_believes_every_name(tmp_path, name):
    context = Certificates(tmp_path, names_of("127.0.0.1")).context(NOW)

    assert certificate(tmp_path, context, name)["notAfter"]


def test_a_client_does_not_believe_another_name(tmp_path):
    context = Certificates(tmp_path, names_of("127.0.0.1")).context(NOW)

    with pytest.raises(ssl.SSLCertVerificationError):
        certificate(tmp_path, context, "127.0.0.2")


def test_keys_are_their_owners_alone_and_the_authority_is_for_all(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)

    modes = {name: oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) for name in FILES}
    assert modes == {AUTHORITY: "0o644", AUTHORITY_KEY: "0o600", LEAF: "0o600"}


def test_a_restart_changes_nothing(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    before = contents(tmp_path)

    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)

    assert contents(tmp_path) == before


def test_another_host_gets_a_certificate_of_the_same_authority(tmp_path):
    Certificates(tmp_path, names_of("127.0.0.1")).context(NOW)
    before = contents(tmp_path)

    context = Certificates(tmp_path, names_of("lastcall.example")).context(NOW)

    after = contents(tmp_path)
    assert certificate(tmp_path, context, "lastcall.example")
    assert after[LEAF] != before[LEAF]
    assert {**after, LEAF: 0} == {**before, LEAF: 0}


def test_a_certificate_that_ends_soon_is_renewed(tmp_path):
    made_at = NOW - LEAF_LIFETIME + timedelta(days=29)
    Certificates(tmp_path, LOOPBACK_NAMES).context(made_at - timedelta(days=1))
    before = contents(tmp_path)

    context = Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)

    ends = ssl.cert_time_to_seconds(certificate(tmp_path, context, "localhost")["notAfter"])
    assert ends > (NOW + timedelta(days=300)).timestamp()
    assert contents(tmp_path)[AUTHORITY] == before[AUTHORITY]


def test_a_certificate_in_use_is_renewed_under_its_server(tmp_path):
    certificates = Certificates(tmp_path, LOOPBACK_NAMES)
    made_at = NOW - LEAF_LIFETIME + timedelta(days=29)
    context = certificates.context(made_at)
    first = certificate(tmp_path, context, "localhost")

    certificates.renew(context, made_at)
    assert certificate(tmp_path, context, "localhost") == first

    certificates.renew(context, NOW)
    assert certificate(tmp_path, context, "localhost")["notAfter"] != first["notAfter"]


def test_a_start_that_was_broken_off_is_started_over(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / AUTHORITY).unlink()

    assert Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    assert (tmp_path / AUTHORITY).exists()


def test_a_lost_certificate_is_made_again(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / LEAF).unlink()

    assert Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_damaged_file_is_named_in_one_sentence(tmp_path, name, content):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / name).write_bytes(content)
    if name == AUTHORITY_KEY:
        (tmp_path / LEAF).unlink()  # It is needed only to make another.

    with pytest.raises(TrustError, match=f"{name} is damaged. Remove") as refused:
        Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)

    assert "\n" not in str(refused.value)


def test_an_authority_without_its_key_is_told_when_the_key_is_needed(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / AUTHORITY_KEY).unlink()
    assert Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / LEAF).unlink()

    with pytest.raises(TrustError, match=AUTHORITY_KEY):
        Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)


def test_an_authority_and_a_key_of_two_different_ones_are_told(tmp_path):
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    key = (tmp_path / AUTHORITY_KEY).read_bytes()
    for name in FILES:
        (tmp_path / name).unlink()
    Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)
    (tmp_path / AUTHORITY_KEY).write_bytes(key)
    (tmp_path / LEAF).unlink()

    with pytest.raises(TrustError, match="damaged"):
        Certificates(tmp_path, LOOPBACK_NAMES).context(NOW)


def test_a_process_of_its_own_makes_the_first_ones(tmp_path):
    with Mint(LOOPBACK_NAMES, NOW) as mint:
        context = Certificates(tmp_path, LOOPBACK_NAMES).context(NOW, mint.minted)

    assert certificate(tmp_path, context, "::1")


def test_they_are_made_here_where_that_process_fails(tmp_path):
    with Mint(("not a name",), NOW) as mint:
        assert mint.minted() is None
        assert Certificates(tmp_path, LOOPBACK_NAMES).context(NOW, mint.minted)


def test_a_name_that_cannot_stand_in_a_certificate_is_told(tmp_path):
    with pytest.raises(TrustError, match="not a name"):
        Certificates(tmp_path, ("not a name",)).context(NOW)


@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("127.0.0.1", ()),
        ("localhost", ()),
        ("10.1.2.3", ("10.1.2.3",)),
        ("2001:db8::1", ("2001:db8::1",)),
        ("Build.Example", ("build.example",)),
        ("a_b", ()),
    ],
)
def test_a_server_is_believed_on_loopback_and_where_it_listens(host, more):
    assert names_of(host) == (*LOOPBACK_NAMES, *more)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_one_that_listens_everywhere_has_no_such_name(host):
    assert host not in names_of(host)
