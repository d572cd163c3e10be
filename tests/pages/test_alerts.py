"""The pages of alerts: what they list, and that alerts are silenced and acknowledged there."""

from urllib.parse import urlencode

import pytest

from plimsoll.alerting import actions, silences
from plimsoll.alerting.actions import Actor
from plimsoll.alerting.alert_queries import read_firing_alerts
from plimsoll.alerting.host_inventory import HostInventory, LastSample
from plimsoll.alerting.self_monitoring import Problem, SelfMonitoring
from plimsoll.model.times import SECOND
from plimsoll.notify.test_message import TargetTester
from plimsoll.rules.states import State
from plimsoll.up.settings import parse
from tests.each import run_each
from tests.pages.alerting import CPU, HOSTILE, HOUR, LONG, MINUTE, NOTE, PRIVILEGED
from tests.pages.browsing import NARROW, WIDE, opened
from tests.serve.site import site

FORM = {"rule": "windows-cpu-*", "host": "web*", "instance": "*", "length": "2h", "reason": "new release", "who": "joe"}


@pytest.fixture
def pages(alert_data, duckdb):
    with site(duckdb, alert_data.folder, **alert_data.watching()) as here:
        yield here


def send(pages, path, fields, **headers):
    named = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    return pages.request("POST", path, urlencode(fields), named, redirect=False)


def read(pages, path):
    answer = pages.request("GET", path)
    assert answer.status == 200, answer.data
    return answer.data.decode()


def test_a_target_is_tried_once_a_minute_and_the_page_says_how_it_went(chromium, alert_data, duckdb):
    sent, now = [], [alert_data.now]
    text = '[notify.team]\nurl = "json://joe:secret@example.org/"\n[notify.pager]\nurl = "json://127.0.0.1:1/"\n'

    def sender(address, _):
        return lambda message: sent.append((address, message.title)) or ("refused" if ":1/" in address else None)

    trials = TargetTester(parse(text.encode(), alert_data.folder), sender=sender, clock=lambda: now[0])
    with site(duckdb, alert_data.folder, **alert_data.watching(), trials=trials) as pages:
        with opened(chromium, f"{pages.address}/alerts") as view:
            page = view.page
            page.get_by_role("button", name="Send a test message to team").click()
            page.locator("#targets li", has_text="team").get_by_text(": sent").wait_for()
            page.get_by_role("button", name="Send a test message to pager").click()
            page.locator("#targets li", has_text="pager").get_by_text(": failed: refused").wait_for()
            assert "secret" not in page.content()
            assert view.complaints == []
        assert [title for _, title in sent] == ["Plimsoll: a test"] * 2
        again = [send(pages, "/targets/test", {"target": "team"}) for _ in range(5)]
        assert {answer.status for answer in again} == {429}
        assert "team was sent a test message less than 1 min ago; ask again in 1 min" in again[0].data.decode()
        assert send(pages, "/targets/test", {"target": "nobody"}).status == 429
        assert send(pages, "/targets/test", {"target": "team"}, Origin="https://evil.example").status == 403
        assert len(sent) == 2
        now[0] += MINUTE
        assert send(pages, "/targets/test", {"target": "team"}).status == 303
        assert len(sent) == 3


def test_a_silence_is_made_and_ended(chromium, alert_data, pages):
    alert_data.fired("WEB01")
    alert_data.fired("DB01")
    with opened(chromium, f"{pages.address}/alerts?zone=Asia/Kolkata") as view:
        page = view.page
        page.get_by_text("New silence").click()
        page.get_by_label("Rule (its id").fill("windows-cpu-*")
        page.locator("form.silence").get_by_label("Host").fill("web*")
        page.locator("output", has_text="matches 1 alert firing now").wait_for()
        page.get_by_label("Reason").fill("new release")
        page.get_by_label("Your name").fill("joe")
        page.get_by_role("button", name="Silence").click()
        status = page.get_by_role("status").inner_text()
        page.wait_for_load_state()
        assert status.startswith("Silence 1 holds until ")
        assert status.endswith("Asia/Kolkata, UTC+05:30; it matches 1 alert firing now.")
        assert page.locator(".coloured li", has_text="silenced until").count() == 1
        assert page.get_by_label("Your name").input_value() == "joe"
        page.get_by_role("button", name="End the silence of windows-cpu-* on web*").click()
        page.get_by_text("No silence holds.").wait_for()
        assert "zone=Asia%2FKolkata" in page.url
        assert view.complaints == []
    assert silences.read_active_silences(alert_data.file, alert_data.now + HOUR) == []


WRONG = (
    ({"rule": "windws-cpu*"}, "no rule matches &#34;windws-cpu*&#34;; did you mean windows-cpu"),
    ({"rule": ""}, "give the id of a rule"),
    ({"reason": " "}, "a silence needs a reason"),
    ({"length": "soon"}, "&#34;soon&#34; is not a duration; write it like"),
    ({"length": "31d"}, "at most 30 d"),
    ({"reason": "x" * 501}, "the reason has 501 characters; at most 500 are kept"),
    ({"host": HOSTILE + LONG}, "the host has "),
)


@run_each(WRONG, lambda case: str(case[0])[:60])
def test_a_silence_that_is_refused(case, alert_data, pages):
    changed, error = case
    for alert_page in ("", str(alert_data.fired("WEB01"))):
        answer = send(pages, "/silences", {**FORM, **changed, "alert": alert_page})
        text = answer.data.decode()
        assert answer.status == 422
        assert error in text
        assert "<script>alert" not in text
        kept = FORM | changed
        assert f'name="length" value="{kept["length"]}"' in text
        assert 'name="who" value="joe"' in text
    assert alert_data.file.rows("SELECT * FROM silences") == []


def test_an_incident_is_silenced_by_name_and_that_is_undone(alert_data, pages):
    number = alert_data.fired("WEB01")
    assert send(pages, f"/incidents/{number}/silence", {"length": "8h", "who": "joe"}).status == 303
    (active,) = silences.read_active_silences(alert_data.file, alert_data.now + HOUR)
    assert active.who == "joe"
    assert send(pages, f"/incidents/{number}/silence/end", {}).headers["location"] == "/"
    assert silences.read_active_silences(alert_data.file, alert_data.now + HOUR) == []
    silences.add(alert_data.file, "*", "web*", "*", HOUR, "work", "joe", alert_data.now)
    assert send(pages, f"/incidents/{number}/silence/end", {}).headers["location"] == "/alerts#silences"


def test_a_form_of_another_site_is_refused(alert_data, pages):
    number = alert_data.fired("WEB01")
    silence = silences.add(alert_data.file, "*", "*", "*", HOUR, "work", "joe", alert_data.now)
    for path in ("/silences", f"/silences/{silence.id}/end", f"/alerts/{number}/ack"):
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert send(pages, path, FORM, **headers).status == 403
    assert silences.read_active_silences(alert_data.file, alert_data.now + MINUTE) == [silence]
    assert read_firing_alerts(alert_data.file)[0].acked_at is None
    assert send(pages, "/silences", {"rule": "x" * 40_000}).status == 413


def test_an_alert_is_acknowledged(chromium, alert_data, pages):
    number, over = alert_data.fired("WEB01"), alert_data.fired("WEB02", ended=MINUTE)
    with opened(chromium, f"{pages.address}/alerts/{number}") as view:
        view.page.get_by_label("Note").fill("disk is ordered")
        view.page.get_by_role("button", name="Acknowledge").click()
        view.page.locator(".kind", has_text="acknowledged by someone on the page: disk is ordered").wait_for()
        view.page.get_by_label("Note").fill("N" * 500)
        view.page.get_by_role("button", name="Acknowledge").click()
        view.page.locator(".kind", has_text="NNN").wait_for()
        assert view.fits
        assert view.complaints == []
    assert "it is not repeated any more" in send(pages, f"/alerts/{over}/ack", {}).data.decode()
    assert send(pages, "/alerts/99/ack", {}).status == 404
    assert send(pages, "/silences/99/end", {}).status == 404


def test_the_history_is_filtered_and_links_keep_the_filter(chromium, alert_data, pages):
    for n in range(120):
        alert_data.fired(f"WEB{n}", (n + 2) * HOUR, ended=MINUTE, rule=CPU if n % 2 else PRIVILEGED)
    alert_data.fired("DB01", HOUR, ended=MINUTE)
    alert_data.fired("DB02", HOUR, ended=MINUTE, rule=NOTE)
    with opened(chromium, f"{pages.address}/alerts?zone=Asia/Kolkata") as view:
        page = view.page
        assert "121 alerts ended in this time; 1 of severity info" in page.locator("#ended").inner_text()
        page.locator(".filter").get_by_label("Host").fill("web*")
        page.locator(".filter").get_by_label("Severity").select_option("critical")
        page.get_by_role("button", name="Show").click()
        page.locator("#ended", has_text="60 alerts ended").wait_for()
        page.get_by_role("link", name="Next").click()
        page.get_by_text("2 of 2").wait_for()
        assert page.locator("#ended li").count() == 10
        assert page.locator(".zones [aria-current]").inner_text() == "Asia/Kolkata"
        first = page.locator("#ended li a").first.inner_text()
        page.reload()
        assert page.locator("#ended li a").first.inner_text() == first
        assert view.complaints == []
    assert "is no time: write it like" in read(pages, "/alerts?from=soon")
    assert "2 of 3" in read(pages, "/alerts?page=2")
    assert "3 of 3" in read(pages, "/alerts?page=999999")


def test_what_fires_and_what_is_about_to(chromium, alert_data, pages):
    acked = alert_data.fired("WEB01", 20 * MINUTE)
    alert_data.fired(HOSTILE, rule=PRIVILEGED)
    alert_data.fired(LONG, rule=PRIVILEGED, instance=LONG)
    alert_data.fired("DB01", rule=NOTE)
    alert_data.judges("MAIL1", State.PENDING, ago=2 * MINUTE)
    alert_data.judges("MAIL2", State.OK)
    actions.acknowledge(alert_data.file, acked, Actor("joe"), "known", alert_data.now)
    silences.add(alert_data.file, "windows-*", "*", LONG, HOUR, HOSTILE, "anna", alert_data.now)
    with alert_data.file.transaction() as connection:
        connection.execute(
            "INSERT INTO targets (name, address, since, failing_since, error) VALUES ('team', 'mailto://****', 0, ?, ?)",
            (alert_data.now, "no route to the host"),
        )
    for width, scheme in ((WIDE, "dark"), (NARROW, "light")):
        with opened(chromium, f"{pages.address}/alerts", width=width, scheme=scheme) as view:
            assert view.page.locator("h1").inner_text() == "3 incidents: 1 critical, 2 warning"
            rows = view.page.locator(".coloured li").all_inner_texts()
            assert rows[0].startswith("◆\ncritical") or rows[0].startswith("◆critical")
            assert "acknowledged by joe: known" in rows[0]
            assert "<script>alert(1)</script>\"'\\u202eevil" in "".join(rows)
            pending = view.page.get_by_role("list", name="Pending").inner_text()
            assert "Processor time on MAIL1: 93 %; limit ≤ 90 %." in pending
            assert "fires in 3 min" in pending
            assert "1 alert of severity info" in view.page.locator("#notes").inner_text()
            assert "Notification to team (mailto://****) fails since" in view.page.locator("#now").inner_text()
            assert [*view.faults(), *view.crowded()] == []


def test_lists_are_brought_up_to_date_while_somebody_types(chromium, alert_data, duckdb):
    with (
        site(duckdb, alert_data.folder, **alert_data.watching()) as pages,
        opened(chromium, pages.address, own=True) as view,
    ):
        page = view.page
        page.clock.install()
        page.goto(f"{pages.address}/alerts")
        page.get_by_text("New silence").click()
        page.get_by_label("Reason").fill("half a sent")
        alert_data.fired("WEB01")
        page.clock.fast_forward(11_000)
        page.locator("h1", has_text="1 incident: 1 critical").wait_for()
        page.keyboard.type("ence")
        assert page.get_by_label("Reason").input_value() == "half a sentence"
        pages.serving.stop()
        page.clock.fast_forward(11_000)
        page.get_by_role("alert").get_by_text("No answer from Plimsoll since").wait_for()


def test_the_page_of_an_alert(chromium, alert_data, duckdb, pages):
    alert_data.sampled(duckdb, "WEB01")
    alert_data.fired("WEB01", 3 * HOUR, ended=MINUTE)
    number = alert_data.fired("WEB01", 15 * MINUTE, processes=["processor time: sqlservr (812) 240 %"])
    with alert_data.file.transaction() as connection:
        connection.execute(
            "INSERT INTO notifications (target, at, title, alerts, outcome) VALUES ('team', ?, 'CRITICAL', ?, 'sent')",
            (alert_data.now, f"[{number}]"),
        )
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(chromium, f"{pages.address}/alerts/{number}", width=width, scheme=scheme) as view:
            page = view.page
            assert page.locator("h1").inner_text() == "WEB01 is short of processors"
            assert page.locator("h1").evaluate("one => one.getBoundingClientRect().bottom") < 300
            assert page.locator(".evidence").inner_text().startswith("Processor time: ")
            facts = page.locator(".facts").inner_text()
            assert "≤ 90 % (1 min mean)" in facts
            assert page.locator("#band b").all_inner_texts() == ["pending", "firing"]
            page.locator("figure.full canvas").wait_for()
            assert page.locator(f'a[href="/rules/{CPU}"]').count()
            panel = page.locator("figure.full figcaption a").get_attribute("href")
            assert panel
            assert panel.startswith("/dashboards/")
            assert "host=WEB01&from=" in panel
            looks = page.locator(".looks figcaption").all_inner_texts()
            assert [look.split(" · ")[0] for look in looks] == [
                "Privileged time",
                "Processor time of a process",
                "Processor queue length",
            ]
            text = page.locator("main").inner_text()
            assert "sqlservr (812) 240 %" in text
            assert "message to team: sent" in text
            assert "Scenario guide: Troubleshoot performance problems in Windows" in text
            assert page.get_by_role("list", name="Other alerts").locator("li").count() == 1
            assert [*view.faults(), *view.crowded()] == []
    query = urlencode({"chart": "cpu.busy|WEB01", "from": "now-40m", "to": "now", "width": "400"})
    spans = pages.request("GET", f"/api/charts?{query}").json()["charts"][0]["spans"]
    assert [kind for _, _, kind in spans] == ["brief", "critical"]
    assert spans[0][1] == spans[1][0]


def test_alerts_that_no_limit_has(alert_data, pages):
    roster, quiet = HostInventory(alert_data.file, silent_after=120 * SECOND), alert_data.now - HOUR
    for at in range(quiet - HOUR, quiet + 1, 10 * MINUTE):
        roster.step({"WEB01": LastSample(at)}, at)
    for at in range(quiet, alert_data.now, MINUTE):
        roster.step({}, at)
    SelfMonitoring(alert_data.file).step([Problem("not-judged", "Nothing is judged: the disk is full")], alert_data.now)
    for n in range(4):
        alert_data.fired("DB01", (50 - n) * MINUTE, ended=MINUTE, counted=True)
    alerts = {alert.kind: alert for alert in read_firing_alerts(alert_data.file)}
    for kind, sentence in (
        ("host-silent", "Last sample"),
        ("plimsoll", "Nothing is judged: the disk is full"),
        ("flapping", "4 times since"),
    ):
        text = read(pages, f"/alerts/{alerts[kind].id}")
        assert sentence in text
        assert ("data-chart" in text) == (kind == "flapping")
