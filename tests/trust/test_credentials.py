"""The credentials that come with a state folder."""

import stat

import pytest

from lastcall.ids import RandomIds
from lastcall.trust.credentials import FILE, keep_credentials, read_credentials
from lastcall.trust.files import TrustError


def test_they_are_made_once_for_the_owner_alone_and_survive_a_restart(tmp_path):
    assert read_credentials(tmp_path) is None
    made = keep_credentials(tmp_path, RandomIds())

    assert keep_credentials(tmp_path, RandomIds()) == made == read_credentials(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert len(made.secret) >= 32


def test_every_folder_has_others(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    # No seed foretells a secret.
    one, two = (keep_credentials(tmp_path / name, RandomIds(1)) for name in "ab")

    assert one.secret != two.secret


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"app_id":1}'])
def test_a_damaged_file_is_named_in_one_sentence(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)

    with pytest.raises(TrustError, match=f"{FILE} is damaged. Remove"):
        keep_credentials(tmp_path, RandomIds())

    assert (tmp_path / FILE).read_bytes() == content
