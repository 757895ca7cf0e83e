"""Azure's own discomforts: off by default, together or one by one (D12)."""

import pytest

from lastcall.cli.up import parser, settings

FLAGS = {
    "--rate-limit": "rate_limit",
    "--first-call-delay": "first_call_delay",
    "--short-notices": "short_notices",
}


def chosen(*arguments):
    found = settings(parser().parse_args(["--state", "somewhere", *arguments]))
    return {name for name in FLAGS.values() if getattr(found, name)}


def test_none_is_on_by_default():
    assert chosen() == set()


@pytest.mark.parametrize(("flag", "name"), FLAGS.items())
def test_each_can_be_had_alone(flag, name):
    assert chosen(flag) == {name}


def test_realistic_means_all_of_them():
    assert chosen("--realistic") == set(FLAGS.values())
