"""The health page: nothing red is hidden, nothing old looks new, and names of strangers are only text."""

import time

import pytest

from plimsoll.alerting.firing import Firing
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.alerting.self_monitoring import Problem
from plimsoll.pages.health.host_table import HostChoice, HostOverview, build_host_table
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.receive.write_queue import WriteState
from plimsoll.rules.states import State
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.up.overview import summarize_health
from tests.alerting.loop_world import PERIOD, SITE, START, World
from tests.pages.browsing import NARROW, WIDE, opened
from tests.pages.watching import MINUTE
from tests.serve.site import site

WITHOUT_COLUMN = (
    "pool-nonpaged",
    "ldap-response-latency",
    "exchange-rpc-latency",
    "exchange-log-writes",
    "pool-paged",
    "disk-busy-total",
    "ad-ntlm-wait",
    "exchange-database-reads",
    "exchange-ldap-read-time",
    "exchange-ldap-search-time",
    "ldap-connect-dominates",
    "pool-total",
)

HOSTILE = ("<script>alert(1)</script>\"'><img src=x onerror=alert(1)>", "\u202etxt.exe\x1b[31m{{7*7}}", "x" * 300)
CPU, PAGE_LIFE, FREE = "cpu-busy", "sql-page-life-expectancy", "windows-disk-free"
PINNED = "windows-cpu-busy-critical"  # of the same cause as CPU


def hosts(page):
    """The hosts in order, with what their cells say."""
    rows = {}
    for row in page.locator(".hosts tbody tr").all():
        cells = [" ".join(text.split()) for text in row.locator("td:not(.state)").all_inner_texts()]
        rows[row.locator("th b").inner_text()] = [text for text in cells if text]
    return rows


def of_all_kinds(watching):
    watching.sees("silent", ago=10 * MINUTE)
    watching.sees("calm", "busy", "short", "waits", "blank")
    for host in ("calm", "busy", "short"):
        watching.judges(FREE, host, 60, instance="C:")
        watching.judges(FREE, host, 40, instance="E:")
    watching.judges(CPU, "calm", 20)
    watching.judges(CPU, "waits", 85, State.PENDING, 2 * MINUTE)
    watching.judges(CPU, "busy", 92, State.FIRING, 45 * MINUTE)
    watching.judges(PAGE_LIFE, "short", 1064, State.FIRING, 41 * MINUTE)
    watching.judges(CPU, "silent", state=State.NO_DATA)
    watching.steps()
    watching.watches()


def test_hosts_are_listed_worst_first_and_say_how_they_are(watching, served, chromium):
    of_all_kinds(watching)
    with opened(chromium, served.address) as view:
        assert view.page.locator("h1").inner_text().endswith("Not healthy: 3 incidents on 3 hosts")
        assert view.page.title() == "◆ 1 ▲ 2 · Plimsoll"
        cells = hosts(view.page)
        assert [*cells] == ["busy", "short", "silent", "blank", "waits", "calm"]
        assert "1,064 s" in cells["short"][0]
        assert "for 41 min" in cells["short"][0]
        assert cells["busy"][0] == "▲92 % , warning, limit < 80 % for 45 min"
        assert cells["silent"] == ["○ no data for 10 min"]
        assert cells["blank"] == []
        assert "for 2 min" in cells["waits"][0]
        assert "40 %" in cells["calm"][1]
        assert "1 host silent" in view.page.locator(".basis").inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_cause_its_evidence_and_what_to_look_at_stand_on_the_first_screen(
    width, scheme, watching, served, chromium
):
    of_all_kinds(watching)
    with opened(chromium, served.address, width=width, scheme=scheme) as view:
        locator = view.page.locator(".alerts li", has_text="short probably has too little memory")
        assert locator.evaluate("one => one.getBoundingClientRect().bottom") < 844
        inner_text = locator.inner_text()
        for part in (
            "1,064 s",
            "> 3,600 s",
            "inferred from 1 signal",
            "processors, memory, disks not judged",
            "would decide, and is not recorded",
            "look at Lazy writes",
        ):
            assert part in inner_text


def test_a_thousand_hosts_are_lines_of_which_one_finds_those_one_wants(watching, served, chromium):
    names = [f"{'WEB' if at % 2 else 'db'}{at:04}.example.org" for at in range(1000)]
    watching.sees(*names)
    for at, name in enumerate(names):
        watching.judges(CPU, name, 20 + at % 50)
        watching.judges("context-switches", name, 9000)
        watching.judges(FREE, name, 60, instance="C:")
    watching.judges(CPU, names[700], 95, State.FIRING, 9 * MINUTE)
    watching.steps()
    rows = "tbody tr:not(.group)"
    for width in (WIDE, NARROW):
        with opened(chromium, served.address, width=width) as view:
            page = view.page
            boxes = [row.bounding_box() or {"height": 0} for row in page.locator(rows).all()[1:20]]
            assert all(round(box["height"]) == 28 if width == WIDE else 50 < box["height"] < 110 for box in boxes)
            assert page.locator(rows).nth(1).locator(".figure").first.is_visible()
            assert page.locator(rows).count() == 100
            assert page.locator(rows).first.get_attribute("data-key") == names[700]
            assert "And 900 hosts more" in page.locator("section .note").first.inner_text()
            assert page.locator(".hosts .host b").evaluate_all(
                "all => all.every(one => one.getClientRects().length == 1)"
            )
            page.locator("[name=q]").fill("web0007")
            page.locator(".hosts tbody tr").nth(1).wait_for(state="detached")
            assert "q=web0007" in page.url
            page.locator("[name=q]").fill("")
            page.locator("[name=group]").select_option("name")
            page.locator(".group", has_text="WEB*").wait_for(state="attached")
            assert view.faults() == []
    with opened(chromium, f"{served.address}/?state=warning") as view:
        assert [*hosts(view.page)] == [names[700]]
        titles = view.page.locator("thead th").all_inner_texts()
        assert "Context switches" not in " ".join(titles)  # its limit is of machines of long ago
    answer = served.request("GET", "/api/health", headers={"Accept-Encoding": "gzip"}, preload_content=False)
    assert len(answer.read(decode_content=False)) < 60_000


def test_hosts_are_chosen_and_grouped_by_their_labels():
    named = [HostHealth(name, HostState.HEALTHY) for name in ("a1", "a2", "b1")]
    known_hosts = HostOverview(
        named,
        Firing(),
        JudgedHosts(LatestEvaluation(), {}, Firing(), SITE.catalogue),
        {"a1": {"site": "Berlin"}, "b1": {"site": "Oslo"}},
    )
    grouped = build_host_table(known_hosts, HostChoice(group="site"), SITE.catalogue)
    assert {group.title: [row.name for row in group.rows] for group in grouped.groups} == {
        "site=Berlin": ["a1"],
        "without site": ["a2"],
        "site=Oslo": ["b1"],
    }
    assert [row.name for row in build_host_table(known_hosts, HostChoice(label="site=Oslo"), SITE.catalogue).rows] == [
        "b1"
    ]


def test_an_empty_page_says_how_to_add_a_host(served, chromium):
    for width in (WIDE, NARROW):
        with opened(chromium, served.address, width=width) as view:
            assert f'urls = ["{served.address}"]' in view.page.locator(".copy").first.inner_text()
            assert view.fits
            assert view.violations() == []


def test_what_fires_without_data_stays_red_and_a_silent_host_keeps_its_cells(watching, served):
    watching.sees("web1", "web2")
    watching.judges(CPU, "web1", 92, State.FIRING, 45 * MINUTE)
    watching.judges(PAGE_LIFE, "web1", 8000)
    watching.steps()
    assert "8,000" in served.request("GET", "/").data.decode()
    # After an hour without samples nothing of the host is judged any more.
    watching.judged = {}
    watching.sees("web2")
    watching.evaluated += 70 * MINUTE
    watching.watches()
    page = served.request("GET", "/").data.decode()
    assert "cell is-warning" in page
    assert "cell is-none" in page
    assert "silent for" in page
    assert "8,000" not in page


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_hostile_names_are_text_on_every_width(width, watching, served, chromium):
    watching.sees(*HOSTILE)
    for name in HOSTILE:
        watching.judges(CPU, name, 92, State.FIRING, 5 * MINUTE)
        watching.judges(FREE, name, 3, State.FIRING, 5 * MINUTE, instance=name)
    watching.troubles.append(Problem("x", HOSTILE[0]))
    watching.steps()
    with opened(chromium, served.address, width=width) as view:
        assert view.page.locator(".hosts th b", has_text=HOSTILE[0]).count() == 1
        assert r"\u202etxt.exe\x1b[31m{{7*7}}" in view.page.locator(".hosts").inner_text()
        assert not set("\u202e\x1b") & set(view.page.content())
        assert view.fits
        assert view.violations() == []
        view.page.locator(".hosts .cell.is-warning" if width == WIDE else ".alerts .cause").first.click()
        view.page.wait_for_url("**/alerts/*")


def test_what_was_judged_long_ago_is_not_shown_as_new(watching, served):
    watching.sees("web1")
    watching.judges(CPU, "web1", 20)
    watching.steps()
    page = served.request("GET", "/").data
    assert b"as they were at" not in page
    assert b'<noscript><meta http-equiv="refresh" content="10"></noscript>' in page
    watching.evaluated -= 10 * MINUTE
    assert b"as they were at" in served.request("GET", "/").data


def test_an_incident_is_silenced_from_here_with_all_of_its_limits(watching, served, chromium):
    watching.judges(CPU, "web1", 92, State.FIRING, 45 * MINUTE)
    watching.judges(PINNED, "web1", 30, State.FIRING, 45 * MINUTE)
    watching.steps()
    with opened(chromium, served.address) as view:
        silence = view.page.locator(".alerts .silence")
        silence.locator("summary").click()
        view.page.set_viewport_size({"width": 390, "height": 844})
        assert view.violations() == []
        silence.get_by_role("button", name="Silence for 8 h").click()
        view.page.get_by_text("silenced", exact=True).wait_for()
        assert view.page.url.removesuffix("/") == served.address.removesuffix("/")
        assert silence.inner_text().split() == ["silenced", "undo"]
    rows = watching.file.rows("SELECT rule, host, until - start FROM silences ORDER BY rule")
    assert [tuple(row) for row in rows] == [(rule, "web1", 480 * MINUTE) for rule in sorted((CPU, PINNED))]


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (1000, "light"), (NARROW, "light")])
def test_it_fits_and_everyone_can_read_it(width, scheme, watching, served, chromium):
    of_all_kinds(watching)
    watching.troubles.append(Problem("x", "The disk is full"))
    for path in ("/", "/?wall=1"):
        with opened(chromium, served.address + path, width=width, scheme=scheme) as view:
            assert view.faults() == []
            assert path != "/" or view.crowded() == []


def test_the_last_hour_is_drawn_from_the_store_soon_after_the_first_look(tmp_path):
    store = open_embedded(tmp_path / "plimsoll.duckdb")
    world = World(tmp_path, store.live)
    world.send(world.points("web1", range(START + PERIOD, START + 69 * MINUTE, PERIOD), 60))
    world.now += 69 * MINUTE
    world.run(MINUTE, {"web1": 60})
    loop = world.loop
    with site(
        store,
        tmp_path / "data",
        health=lambda: summarize_health(world.file, loop.progress, [], WriteState(), "store", None, world.now),
        file=world.file,
        progress=lambda: loop.progress,
        judged=lambda: loop.judged,
    ) as here:
        until = time.monotonic() + 300
        while " 1 0" * 50 not in here.request("GET", "/api/health").data.decode():
            assert time.monotonic() < until
    world.close()
    store.close()


def test_no_alert_is_hidden_however_many_there_are(watching, served, chromium):
    watching.sees("web1")
    for rule in WITHOUT_COLUMN:
        watching.judges(rule, "web1", 1e9, State.FIRING, 10 * MINUTE)
    for disk in "CDE":
        watching.judges(FREE, "web1", 1, State.FIRING, 10 * MINUTE, instance=f"{disk}:")
    watching.steps()
    with opened(chromium, served.address) as view:
        listed = view.page.locator(".alerts li").count()
        left_out = int(view.page.locator(".more a").inner_text().split()[0])
        fires = watching.health().firing.incidents
        assert listed + left_out == len(fires)
        assert sum(len(fire.alerts) for fire in fires) == len(WITHOUT_COLUMN) + 3
        row = view.page.locator(".hosts tbody tr")
        assert "2 more crossed" in row.inner_text()
        shown = row.locator(".others .cell").count()
        assert shown + int(row.locator(".rest").inner_text().split()[0]) == len(WITHOUT_COLUMN)


def test_a_host_that_sends_only_a_part_is_told_with_what_is_missing(watching, served):
    watching.sees("web1")
    watching.judges(PAGE_LIFE, "web1", 8000)
    watching.steps()
    assert "no limit is crossed" in served.request("GET", "/").data.decode()
    watching.unsent = {"web1": {"disk": watching.evaluated - 60 * MINUTE, "cpu": 0}}
    page = served.request("GET", "/").data.decode()
    assert "web1 is not all judged" in page
    assert "no new value of processors, disks for 1 h" in page


def test_it_renews_itself_and_keeps_where_the_reader_is(watching, served, chromium):
    of_all_kinds(watching)
    with opened(chromium, served.address) as view:
        view.page.locator("details.data summary").click()
        focused = view.page.locator("tr[data-key=calm] .cell").first
        focused.focus()
        watching.judges(CPU, "calm", 97, State.FIRING, 5 * MINUTE)
        watching.steps()
        view.page.locator("h1", has_text="4 incidents on 4 hosts").wait_for()
        assert view.page.title() == "◆ 1 ▲ 3 · Plimsoll"
        assert [*hosts(view.page)][:3] == ["busy", "calm", "short"]
        assert view.page.evaluate("document.activeElement.closest('tr')?.dataset.key") == "calm"
        assert view.page.locator("details.data[open]").count() == 1
        assert "97" in focused.inner_text()
        assert view.complaints == []


def test_a_page_whose_server_is_gone_says_so(watching, served, chromium):
    watching.sees("web1")
    watching.judges(CPU, "web1", 20)
    watching.steps()
    with opened(chromium, served.address) as view:
        assert view.page.title() == "Healthy · Plimsoll"
        served.serving.stop()
        notice = view.page.locator("#no-answer")
        notice.wait_for()
        assert notice.inner_text().startswith("No answer from Plimsoll since ")
        assert notice.inner_text().endswith("what is shown is old.")
        assert view.violations() == []
        assert view.page.title() == "No answer · Plimsoll"


def test_an_incident_that_has_ended_is_not_silenced(watching, served):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = served.request("POST", "/incidents/77/silence", "length=8h", headers, redirect=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert watching.file.rows("SELECT * FROM silences") == []
