"""Dashboards in Chromium: what they draw, the shared range and instant, the live tail, and who can use them."""

import re
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest

from tests.pages.alerting import HOUR, MINUTE, AlertData
from tests.pages.browsing import NARROW, WIDE, hanging, opened
from tests.pages.charting import HOSTILE, cpu, lately, space, switches
from tests.serve.site import site

_DRAWN = """() => new Promise((done) => {
  const look = () => {
    const open = [...document.querySelectorAll(".live-chart .chart")].filter((one) => one.checkVisibility());
    if (open.length && open.every((one) => one.plot || one.closest(".empty"))) done(open.length);
    else setTimeout(look, 20);
  };
  look();
})"""
_RANGES = "() => [...document.querySelectorAll('.chart')].filter((one) => one.plot).map((one) => [one.plot.scales.x.min, one.plot.scales.x.max])"
_SETTLED = """() => new Promise((done) => {
  const look = () => (document.querySelector(".live-chart[aria-busy]") ? setTimeout(look, 20) : done());
  requestAnimationFrame(look);
})"""


@pytest.fixture
def watched(duckdb, tmp_path):
    """A server with two hosts, and an alert of one of them."""
    alert_data = AlertData(tmp_path / "data")
    alert_data.sampled(duckdb, "WEB1")
    alert_data.fired("WEB1", ago=15 * MINUTE)
    lately(duckdb, cpu("WEB2"), 30 + 5 * np.sin(np.arange(700) / 30))
    lately(duckdb, switches("WEB2"), np.cumsum(np.full(700, 50_000.0)))
    for volume in ("C:", "D:"):
        lately(duckdb, space("WEB2", volume), np.full(700, 60.0))
    with site(duckdb, tmp_path / "data", **alert_data.watching()) as here:
        yield here


def href(link):
    """Where a link leads."""
    return link.get_attribute("href") or ""


def box_of(element):
    """Where an element is in the window."""
    while not (bounding_box := element.bounding_box()):  # it is being drawn again
        element.wait_for()
    return bounding_box


def zoomed(page, chart=0):
    """Drag over the middle half of a chart."""
    box = box_of(page.locator(".chart .u-over").nth(chart))
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 50, steps=4)
    page.mouse.up()
    page.evaluate(_SETTLED)


def address_range(page):
    """The range in the address (ms)."""
    query = parse_qs(urlsplit(page.url).query)
    return [int(query[name][0]) for name in ("from", "to")]


def test_a_zoom_is_of_all_charts_and_of_the_address_and_goes_back(watched, chromium):
    with opened(chromium, f"{watched.address}/dashboards/cpu") as view:
        page = view.page
        assert page.evaluate(_DRAWN) == 3
        whole = page.evaluate(_RANGES)
        zoomed(page)
        ranges = page.evaluate(_RANGES)
        assert page.locator(".ranges nav [aria-current]").count() == 0
        assert " UTC (30 min" in page.locator(".ranges summary").inner_text()
        assert len(ranges) == 3
        for low, high in ranges:
            assert high - low == pytest.approx(HOUR / 2 / 1e6, rel=0.02)
            assert [low, high] == pytest.approx(address_range(page), abs=2)
        step = href(page.locator("a[data-step='0.5']"))
        assert f"from={round(sum(address_range(page)) / 2)}" in step
        assert "from=" in href(page.locator(".tabs a").first)
        page.reload()
        page.evaluate(_DRAWN)
        assert page.evaluate(_RANGES)[0] == pytest.approx(ranges[0], abs=2)
        page.go_back()
        page.evaluate(_DRAWN)
        assert page.evaluate(_RANGES)[0][1] - page.evaluate(_RANGES)[0][0] == pytest.approx(HOUR / 1e6, rel=0.01)
        assert whole[0][0] <= page.evaluate(_RANGES)[0][0]
        zoomed(page, 1)
        page.get_by_role("button", name="Reset").click()
        page.evaluate(_SETTLED)
        assert page.evaluate(_RANGES)[2][1] - page.evaluate(_RANGES)[2][0] == pytest.approx(HOUR / 1e6, rel=0.01)
        assert view.complaints == []


def test_the_end_moves_with_the_clock_and_an_outage_is_said(watched, chromium):
    with opened(chromium, "about:blank", own=True) as view:
        page = view.page
        page.clock.install()
        page.goto(f"{watched.address}/dashboards/cpu?host=WEB2")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        page.locator(".u-over").first.wait_for()
        before = page.evaluate(_RANGES)[0][1]
        lately(watched.store, cpu("WEB2"), [97.0])
        page.clock.run_for(21_000)
        page.locator(".chart[aria-label*='97 %']").wait_for()
        assert page.evaluate(_RANGES)[0][1] >= before + 20_000
        with hanging(page, "**/api/charts?*"):
            page.clock.run_for(11_000)
            page.locator(".stale:visible").wait_for()
            assert re.search(r"as they were at .* UTC: the server does not answer", page.locator(".stale").inner_text())
        page.clock.run_for(11_000)
        page.locator(".stale").wait_for(state="hidden")


def test_what_no_chosen_host_has_is_counted_and_not_drawn(watched, chromium):
    with opened(chromium, f"{watched.address}/dashboards/disk?host=WEB2") as view:
        page = view.page
        assert page.evaluate(_DRAWN) == 1
        assert " panels have no data for WEB2: Disk queue length," in page.locator("main > .note").inner_text()
        assert page.locator(".empty").count() == 0
        page.goto(f"{watched.address}/dashboards/ldap")
        assert "No host sent any of this in this range." in page.locator("main").inner_text()
        page.goto(f"{watched.address}/dashboards/ldap?host=WEB2")
        assert "WEB2 sent none of this in this range." in page.locator("main").inner_text()
        assert view.complaints == []


def test_anybody_can_use_them(watched, chromium):
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        for path in ("/dashboards/cpu", "/dashboards", f"/explore?line={quote('cpu.busy|*')}"):
            with opened(chromium, watched.address + path, width=width, scheme=scheme) as view:
                if path != "/dashboards":
                    view.page.evaluate(_DRAWN)
                assert [*view.faults(), *view.crowded()] == []


def test_names_of_strangers_are_only_text(here, chromium):
    names = [f"{HOSTILE}{n}" for n in range(10)]
    for name in names:
        lately(here.store, space(HOSTILE, name), np.full(60, 50.0))
        lately(here.store, cpu(name), np.full(60, 50.0))
    for path in (
        "/dashboards/disk",
        f"/dashboards/cpu?host={quote(names[0])}",
        f"/explore?line={quote('disk.free|' + quote(HOSTILE, safe=''))}",
    ):
        with opened(chromium, here.address + path, width=NARROW) as view:
            view.page.evaluate(_DRAWN)
            for details in view.page.locator("main details").all():
                details.evaluate("(one) => { one.open = true; }")
            assert view.fits
            assert view.page.locator("script:not([src])").count() == 0
            assert "\u202e" not in view.page.locator("main").inner_text()
            assert view.complaints == []


def test_a_table_has_the_last_value_of_each_instance_the_worst_first(here):
    for volume, free in (("C:", 60.0), (HOSTILE, 5.0), ("E:", 30.0)):
        lately(here.store, space("DB1", volume), np.full(60, free))
    answer = here.request("GET", "/api/table?chart=disk.free%7CDB1").data.decode()
    assert re.findall(r">(\d+ %)<", answer) == ["5 %", "30 %", "60 %"]
    assert "<script" not in answer
    assert b"No signal is named" in here.request("GET", "/api/table?chart=none%7CDB1").data
