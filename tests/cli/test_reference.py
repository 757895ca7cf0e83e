"""The page about the command line says what the commands say."""

from .reference import PAGE, page


def test_the_reference_is_what_the_commands_say():
    assert PAGE.read_text() == page(), "run: python -m tests.cli.reference"
