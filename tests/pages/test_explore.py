"""Explore: any series of any host is found by typing, several are drawn together."""

from urllib.parse import quote

import numpy as np
import pytest

from plimsoll.model.series import Series
from tests.pages.browsing import NARROW, WIDE, opened
from tests.pages.charting import HOSTILE, charts, cpu, lately, line
from tests.serve.site import site

VALUES = np.arange(60) / 7


def queue(host, name="mail"):
    return Series(host, "postfix", (("queue", name),), "length")


@pytest.fixture
def here(alert_data, duckdb):
    for series in (cpu("WEB1"), queue("WEB1"), queue("WEB1", "bounced"), queue(HOSTILE, HOSTILE)):
        lately(duckdb, series, VALUES)
    with site(duckdb, alert_data.folder, **alert_data.watching()) as result:
        yield result


def spec(name, host, instance):
    return "|".join([name, *(quote(part, safe="") for part in (host, instance))])


def test_a_series_outside_the_catalogue_is_drawn_as_it_was_sent(here):
    name, other = spec("postfix~length", "web1", "queue=mail"), spec("postfix~length", "WEB1", "queue=bounced")
    data = charts(here, f"{name};{other}", "postfix~length|*", "postfix~none|*", from_="now-1h", to="now")
    assert line(data)[1] == pytest.approx(VALUES, rel=1e-6)
    assert [text for text, *_ in data["charts"][0]["legend"]] == ["queue=mail", "queue=bounced"]
    assert [len(chart["legend"]) for chart in data["charts"]] == [2, 3, 0]
    assert data["charts"][2]["caption"] == "no samples in this range"


def test_lines_of_several_signals_name_them(here):
    data = charts(here, f"cpu.busy|WEB1;{spec('postfix~length', 'WEB1', 'queue=mail')}", from_="now-1h", to="now")
    (chart,) = data["charts"]
    assert [text for text, *_ in chart["legend"]] == ["Processor time", "postfix length"]
    assert chart["title"] == "Processor time, postfix length"


def test_it_begins_with_the_hosts(here, chromium):
    with opened(chromium, f"{here.address}/explore") as view:
        view.page.get_by_role("link", name="WEB1").click()
        view.page.locator(".offers a", has_text="queue=mail").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_what_is_typed_is_found_added_and_removed(width, scheme, here, chromium):
    with opened(chromium, f"{here.address}/explore", width=width, scheme=scheme) as view:
        page = view.page
        page.locator(".search [name=q]").type("web1 length")
        page.locator(".offers a").nth(1).wait_for()
        assert sorted(page.locator(".offers a").all_inner_texts()) == [
            "+ postfix length, queue=bounced WEB1",
            "+ postfix length, queue=mail WEB1",
        ]
        page.locator(".offers a").first.click()
        page.locator(".chosen li").wait_for()
        page.locator(".offers a").first.click()
        page.locator(".chosen li").nth(1).wait_for()
        page.locator(".live-chart .legend button").nth(1).wait_for()
        assert page.locator(".live-chart").count() == 1
        assert view.violations() == []
        assert view.fits
        with page.expect_download() as saved:
            page.get_by_role("button", name="CSV").click()
        assert saved.value.path().read_text("utf-8-sig").count("\n") >= len(VALUES)
        page.get_by_role("link", name="Remove postfix").first.click()
        page.locator(".chosen li").nth(1).wait_for(state="detached")
        assert page.locator(".chosen li").count() == 1
        assert view.complaints == []


def test_a_host_lists_all_that_it_sends_and_names_are_text(here, chromium):
    with opened(chromium, f"{here.address}/hosts/{quote(HOSTILE, safe='')}") as view:
        view.page.get_by_role("link", name="All series that it sends").click()
        view.page.locator(".offers a").click()
        view.page.locator(".live-chart .drawn", has_text="60 samples").wait_for()
        assert "<script>alert(1)</script>" in view.page.locator(".chosen li").inner_text()
        assert view.fits
        assert view.complaints == []


def test_what_cannot_be_drawn_is_said_and_the_rest_is_drawn(here):
    page = here.request("GET", "/explore?line=none&line=a|b|c|d&line=cpu.busy|WEB1").data.decode()
    assert "no signal is named &#34;none&#34;" in page
    assert page.count('data-chart="cpu.busy|WEB1"') == 1
    assert "No series in this range matches these words" in here.request("GET", "/explore?q=zzzz").data.decode()
    json = here.request("GET", "/api/find?q=processor+time").json()
    assert any(item["link"].startswith("/explore?line=cpu.busy") for item in json)
