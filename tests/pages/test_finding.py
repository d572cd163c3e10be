"""Hosts, signals, runs and rules are found from every page."""

import pytest

from tests.pages.browsing import NARROW, WIDE, opened

HOSTILE = "<script>alert(1)</script>\"'\u202eevil"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_ctrl_k_finds_by_words_and_enter_goes_there(width, watching, served, chromium):
    watching.sees("web01", "web02", HOSTILE)
    with opened(chromium, f"{served.address}/rules", width=width) as view:
        page = view.page
        page.keyboard.press("Control+k")
        page.keyboard.type("web0")
        page.locator("#find li").nth(1).wait_for()
        page.locator("#find li", has_text="signal").first.wait_for(state="detached")  # "web" finds some
        assert page.locator("#find li").all_inner_texts() == ["hostweb01", "hostweb02"]
        assert view.violations() == []
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/hosts/web02")
        page.locator(".find-button").click()
        page.locator("#find input").fill("cpu busy")
        page.locator("#find li", has_text="rulecpu-busy").first.wait_for()
        assert page.locator("#find li").first.inner_text() == "signalProcessor time"
        page.locator("#find input").fill("evil")
        page.locator("#find li", has_text="evil").wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/hosts/**")
        assert "evil" in page.locator("h1").inner_text()
        assert view.complaints == []


def test_what_is_found_has_all_words_and_keeps_the_zone(served):
    answer = served.request("GET", "/api/find?q=disk+latency&zone=Asia/Tokyo").json()
    assert {item["kind"] for item in answer} == {"signal", "rule"}
    assert all(item["link"].endswith("zone=Asia%2FTokyo") for item in answer)
    assert served.request("GET", "/api/find?q=cpu").json()[0]["name"] == "Processor time"
    assert served.request("GET", "/api/find?q=zzzz").json() == []
    assert served.request("GET", "/api/find").json() == []
