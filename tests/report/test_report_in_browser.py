"""The HTML report in Chromium: it fits, is drawn, zooms to the samples, answers to the pointer, and prints."""

import re
import time
import zlib
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from plimsoll.insights.insights import Insights
from plimsoll.model.run import Phase
from plimsoll.model.times import SECOND, Zone, convert_to_instant
from plimsoll.report.html.render import render
from tests import simulated
from tests.pages import browsing

START = 1_200_387_720 * SECOND  # 2008-01-15 10:02:00 in Berlin
ROWS = 1800
QUEUE = r"\PhysicalDisk({})\Avg. Disk Queue Length"
CPU = r"\Processor(_Total)\% Processor Time"
HOSTILE = 'E:</script><img src="x" onerror="alert(1)">'


def a_log(host, columns, start=START):
    return replace(simulated.a_log(columns, host, start=start), zone=Zone.parse("Europe/Berlin"))


def everything():
    """A review with everything in it: a gap, several breaches, long and hostile names, all kinds of states."""
    wave = 1 + 0.02 * np.sin(np.arange(ROWS) * 1.7)
    busy = np.full(ROWS, 40.0)
    busy[300:420], busy[600:900], busy[1200:1300] = 88, 93, np.nan
    columns = {
        CPU: busy,
        r"\SQLServer:Buffer Manager\Page life expectancy": np.minimum(100 + 3.0 * np.arange(ROWS), 1000),
        r"\Memory\Available Bytes": 7e9 * wave,
        r"\System\Context Switches/sec": np.full(ROWS, np.nan),
        QUEUE.format("a" * 90): 2 * wave,
    }
    columns |= {QUEUE.format(f"{n} {HOSTILE}"): (5 + n) * wave for n in range(12)}
    logs = [a_log("SQL01", columns), a_log("OTHER", {CPU: 9 * wave})]
    ends = START + 1200 * SECOND, START + 9000 * SECOND
    phases = (Phase("ramp-up", START, ends[0] - 1), Phase("steady", *ends))
    return simulated.reviewed(*logs, phases=phases)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report as a file, as its address."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(Insights(everything())), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(chromium, report):
    """Opens the report at a width and theme; whatever the browser complains of fails the test."""
    with ExitStack() as open_pages:
        complaints = []

        def open_(width=1440, scheme="light"):
            enter_context = open_pages.enter_context(browsing.opened(chromium, report, width=width, scheme=scheme))
            complaints.append(enter_context.complaints)
            return enter_context.page

        yield open_
    assert [item for complaint in complaints for item in complaint] == []


def unfold(page):
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def test_nothing_reaches_beyond_the_window(opened):
    page = opened()
    unfold(page)
    for width in (1440, 768, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(chromium, report, scheme):
    """The contrast of all texts with their background, as axe-core measures it."""
    with browsing.opened(chromium, report, scheme=scheme) as item:
        unfold(item.page)
        assert [violation for violation in item.violations() if violation.startswith("color-contrast")] == []


# What a canvas shows: how many of its pixels are of a colour, and of how many colours they are.
PIXELS = """(canvas, colour) => {
  const paper = (width, height) => {
    const one = document.createElement("canvas");
    [one.width, one.height] = [width, height];
    return one.getContext("2d", { willReadFrequently: true });
  };
  const probe = paper(1, 1), copy = paper(canvas.width, canvas.height);
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(colour);
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let n = 0; n < data.length; n += 4) if (data[n] === r && data[n + 1] === g && data[n + 2] === b && data[n + 3] === 255) count += 1;
  return count;
}"""


def pixels(chart, colour):
    return chart.locator("canvas").evaluate(PIXELS, colour)


def hover(page, chart, share):
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    return box


def drag(page, chart, start, end):
    box = hover(page, chart, start)
    page.mouse.down()
    for share in ((start + end) / 2, end):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    page.mouse.up()


def times_read(page, chart, parts=24):
    """The instants the reading shows as the pointer goes over a chart, from its first pixel to its last."""
    box = hover(page, chart, 0.001)
    entries = []
    for part in range(parts + 1):
        page.mouse.move(box["x"] + round(box["width"] - 1) * part / parts, box["y"] + box["height"] / 2)
        entries.append(chart.locator(".reading > b").inner_text())
    return entries


def first_time_read(page, chart):
    """The instant the reading shows at the beginning of a chart."""
    hover(page, chart, 0.001)
    return chart.locator(".reading > b").inner_text()


def test_lines_limits_and_breaches_are_drawn(opened):
    for scheme in ("light", "dark"):
        chart = opened(scheme=scheme).locator(".chart.full").first
        assert pixels(chart, "--water") > 300, "the line"
        assert pixels(chart, "--critical") > 800, "the limit"
        assert pixels(chart, "--critical-soft") > 20_000, "the breach"


def test_zoom_reaches_the_samples_and_a_double_click_shows_the_whole_run_again(opened):
    """From two and a half hours down to a minute: the samples lie 5 s apart, and each is drawn as a dot."""
    page = opened()
    chart = page.locator(".chart.full").first
    whole = page.locator("#zoom")
    assert whole.is_hidden()
    drag(page, chart, 0.40, 0.43)
    drag(page, chart, 0.40, 0.60)
    assert "11:03" in whole.inner_text()
    read = times_read(page, chart)
    assert read == sorted(read)
    assert 50 < int(read[-1][3:5]) * 60 + int(read[-1][6:]) - int(read[0][3:5]) * 60 - int(read[0][6:]) < 70
    subject = chart.locator("xpath=ancestor::article[1]")
    assert {item.locator(".reading").count() for item in subject.locator(".chart").all()} == {1}
    hover(page, chart, 0.5)
    page.mouse.dblclick(*(box_middle(chart)))
    assert whole.is_hidden()
    read = times_read(page, chart, parts=1)
    assert (read[0][:5], read[-1][:5]) == ("10:02", "12:31")


def folded_item(page):
    return page.locator(f"#{page.locator('.held .item:not([open])').first.get_attribute('id')}")


def box_middle(chart):
    box = chart.locator(".u-over").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_all_charts_show_one_time(opened):
    """Also a chart that is opened later; a button zooms out where a double click is impossible."""
    page = opened()
    drag(page, page.locator(".chart.full").first, 0.40, 0.50)
    shown = page.locator("#zoom span").inner_text()
    start = shown[:5]
    item = folded_item(page)
    item.locator("summary").click()
    item.locator("canvas").wait_for()
    for chart in (page.locator(".chart.full").nth(1), item.locator(".chart")):
        assert first_time_read(page, chart).startswith(start)
    page.locator("#zoom button").click()
    assert first_time_read(page, item.locator(".chart")).startswith("10:02")


def test_the_pointer_reads_every_line_at_its_instant(opened):
    page = opened()
    section = page.locator(".crossed", has_text="Page life expectancy").first
    hover(page, section.locator(".full").first, 0.5)
    first = section.locator(".subject").first
    readings = first.locator(".reading").all_inner_texts()
    assert len(readings) == len(first.locator(".chart").all()), "charts of one subject share the instant"
    assert "11:16:" in readings[0] or "11:17:" in readings[0]
    assert "Page life expectancy" in readings[0]
    assert "1,000 s" in readings[0]
    assert any("GB" in reading for reading in readings)
    page.mouse.move(0, 0)
    assert section.locator(".reading").count() == 0


def test_a_gap_has_no_value(opened):
    page = opened()
    section = page.locator(".crossed", has_text="Processor time").first
    hover(page, section.locator(".full").first, 1250 / 1800)
    assert "no sample" in section.locator(".reading").first.inner_text()


def test_the_keys_read_and_zoom_too(opened):
    page = opened()
    page.locator(".chart.full").first.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".reading").first.inner_text()
    page.keyboard.press("PageDown")
    assert page.locator(".reading").first.inner_text() != first
    page.keyboard.press("Escape")
    assert page.locator(".reading").count() == 0
    page.keyboard.press("+")
    assert page.locator("#zoom").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#zoom").is_hidden()


def with_the_appendix(page):
    """The report as --appendix writes it."""
    page.evaluate("document.body.classList.remove('brief')")


def test_every_chart_is_on_paper_in_light_colours(opened):
    """From a dark screen, zoomed, and never scrolled to where most charts are."""
    page = opened(scheme="dark")
    with_the_appendix(page)
    drag(page, page.locator(".chart.full").first, 0.4, 0.5)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    charts = page.locator(".crossed .chart").all()
    assert len(charts) > 5
    for chart in charts:
        assert pixels(chart, "--water") + pixels(chart, "--pale") + pixels(chart, "--other") > 50
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--panel')").strip() == "#ffffff"
    page.emulate_media(media="screen", color_scheme="dark")  # a browser is back on screen when it says afterprint
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    drawn_again = time.monotonic() + 300  # the page draws again some frames after its colours change
    page.locator(".chart.full").first.scroll_into_view_if_needed()  # charts out of sight are not drawn
    while pixels(page.locator(".chart.full").first, "--water") <= 100:
        assert time.monotonic() < drawn_again, "the lines have the colours of the screen again"
    streams = re.findall(rb"stream\r?\n(.*?)endstream", page.pdf(prefer_css_page_size=True), re.DOTALL)
    strokes = sum(zlib.decompress(stream).count(b" l\n") for stream in streams if stream.startswith(b"x"))
    assert strokes > 3000, "the lines are in the file that is printed"


def test_paper_has_the_findings_and_with_the_appendix_all_of_it(opened):
    page = opened()

    def pages():
        return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))

    in_short = pages()
    assert in_short <= 6
    assert not page.emulate_media(media="print")
    assert not page.locator("#statistics").is_visible()
    assert not page.locator("#rules").is_visible()
    with_the_appendix(page)
    assert page.locator("#statistics").is_visible()
    assert pages() > in_short


def test_it_reads_without_scripts(chromium, report):
    """Everything but the charts, and the page says so."""
    with closing(chromium.new_page(java_script_enabled=False)) as page:
        page.goto(report)
        assert page.locator("h1").inner_text().startswith("Not healthy.")
        assert "The charts are drawn by a script" in page.locator("noscript").inner_text()


def ticks(page):
    """What stands at the ticks of the first chart: of its times, of its values."""
    page.locator(".chart canvas").first.wait_for()
    return page.evaluate("document.querySelector('.chart').plot.axes.map((axis) => axis._values)")


# The start of a log, its length in hours, and the labels expected on the time axis.
MOMENTS = [
    ("2008-01-15T09:02", 2.5, ["10:20", "10:40", "11:00", "11:20", "11:40", "12:00", "12:20"]),
    ("2008-01-15T15:00", 36, ["18:00\n15 Jan", "00:00\n16 Jan", "06:00", "12:00", "18:00", "00:00\n17 Jan"]),
    # The clock of 2024-03-31 has no 02:30, that of 2024-10-27 has it twice.
    ("2024-03-30T23:30", 3.5, ["00:30", "01:00", "01:30", "03:00", "03:30", "04:00"]),
    ("2024-10-26T22:30", 3.5, ["00:30", "01:00", "01:30", "02:00", "02:30", "02:00", "02:30"]),
]


def test_moments_are_round_on_the_logs_own_clock(chromium, tmp_path):
    with closing(chromium.new_page(timezone_id="America/New_York")) as page:
        for start, hours, expected in MOMENTS:
            first = convert_to_instant(datetime.fromisoformat(start).replace(tzinfo=UTC))
            log = a_log("H", {CPU: 5.0 + np.arange(ROWS) % 2})
            log = replace(log, times=first + np.linspace(0, hours * 3600, ROWS).astype(np.int64) * SECOND)
            (tmp_path / "r.html").write_text(render(Insights(simulated.reviewed(log))), encoding="utf-8")
            page.goto((tmp_path / "r.html").as_uri())
            assert [tick for tick in ticks(page)[0] if tick][: len(expected)] == expected
