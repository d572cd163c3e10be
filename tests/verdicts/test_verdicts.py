"""Each verdict case gets its right verdict, without contradictions, and is in docs/truth.md."""

import pytest

from plimsoll.api.compare import CompareOptions, compare_inputs
from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings

from .case import families, first_screen
from .contradictions import contradictions, of_comparison
from .table import PAGE, results, row, section


@pytest.mark.parametrize("family", families())
def test_cases_are_judged_right(family):
    judged = results(family)
    wrong = [
        f"{result.case.name}: {result.kind}: {result.lacks}: {result.text}"
        for result in judged
        if result.kind != "right"
    ]
    assert wrong == []
    assert [f"{result.case.name}: {result.contradictions}" for result in judged if result.contradictions] == []
    text = PAGE.read_text("utf-8")
    stale = "run: python -m tests.verdicts --write"
    assert row(family, judged) in text, stale
    assert section(family, judged) in text, stale


def test_page_has_no_other_families_and_their_sum():
    table = "| family" + PAGE.read_text("utf-8").split("\n## ")[0].partition("| family")[2]
    lines = [line.split(" | ") for line in table.splitlines() if line[:2] == "| "]
    named = [line[0].removeprefix("| ") for line in lines]
    assert named == ["family", *families(), "**all**"]
    counts = [int(line[1]) for line in lines[1:]]
    assert counts[-1] == sum(counts[:-1]) == sum(map(len, families().values()))


@pytest.mark.parametrize(
    "example", sorted(path.name for path in (PAGE.parents[1] / "examples").iterdir() if path.is_dir())
)
def test_examples_contradict_nothing_they_say(example):
    folder = PAGE.parents[1] / "examples" / example
    inputs = Inputs((str(folder / "healthy"), str(folder / "trouble")))
    comparison = compare_inputs(inputs, ReviewSettings(), CompareOptions())[0]
    reviews = (comparison.first.insights, comparison.second.insights)
    assert [text for insights in reviews for text in contradictions(insights, first_screen(insights)[1])] == []
    assert of_comparison(comparison) == []
