"""What all pages share."""

import pytest

from tests.pages.browsing import opened


def test_the_zone_of_the_address_is_shown_and_kept_by_links(here, chromium):
    with opened(chromium, f"{here.address}/?zone=Asia/Kolkata") as view:
        assert view.page.locator(".zones [aria-current]").inner_text() == "Asia/Kolkata"
        assert (
            view.page.locator("header nav a", has_text="Alerts").get_attribute("href") == "/alerts?zone=Asia%2FKolkata"
        )
        view.page.locator(".zones a", has_text="UTC").first.click()
        view.page.locator(".zones [aria-current]", has_text="UTC").wait_for()


def test_times_are_in_the_zone_of_the_reader_until_another_is_chosen(here, chromium):
    context = chromium.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    chosen = page.locator(".zones [aria-current]")
    page.goto(here.address)
    page.locator(".zones [aria-current]", has_text="Asia/Tokyo").wait_for()
    page.locator("header nav a", has_text="Alerts").click()
    page.wait_for_url("**/alerts**", wait_until="load")
    assert "Asia/Tokyo" in chosen.inner_text()
    page.locator(".zones a", has_text="UTC").first.click()
    page.wait_for_url("**zone=UTC**", wait_until="load")  # its script keeps the choice
    page.goto(f"{here.address}/runs")
    assert chosen.inner_text() == "UTC"
    context.close()


@pytest.mark.parametrize("zone", ["Nowhere/Land", "<script>alert(1)</script>", "../../etc/passwd", "+99:00"])
def test_a_zone_that_is_not_known_changes_nothing(here, zone):
    answer = here.request("GET", f"/?zone={zone}")
    assert answer.status == 200
    assert b"alert(1)<" not in answer.data
    assert b'data-zone="UTC"' in answer.data


def test_files_are_only_those_of_the_pages(here):
    assert here.request("GET", "/static/charts.js").status == 200
    for name in ("frame.py", "..%2fframe.py", "%2e%2e%2fframe.py", "../templates/base.html.j2", ""):
        assert here.request("GET", f"/static/{name}").status == 404


@pytest.mark.parametrize("path", ["/nothing", "/alerts/abc", "/alerts/1/2/3"])
def test_a_browser_gets_a_page_where_there_is_none(here, path):
    answer = here.request("GET", path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert answer.status == 404
    assert b'<nav aria-label="Pages">' in answer.data
    for headers in ({"Accept": "*/*"}, {}):
        answer = here.request("GET", path, headers=headers)
        assert (answer.status, answer.json()["message"]) == (404, "path not found")
