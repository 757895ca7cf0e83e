"""What a reader may expect of every module, checked."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 500
CLOCK_READS = ("datetime.now(", "time.time(", "time.monotonic(")
NAMELESS = {"utils", "helpers", "common", "misc", "base", "manager"}
# The outer loop must outlive a bug, a transaction's exception belongs to whoever asked, and an
# edge turns what is left into a 500.
BROAD_EXCEPTS_ALLOWED = {
    "app/reconcile.py",
    "app/runner.py",
    "store/memory.py",
    "store/sqlite.py",
    "store/sqlite_shelf.py",
    "web/errors.py",
    "metadata/connection.py",
    "cli/main.py",
}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("module", SOURCES, ids=_name)
def test_a_module_is_small_and_asks_the_clock(module):
    source = module.read_text()
    assert len(source.splitlines()) <= MODULE_LINES_MAX
    assert module.stem not in NAMELESS
    if module.name != "clock.py":
        assert not [read for read in CLOCK_READS if read in source], "ask the Clock"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("module", SOURCES, ids=_name)
def test_only_the_outer_loops_catch_everything(module):
    place = str(module.relative_to(ROOT / "src" / "lastcall"))
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ExceptHandler):
            name = node.type.id if isinstance(node.type, ast.Name) else ""
            broad = node.type is None or name in {"Exception", "BaseException"}
            assert not broad or place in BROAD_EXCEPTS_ALLOWED


@pytest.mark.parametrize("module", TESTS, ids=_name)
def test_no_test_patches_what_it_could_pass_in(module):
    source = module.read_text()
    for patch in ("mock" + ".patch", "monkeypatch" + ".setattr", "unittest" + ".mock"):
        assert patch not in source
