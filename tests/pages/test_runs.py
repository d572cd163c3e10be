"""The runs of the store: their list with verdicts, the report of each, deletion, and two of them compared."""

import json
import re
import time
from pathlib import Path

import pytest

from plimsoll.demo.runs import load_demo_runs
from plimsoll.ingest.read import find_logs, read_files
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.runs.load import load
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.pages.shared.frame import run_path
from plimsoll.store.duck.duck_store import open_embedded
from tests.pages.browsing import NARROW, WIDE, opened
from tests.serve.site import site
from tests.stored_runs import store_run

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = "<script>alert(1)</script>\"'&"


def reviewed(here, count):
    """The list, once all its runs are reviewed."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        answer = here.request("GET", "/runs")
        page = answer.data.decode()
        assert answer.status == 200, page
        if page.count('class="verdict-word') == count and 'data-refresh="10"' in page:
            return page
        time.sleep(0.2)
    raise AssertionError(here.request("GET", "/runs").data)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A server whose store has the two demo runs, reviewed."""
    folder = tmp_path_factory.mktemp("demo")
    store = open_embedded(folder / "plimsoll.duckdb")
    load_demo_runs(store)
    with site(store, folder / "data") as here:
        reviewed(here, 2)
        yield here
    store.close()


def test_runs_are_listed_with_their_verdicts_and_chosen_by_text_host_and_label(demo, chromium):
    with opened(chromium, f"{demo.address}/runs") as view:
        rows = [row.inner_text() for row in view.page.locator(".runs tbody tr").all()]
        assert len(rows) == 2
        assert re.search(r"◆\s*Not healthy", rows[0])
        assert "Available memory of SQLSRV01 stayed below" in rows[0]
        assert re.search(r"✓\s*Healthy", rows[1])
        view.page.select_option("[name=label]", "memory=8GB")
        view.page.click("text=Show")
        view.page.wait_for_url("**/runs?text=&host=&label=memory%3D8GB")
        assert view.page.locator(".runs tbody th a").all_inner_texts() == ["demo 8GB"]
        assert view.complaints == []
    for query, names in (("text=srv01", 2), ("text=4gb", 1), ("host=SQLSRV01&text=8GB", 1), ("host=OTHER", 0)):
        assert demo.request("GET", f"/runs?{query}").data.decode().count('scope="row"') == names


def test_the_report_is_a_page_with_its_script_and_nothing_else_allowed(demo, chromium):
    answer = demo.request("GET", run_path("demo 4GB"))
    policy = answer.headers["content-security-policy"]
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-\S+'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        r"frame-ancestors 'none'",
        policy,
    )
    assert answer.headers["x-frame-options"] == "DENY"
    with opened(chromium, demo.address + run_path("demo 4GB")) as view:
        assert view.page.locator("h1").inner_text().startswith("Not healthy. Available memory of SQLSRV01")
        view.page.wait_for_selector(".chart canvas")
        assert view.page.locator("nav.site [aria-current]").inner_text() == "Runs"
        view.page.click("nav.site >> text=Compare")
        view.page.locator("h1", has_text="Compare demo 4GB with").wait_for()
        assert view.complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_everybody_can_read_the_pages(demo, chromium, scheme, width):
    paths = ("/runs", run_path("demo 4GB"), "/runs/compare?a=demo+8GB&b=demo+4GB", "/runs/delete?run=demo+4GB")
    compared(demo, paths[2])
    for path in paths:
        with opened(chromium, demo.address + path, width=width, scheme=scheme) as view:
            view.page.wait_for_timeout(500)
            assert (path, view.faults(), view.crowded()) == (path, [], [])


def test_runs_are_compared_with_the_first(demo, chromium):
    with opened(chromium, f"{demo.address}/runs") as view:
        assert view.page.locator(".compare").is_disabled()
        for box in view.page.locator("[name=run]").all():
            box.check()
        view.page.click(".compare")
        view.page.wait_for_url("**/runs/compare?a=demo+8GB&b=demo+4GB")
        view.page.locator("h1", has_text="Worse.").wait_for()
        story = view.page.locator(".verdict").inner_text()
        assert "Probably too little memory for the buffer cache of SQL Server on SQLSRV01" in story
        assert view.page.locator(".signals tbody tr").first.inner_text().startswith("Disk reads")
        assert "17 signals did not change" in story
        other_way = view.page.locator("a", has_text="The other way round").get_attribute("href")
        assert other_way == "/runs/compare?a=demo+4GB&b=demo+8GB"
        assert view.complaints == []


def compared(here, address, within_s=300):
    """The page of a comparison, once it is made."""
    until = time.monotonic() + within_s
    while "Plimsoll comparison" not in (page := here.request("GET", address).data.decode()):
        assert time.monotonic() < until, page
        time.sleep(0.2)
    return page


def test_a_review_with_other_rules_says_so_and_one_of_a_run_that_was_loaded_again_is_made_anew(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data") as here:
        store_run(duckdb, EXAMPLES / "windows-today" / "healthy", "night")
        reviewed(here, 1)
        (kept,) = (here.folder / "reviews").glob("*.json")
        changed = json.loads(kept.read_text())
        changed["made"]["rules"] = "others"
        kept.write_text(json.dumps(changed))
        assert "Reviewed with other rules, on 20" in here.request("GET", "/runs").data.decode()
        assert "Reviewed with other rules, on 20" in here.request("GET", "/runs/night").data.decode()
        assert here.request("POST", "/runs/review?run=night", redirect=False).status == 303
        until = time.monotonic() + 300
        while "other rules" in here.request("GET", "/runs").data.decode():
            assert time.monotonic() < until
            time.sleep(0.1)
        assert here.request("POST", "/runs/delete?run=night", redirect=False).status == 303
        done = here.request("GET", "/api/v1/record").json()["items"]
        assert [item["what"] for item in done] == ["deleted run night", "had run night reviewed again"]
        store_run(duckdb, EXAMPLES / "windows-today" / "trouble", "night")
        assert "Not healthy" in reviewed(here, 1)


def test_deleting_says_what_is_deleted_and_needs_a_post_from_here(duckdb, tmp_path, chromium):
    with site(duckdb, tmp_path / "data") as here:
        store_run(duckdb, EXAMPLES / "windows-today" / "healthy", HOSTILE, {HOSTILE: HOSTILE}, host=HOSTILE)
        reviewed(here, 1)
        (run,) = duckdb.runs.summaries()
        address = run_path(HOSTILE).replace("/runs/", "/runs/delete?run=")
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert here.request("POST", address, headers=headers).status == 403
        with opened(chromium, here.address + run_path(HOSTILE)) as view:
            view.page.click("nav.site >> text=Delete")
            view.page.locator("text=Delete this run").first.wait_for()
            inner_text = view.page.locator("main").inner_text()
            assert f"{run.values:,}" in inner_text
            assert "2026-01-20 09:00:00–09:40:00 (40 min), UTC" in inner_text
            assert duckdb.runs.summaries() == [run]
            view.page.click("text=Delete this run")
            view.page.get_by_text("There is no run yet.").wait_for()
            assert view.complaints == []
        assert duckdb.samples.series(0, 2**62).series == []
        assert list((here.folder / "reviews").iterdir()) == []


def test_every_name_of_a_run_leads_to_its_page(duckdb, tmp_path):
    names = ["compare", "delete", "..", "a/b?c=d#e%2F", "show"]
    with site(duckdb, tmp_path / "data") as here:
        files = read_files(find_logs([EXAMPLES / "windows-today" / "healthy" / "APPSRV01.csv"]), ReadOptions())
        for name in names:
            run = StoredRun(Run(name), tuple(Recording.of(log, "") for log in files.logs))
            load(duckdb, run, files.logs, merge=True)
        for name in names:
            assert name in here.request("GET", run_path(name)).data.decode().partition("<main")[0], name
        assert here.request("GET", "/runs/nothing").status == 404
