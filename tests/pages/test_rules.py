"""The pages of rules."""

from urllib.parse import urlencode

import pytest

from plimsoll.alerting import actions
from plimsoll.hosts import overlay
from plimsoll.rules.load import load
from plimsoll.rules.states import State
from plimsoll.up.reloading import Reloaded
from tests.pages.alerting import CPU, HOSTILE, HOUR, LONG, MINUTE
from tests.pages.browsing import NARROW, WIDE, opened
from tests.serve.site import site

SETTINGS = f"""
[rules.{CPU}]
healthy = "<= 95"
reason = "these machines are sized so"
[hosts.DB01.rules.{CPU}]
off = true
reason = "<b>batch</b> host"
"""


@pytest.fixture
def pages(alert_data, duckdb):
    with site(duckdb, alert_data.folder, **alert_data.watching(SETTINGS)) as here:
        yield here


def test_rules_are_searched_without_scripts(chromium, alert_data, pages):
    alert_data.judges("WEB01", State.FIRING)
    alert_data.judges("WEB02", State.OK)
    alert_data.fired("WEB01")
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(chromium, f"{pages.address}/rules?zone=Asia/Kolkata", width=width, scheme=scheme) as view:
            page, links = view.page, view.page.locator(".results:not(.packs) li a:first-child")
            assert links.all_inner_texts() == [CPU]  # what fires
            assert "1 firing" in page.locator(".results li").first.inner_text()
            assert page.locator(".packs li").count() == len(load().packs)
            assert page.evaluate("document.documentElement.scrollHeight") < 3000
            page.get_by_role("searchbox").fill("windows cpu CRITICAL")
            page.get_by_role("button", name="Search").click()
            page.wait_for_url("**q=windows*")
            assert CPU in links.all_inner_texts()
            assert "linux-cpu-busy" not in links.all_inner_texts()
            assert page.locator("#shown").inner_text() == f"{links.count()} rules"
            assert view.faults() == []
            assert view.crowded() == []
            page.get_by_role("link", name=CPU, exact=True).click()
            page.get_by_role("heading", name=CPU).wait_for()
            assert "zone=Asia%2FKolkata" in page.url
    found = pages.request("GET", "/rules?q=ldap-bind-rate").data.decode()
    assert "old limit" in found
    many = pages.request("GET", "/rules?q=a").data.decode()
    assert many.count("<li>") <= 100
    assert "further rules; add a word" in many
    assert "No rule matches these words." in pages.request("GET", "/rules?q=no+such+words").data.decode()
    assert "sql-page-life" not in pages.request("GET", "/rules?pack=linux").data.decode()


def test_the_page_of_a_rule(chromium, alert_data, pages):
    alert_data.judges(HOSTILE, State.OK, value=80.0)
    alert_data.judges(LONG, State.OK, value=20.0)
    alert_data.judges("GONE", State.NO_DATA, value=float("nan"))
    alert_data.judges("WEB02", State.PENDING, value=92.0)
    alert_data.judges("WEB01", State.FIRING, value=91.0)
    alert_data.fired("WEB01")
    for n in range(30):
        alert_data.fired("WEB02", (n + 1) * HOUR, ended=MINUTE)
    for width, scheme in ((WIDE, "dark"), (NARROW, "light")):
        with opened(chromium, f"{pages.address}/rules/{CPU}", width=width, scheme=scheme) as view:
            page = view.page
            places = page.locator(".judged th[scope=row]").all_inner_texts()
            assert [place[:5] for place in places] == ["WEB01", "WEB02", "<scri", "WWWWW", "GONE"]
            assert "1 firing, 1 pending, 2 healthy, 1 no data" in page.locator("#judged-title").inner_text()
            text = page.locator("main").inner_text()
            assert "all hosts: limit ≤ 95 % set in plimsoll.toml instead of the documented ≤ 90 %" in text
            assert "switched off in plimsoll.toml: <b>batch</b> host" in text
            assert page.locator("#alerts li").count() == 20
            page.get_by_role("link", name="All ended alerts").click()
            assert "30 alerts ended in this time" in page.locator("#ended").inner_text()
            page.wait_for_load_state()
            page.go_back()
            assert view.faults() == []


def test_a_rule_that_is_not_known(pages):
    answer = pages.request("GET", "/rules/windows-cpu-busy-critcal")
    assert answer.status == 404
    assert f"did you mean &#34;{CPU}&#34;?" in answer.data.decode()
    assert b"<script>alert" not in pages.request("GET", "/rules/%3Cscript%3Ealert(1)%3C%2Fscript%3E").data


def test_a_limit_is_changed_for_a_host_and_taken_back(alert_data, duckdb):
    alert_data.judges("WEB01", State.OK)
    answers = [Reloaded(0), Reloaded(0, refused="up.toml: zone is wrong"), Reloaded(0)]
    fields = {"host": "web01", "healthy": "< 97 %", "length": "20m", "reason": "a batch server", "who": "anna"}
    with site(duckdb, alert_data.folder, reload=lambda: answers.pop(0), **alert_data.watching()) as here:
        file = alert_data.folder / overlay.FILE_NAME

        def sent(path, result):
            typed = {"Content-Type": "application/x-www-form-urlencoded"}
            return here.request("POST", f"/rules/{CPU}/{path}", urlencode(result), typed, redirect=False)

        assert sent("limit", fields).status == 303
        kept = file.read_text()
        assert '[hosts."WEB01".rules' in kept
        assert "a batch server (anna, 2" in kept
        assert "Take back" not in here.request("GET", f"/rules/{CPU}").data.decode()  # nothing was read anew here
        refused = sent("limit", {**fields, "healthy": "< 98 %"})
        assert (refused.status, b"nothing was changed: up.toml: zone is wrong" in refused.data) == (422, True)
        assert file.read_text() == kept
        for wrong in ({"host": "nobody"}, {"host": ""}, {"healthy": ""}, {"healthy": "> 3 %"}, {"reason": ""}):
            answer = sent("limit", {**fields, **wrong})
            assert answer.status == 422, wrong
            assert "a batch server" in answer.data.decode() or wrong == {"reason": ""}  # what was typed is there still
        assert sent("limit/undo", {"host": "WEB01"}).status == 303
        assert not file.exists()
    items = [entry.what for entry in actions.find_audit_entries(alert_data.file, 0, 2**62, "anna", 0, 9)[0]]
    assert items == [f"changed the limit of {CPU} on WEB01 to < 97 %, for 20m: a batch server"]
