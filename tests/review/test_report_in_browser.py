"""The HTML report in Chromium: it fits, answers to the pointer, can be read, and prints unfolded."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from model.log import Log
from model.names import shipped
from model.perfmon import CounterPath
from model.run import Phase, Run
from model.times import SECOND, Zone
from review.facts import Facts, GivenFacts
from review.findings import Question
from review.html import render
from review.review import review
from rules.load import load_packs, load_signals

CHROMIUM = Path("/usr/bin/chromium")
QUIET = [
    *("--no-sandbox", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]

# For every element that holds text of its own: how its colour stands out from what lies behind it.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((one, at) => (one * a + below[at] * (255 - a)) / 255);
  const behind = (element) => {
    const below = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return over(rgba(getComputedStyle(element).backgroundColor), below);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((one) => one / 255).map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll("body *:not(script)")]
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && one.checkVisibility())
    .map((one) => {
      const ground = behind(one), ink = over(rgba(getComputedStyle(one).color), ground);
      const [low, high] = [light(ground), light(ink)].sort((a, b) => a - b);
      return [(high + 0.05) / (low + 0.05), one.textContent.trim().slice(0, 40)];
    });
}"""


@pytest.fixture(scope="module")
def chromium():
    refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    if not CHROMIUM.exists():
        refuse(f"{CHROMIUM} is not installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        refuse("playwright is not installed: python3 start.py test installs it")
        raise
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield browser
        browser.close()


START = 1_200_387_720 * SECOND  # 2008-01-15 10:02:00 in Berlin
ROWS = 1800
QUEUE = r"\PhysicalDisk({})\Avg. Disk Queue Length"
CPU = r"\Processor(_Total)\% Processor Time"
HOSTILE = 'E:</script><img src="x" onerror="alert(1)">'


def a_log(host, columns):
    return Log(
        path=Path(f"/logs/{host}.csv"),
        format="pdh-csv",
        times=START + np.arange(ROWS, dtype=np.int64) * 5 * SECOND,
        columns=tuple(pl.Series(values, dtype=pl.Float64).fill_nan(None) for values in columns.values()),
        series=tuple(shipped().series(CounterPath.parse(path), host) for path in columns),
        zone=Zone.parse("Europe/Berlin"),
    )


def everything():
    """A review with everything in it: a gap, several breaches, long and hostile names, all kinds of states."""
    wave = 1 + 0.02 * np.sin(np.arange(ROWS) * 1.7)
    busy = np.full(ROWS, 40.0)
    busy[300:420], busy[600:900], busy[1200:1300] = 88, 93, np.nan
    columns = {
        CPU: busy,
        r"\SQLServer:Buffer Manager\Page life expectancy": np.minimum(100 + 3.0 * np.arange(ROWS), 1000),
        r"\Memory\Available Bytes": 7e8 * wave,
        r"\System\Context Switches/sec": np.full(ROWS, np.nan),
        QUEUE.format("a" * 90): 2 * wave,
    }
    columns |= {QUEUE.format(f"{n} {HOSTILE}"): (5 + n) * wave for n in range(12)}
    logs = [a_log("SQL01", columns), a_log("OTHER", {CPU: 9 * wave})]
    ends = START + 1200 * SECOND, START + 9000 * SECOND
    phases = (Phase("ramp-up", START, ends[0] - 1), Phase("steady", *ends))
    question = Question(load_packs(), load_signals(), phases)
    return review(logs, Run("a run", {"memory": "4GB"}, phases, simulated=True), question, Facts(GivenFacts(), {}))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report as a file, as its address."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(everything()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(chromium, report):
    """Opens the report at a width and theme; whatever the browser complains of fails the test."""
    pages, complaints = [], []

    def open_(width=1440, scheme="light", **more):
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != report else None)
        page.goto(report)
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_reaches_beyond_the_window(opened, width, scheme):
    page = opened(width, scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, scheme):
    page = opened(scheme=scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [found for found in contrasts if found[0] < 4.5] == []


def test_the_themes_differ(opened):
    grounds = {opened(scheme=s).evaluate("getComputedStyle(document.body).backgroundColor") for s in ("light", "dark")}
    assert len(grounds) == 2


def hover(page, plot, share):
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)


def test_the_pointer_reads_every_line_at_its_instant(opened):
    page = opened()
    section = page.locator(".crossed", has_text="Page life expectancy").first
    hover(page, section.locator(".full .plot"), 0.5)
    readings = section.locator(".reading").all_inner_texts()
    assert len(readings) == len(section.locator(".chart").all()), "charts of one subject share the instant"
    assert "11:16:" in readings[0] or "11:17:" in readings[0]
    assert "Page life expectancy" in readings[0]
    assert "1,000 s" in readings[0]
    assert any("MB" in reading for reading in readings)
    page.mouse.move(0, 0)
    assert section.locator(".reading").count() == 0


def test_a_gap_has_no_value(opened):
    page = opened()
    section = page.locator(".crossed", has_text="Processor time").first
    hover(page, section.locator(".full .plot"), 1250 / 1800)
    assert "no sample" in section.locator(".reading").first.inner_text()


@pytest.mark.parametrize("share", [0.01, 0.49, 0.51, 0.99])
def test_the_reading_stays_inside_a_narrow_window(opened, share):
    page = opened(360)
    plot = page.locator(".full .plot").first
    hover(page, plot, share)
    box = page.locator(".reading").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_the_arrow_keys_read_too(opened):
    page = opened()
    page.locator(".full .plot").first.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".reading").first.inner_text()
    page.keyboard.press("PageDown")
    assert page.locator(".reading").first.inner_text() != first
    page.keyboard.press("Escape")
    assert page.locator(".reading").count() == 0


def test_a_link_opens_the_rule_it_leads_to(opened):
    page = opened()
    rule = page.locator("#rule-sql-page-life-expectancy")
    assert not rule.is_visible()
    page.locator("a[href='#rule-sql-page-life-expectancy']").first.click()
    assert rule.is_visible()


def test_lines_reach_as_far_as_the_time_axis(opened):
    page = opened()
    box = page.locator(".full .plot").first.bounding_box()
    line = page.locator(".full .line").first.bounding_box()
    assert abs(line["x"] - box["x"]) < 4
    assert abs(line["x"] + line["width"] - box["x"] - box["width"]) < 4


def test_print_unfolds_everything_and_folds_it_again(opened):
    page = opened()
    folded = page.locator("details:not([open])").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == folded > 0


def test_no_chart_is_cut_by_a_page_break(opened):
    """Each chart may not be broken, and is shorter than a page of A4."""
    page = opened(width=700)
    page.emulate_media(media="print")
    heights = page.evaluate(
        "[...document.querySelectorAll('figure')].map((one) => [getComputedStyle(one).breakInside, one.offsetHeight])"
    )
    assert heights
    assert {inside for inside, _ in heights} == {"avoid"}
    assert max(height for _, height in heights) < 900
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_it_reads_without_scripts(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("h1").inner_text().startswith("Not healthy.")
    assert page.locator(".full .line").first.bounding_box()["width"] > 500
