"""What a test is, so that the quick ones can be run alone."""

import pytest
from hypothesis import is_hypothesis_test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.property)
