"""What the documentation promises, checked against the code."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMPATIBILITY = ROOT / "docs" / "compatibility.md"
RULES = [f"R{number}" for number in range(1, 117)] + [f"D{number}" for number in range(1, 13)]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ANSWERS = {"same", "differs", "not yet", "not ours"}


@cache
def _rows():
    """Return the table rows by rule: (what, answer, tests)."""
    rows = {}
    for line in COMPATIBILITY.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if re.fullmatch(r"[RD]\d+", cells[0]):
            assert cells[0] not in rows, f"{cells[0]} stands twice"
            assert len(cells) == 4, line
            rows[cells[0]] = tuple(cells[1:])
    return rows


@cache
def _tests_in(path):
    return set(_found_in(path))


def _found_in(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test"
        ):
            yield node.name
        # Hypothesis state machines are tests under the name they are bound to.
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_answered_and_shown_by_a_test_that_exists(rule):
    _what, answer, tests = _rows()[rule]
    assert answer in ANSWERS
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests)
    if answer in {"same", "differs"}:
        assert named, f"{rule} is called '{answer}' but no test shows it"
    for file, test in named:
        assert (ROOT / file).exists(), f"{file} does not exist"
        assert test in _tests_in(ROOT / file), f"{file} has no {test}"


def test_no_rule_is_invented():
    assert set(_rows()) == set(RULES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_that_exists(page):
    for target in LINK.findall(page.read_text()):
        path = target.partition("#")[0]
        if path and "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / path).exists(), f"{page.name} links to {target}"
