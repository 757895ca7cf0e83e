import re
from pathlib import Path

from lastcall.engine import limits
from lastcall.wire.templates.functions import FUNCTIONS
from lastcall.wire.templates.functions.surroundings import LISTS

PAGE = (Path(__file__).parents[3] / "docs" / "templates.md").read_text()


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_example_prints_what_the_page_says(capsys):
    exec(compile(block("python"), "docs/templates.md", "exec"), {})

    assert capsys.readouterr().out == block("text")


def test_the_page_has_every_function_and_no_other():
    table = PAGE.partition("## Functions")[2].partition("Where they differ")[0]
    written = set(re.findall(r"`(\w+)`", table))
    refused = {name.lower() for name in LISTS}

    assert {name.lower() for name in written} == FUNCTIONS.keys() - refused
    assert written == {function.name for key, function in FUNCTIONS.items() if key not in refused}


def test_the_page_has_the_limits():
    table = PAGE.partition("## Limits")[2]

    for limit in (
        limits.EXPRESSION_CHARACTERS_MAX,
        limits.EXPRESSION_DEPTH_MAX,
        limits.TEMPLATE_DEPTH_MAX,
        limits.TEMPLATE_PARAMETERS_MAX,
        limits.TEMPLATE_VARIABLES_MAX,
        limits.TEMPLATE_OUTPUTS_MAX,
        limits.TEMPLATE_RESOURCES_MAX,
        limits.TEMPLATE_COPIES_MAX,
        limits.TEMPLATE_NESTED_DEPLOYMENTS_MAX,
        limits.TEMPLATE_EVALUATION_DEPTH_MAX,
        limits.TEMPLATE_WORK_MAX,
    ):
        assert re.search(rf"\b{limit:,}\b", table)
    assert limits.TEMPLATE_BYTES_MAX == 4 * 1024 * 1024
