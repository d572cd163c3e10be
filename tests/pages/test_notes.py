"""Notes on the time axis: from a page, a program and the command line."""

import json
import time
from urllib.parse import urlencode

import numpy as np

from tests.pages.browsing import NARROW, WIDE, opened
from tests.pages.charting import charts, cpu, lately
from tests.serve.site import site

TEXT = "deployed <b>4.2</b>"


def test_a_note_of_a_page_is_on_the_charts_of_its_host_and_can_be_removed(alert_data, duckdb, chromium):
    for host in ("WEB1", "WEB2"):
        lately(duckdb, cpu(host), np.full(200, 60.0))
    with site(duckdb, alert_data.folder, **alert_data.watching()) as here:
        for width in (WIDE, NARROW):
            with opened(chromium, f"{here.address}/hosts/web1", width=width) as view:
                page = view.page
                page.locator(".noting summary").click()
                page.locator(".noting [name=text]").fill(TEXT)
                page.get_by_role("button", name="Add to the charts").click()
                page.locator("#noted").wait_for()
                assert TEXT in page.locator("#facts").inner_text()
                assert view.fits
                assert view.violations() == []
                noted = [[text for _, text in chart["notes"]] for chart in _charts(here)]
                assert noted == [[TEXT], [], [TEXT]]
                page.get_by_role("button", name="Remove the note").click()
                page.locator("#noted").wait_for(state="detached")
                assert [item for chart in _charts(here) for item in chart["notes"]] == []
                assert view.complaints == []


def _charts(here):
    return charts(here, "cpu.busy|WEB1", "cpu.busy|WEB2", "cpu.busy|*", from_="now-1h", to="now")["charts"]


def test_a_program_adds_a_note_and_reads_it(alert_data, duckdb):
    with site(duckdb, alert_data.folder, **alert_data.watching()) as here:

        def post(**fields):
            return here.request("POST", "/api/v1/notes", json.dumps(fields), {"Content-Type": "application/json"})

        at = time.time_ns() // 10**9 - 600
        answer = post(text="deployed 4.2", at=str(at * 1000), who="ci")
        assert (answer.status, answer.json()["who"]) == (201, "ci")
        assert [item["text"] for item in here.request("GET", "/api/v1/notes").json()["items"]] == ["deployed 4.2"]
        assert here.request("GET", "/api/v1/notes?from=now-5m").json()["items"] == []
        for wrong, status in (({"text": " "}, 422), ({"text": "x" * 201}, 400), ({"text": "x", "at": "soon"}, 400)):
            answer = post(**wrong)
            assert (answer.status, bool(answer.json()["error"])) == (status, True)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        outside = urlencode({"text": "x", "back": "//evil.example/"})
        assert here.request("POST", "/notes", outside, form, redirect=False).headers["Location"] == "/"


def test_the_command_line_adds_lists_and_removes(alert_data, plimsoll):
    data = ("--store", str(alert_data.folder))
    assert "Note 1 is on the charts" in plimsoll("alerts", "note", "deployed 4.2", "--host", "WEB1", *data).out
    assert "deployed 4.2, on WEB1" in plimsoll("alerts", "note", *data).out
    assert "Removed: " in plimsoll("alerts", "note", "--remove", "1", *data).out
    assert "No note" in plimsoll("alerts", "note", *data).out
    assert plimsoll("alerts", "note", "--remove", "1", *data).status == 2
