"""What all pages share."""

import pytest

from tests.pages.browsing import opened


def test_the_zone_of_the_address_is_shown_and_kept_by_links(here, chromium):
    with opened(chromium, f"{here.address}/?zone=Asia/Kolkata") as one:
        assert one.page.locator(".zones [aria-current]").inner_text() == "Asia/Kolkata"
        assert (
            one.page.locator("header nav a", has_text="Alerts").get_attribute("href") == "/alerts?zone=Asia%2FKolkata"
        )
        one.page.locator(".zones a", has_text="UTC").first.click()
        assert one.page.locator(".zones [aria-current]").inner_text() == "UTC"


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
