"""What docs/scale-sets.md says is not implemented is what the code says."""

import re
from pathlib import Path

from lastcall.web.arm.front_door import SET
from lastcall.web.arm.not_implemented import NOT_IMPLEMENTED

PAGE = Path(__file__).parents[2] / "docs" / "scale-sets.md"
ROW = re.compile(r"^\| (GET|PUT|PATCH|POST|DELETE) \| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def test_the_page_lists_what_is_not_implemented_and_nothing_else():
    expected = [(each.method, each.path.removeprefix(SET), each.why) for each in NOT_IMPLEMENTED]

    assert ROW.findall(PAGE.read_text()) == expected
