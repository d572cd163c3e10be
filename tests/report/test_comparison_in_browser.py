"""The HTML of a comparison in Chromium: its tables fit wide and narrow screens, and what did not change is closed."""

import re

import pytest

from plimsoll.api.compare import compare
from plimsoll.demo.runs import write_runs


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """The comparison of the demo's runs as a file, as its address."""
    folder = tmp_path_factory.mktemp("comparison")
    path = folder / "comparison.html"
    runs = {write_run.name: write_run for write_run in write_runs(folder / "runs")}
    path.write_text(compare(runs["8GB"], runs["4GB"]).to_html(), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_table_of_all_signals_fits(chromium, comparison, width):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(comparison)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll:has(.signals)')].map((one) => [one.scrollWidth, one.clientWidth])"
    )
    assert len(wide) > 4
    assert [rule_evaluation for rule_evaluation in wide if rule_evaluation[0] > rule_evaluation[1]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_what_did_not_change_is_closed(chromium, comparison):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(comparison)
    same = page.locator("details.unchanged td", has_text="No difference that matters")
    assert same.count() > 10
    assert not same.first.is_visible()
    assert page.locator("details.fold[open] td", has_text="Worse").first.is_visible()
    page.close()


def test_it_prints_in_few_pages(chromium, comparison):
    """Sections that are folded on the screen are not printed."""
    page = chromium.new_page()
    page.goto(comparison)
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 12
    page.close()
