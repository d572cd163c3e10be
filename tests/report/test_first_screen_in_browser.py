"""The first screen of a report in Chromium: the verdict, the cause and the evidence are seen without scrolling."""

from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.demo.runs import write_runs
from plimsoll.insights.insights import Insights
from plimsoll.report.html.render import render

EXAMPLES = Path(__file__).parents[2] / "examples"
# Examples whose headlines, causes and next steps are the longest, one that is not known, and one that is well.
IN_TROUBLE = ("active-directory", "membership-directory", "skype-for-business", "web-server")
RECEIVED = [*(EXAMPLES / text / "trouble" for text in IN_TROUBLE), EXAMPLES / "exchange" / "healthy"]
SCREENS = [(1440, 900, "light"), (390, 844, "dark")]

# Where the elements of each part that are to be seen end.
BOXES = """parts => parts.map(part => [...document.querySelectorAll(part)].filter(one => one.checkVisibility())
  .map(one => one.getBoundingClientRect().bottom))"""


def twenty_hosts(folder: Path) -> Path:
    """Logs of twenty hosts in trouble."""
    folder.mkdir()
    text = (EXAMPLES / "windows-today" / "trouble" / "APPSRV01.csv").read_text(encoding="utf-8")
    for number in range(20):
        (folder / f"{number}.csv").write_text(text.replace("APPSRV01", f"APPSRV{number:02}"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of the demo, of examples and of twenty hosts, with their insights."""
    folder = tmp_path_factory.mktemp("first")
    runs = [*write_runs(folder / "demo"), *RECEIVED]
    entries = []
    for number, run in enumerate([*runs, twenty_hosts(folder / "many")]):
        insights = Insights(review_inputs(Inputs((str(run),)), ReviewSettings()))
        path = folder / f"{number}.html"
        path.write_text(render(insights), encoding="utf-8")
        entries.append((f"{run.parent.name}/{run.name}", path.as_uri(), insights.review))
    return entries


def test_the_answer_is_on_the_first_screen(chromium, reports):
    assert {review.verdict for _, _, review in reports} == {"healthy", "not-healthy", "unknown"}
    with closing(chromium.new_page()) as page:
        for name, address, review in reports:
            page.goto(address)
            for width, height, scheme in SCREENS:
                page.set_viewport_size({"width": width, "height": height})
                page.emulate_media(color_scheme=scheme)
                parts = [".verdict h1"]
                if page.locator(".figures").count() or review.verdict != "unknown":  # a doubt need not name a value
                    parts.append(".figures div" if width > 1000 else ".figures div:first-child")
                if review.verdict == "not-healthy":
                    parts += [".verdict .cause", ".verdict .next"]
                rule_evaluations = page.evaluate(BOXES, parts)
                assert all(rule_evaluations), (name, parts, rule_evaluations)
                assert max(bottom for rule_evaluation in rule_evaluations for bottom in rule_evaluation) <= height, (
                    name,
                    parts,
                    rule_evaluations,
                )
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
