"""The page about the engine shows the table as it is."""

from pathlib import Path

import pytest

from lastcall.engine.transitions import TRANSITIONS, diagram

PAGE = Path(__file__).parents[2] / "docs" / "engine.md"
START, END = "<!-- diagram:start -->", "<!-- diagram:end -->"
REGENERATE = (
    "docs/engine.md shows an old diagram. Put the output of\n"
    "    python -c 'from lastcall.engine.transitions import diagram; print(diagram())'\n"
    f"into the mermaid block between {START} and {END}."
)


@pytest.mark.skipif(not PAGE.exists(), reason="the docs are not part of this copy")
def test_the_page_shows_the_table_as_it_is():
    shown = PAGE.read_text(encoding="utf-8").split(START)[1].split(END)[0].strip()

    assert shown == f"```mermaid\n{diagram()}\n```", REGENERATE


def test_the_diagram_has_one_arrow_per_cell_and_two_beginnings():
    arrows = [line for line in diagram().splitlines() if "-->" in line]

    assert len(arrows) == 2 + sum(len(row) for row in TRANSITIONS.values())
