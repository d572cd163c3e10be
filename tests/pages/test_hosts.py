"""The page of a host."""

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
        processes = view.page.locator("section", has=view.page.locator("#running")).inner_text()
        assert "sqlservr 250 %, backup 12 %" in processes
        assert "Idle" not in processes
