"""The page of a host."""

import re
from datetime import datetime, timedelta
from urllib.parse import quote

import numpy as np

from plimsoll.model.series import Series
from plimsoll.rules.states import State
from tests.pages.browsing import NARROW, WIDE, opened
from tests.pages.charting import lately
from tests.pages.watching import MINUTE

CPU = "windows-cpu-busy-critical"
PRIVILEGED = "windows-privileged-time"
HOSTILE = "<script>alert(1)</script>\"'\u202eevil"


def test_a_host_says_what_fires_and_how_its_signals_are(watching, served, chromium):
    watching.sees("busy", "calm", HOSTILE)
    watching.judges(CPU, "busy", 97, State.FIRING, 45 * MINUTE)
    watching.judges(PRIVILEGED, "busy", 50, State.FIRING, 45 * MINUTE)
    watching.judges(CPU, "calm", 20)
    watching.steps()
    watching.watches()
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(chromium, f"{served.address}/hosts/busy", width=width, scheme=scheme) as view:
            assert view.page.locator("h1").inner_text() == "busy is short of processors, and 1 further incident"
            assert "memory, disks not judged" in view.page.locator("#state").inner_text()
            assert "97 %" in view.page.locator("#state").inner_text()
            assert view.faults() == []
    with opened(chromium, served.address) as view:
        view.page.locator(".hosts").get_by_role("link", name="calm", exact=True).click()
        assert view.page.locator("h1").inner_text() == "calm: 1 limit judged"
    with opened(chromium, f"{served.address}/hosts/{quote(HOSTILE, safe='')}") as view:
        assert view.complaints == []
        assert "evil" in view.page.locator("h1").inner_text()


def test_a_host_says_which_processes_use_most_now(watching, served, duckdb, chromium):
    watching.sees("busy")
    for name, share in (("sqlservr", 250.0), ("backup", 12.0), ("Idle", 500.0)):
        tags = (("instance", name), ("objectname", "Process"))
        lately(duckdb, Series("busy", "win_proc", tags, "Percent_Processor_Time"), np.full(60, share))
    with opened(chromium, f"{served.address}/hosts/busy") as view:
        assert view.page.locator("#facts").get_by_role("heading", name="Use most now").count() == 1
        processes = view.page.locator("section[aria-labelledby=running]").inner_text()
        assert "sqlservr 250 %, backup 12 %" in processes
        assert "Idle" not in processes


def test_a_host_charts_what_is_crossed_first_and_says_since_when(watching, served, duckdb, chromium):
    """Processors at 97 % for the last ten minutes: the alert counts from five minutes ago, the samples tell of ten."""
    watching.sees("busy")
    tags = (("instance", "_Total"), ("objectname", "Processor"))
    lately(duckdb, Series("busy", "win_cpu", tags, "Percent_Processor_Time"), np.repeat([20.0, 97.0], [30, 60]))
    watching.judges(CPU, "busy", 97, State.FIRING, 5 * MINUTE)
    watching.steps()
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(chromium, f"{served.address}/hosts/busy?from=now-6h&to=now", width=width, scheme=scheme) as view:
            first = view.page.locator(".charts .live-chart").first
            assert first.locator("figcaption").inner_text() == "Processor time"
            assert "full" in (first.get_attribute("class") or "")
            state = view.page.locator("#state").inner_text()
            (times,) = re.findall(r"above since (\S+ \S+) · counts from (\S+ \S+) · fired", state)
            since, counts = map(datetime.fromisoformat, times)
            assert timedelta(minutes=4) < counts - since < timedelta(minutes=6)
            assert view.page.locator(".ranges a[aria-current]").inner_text() == "6 h"
            assert view.faults() == []
            assert view.crowded() == []
