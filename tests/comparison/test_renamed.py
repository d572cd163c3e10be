"""Disks and hosts that another run has under another name: proposed, and compared once plimsoll.toml says so."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.doubts import describe_proposal, list_doubts
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.summary import Answer, answer
from plimsoll.hosts.settings import CompareSettings
from plimsoll.insights.insights import Insights
from plimsoll.rules.load import load_signals
from tests.simulated import a_log, ar1, reviewed

ROWS = 400
CPU, REQUESTS = r"\Processor(_Total)\% Processor Time", r"\Web Service(_Total)\Total Method Requests/sec"


def a_host(seed, disk="1 D:", name="SUT", latency_ms=5.0):
    rng = np.random.default_rng(seed)

    def noisy(mean):
        return mean * (1 + ar1(rng, ROWS, deviation=0.05))

    columns = {CPU: noisy(50), REQUESTS: noisy(500)}
    for item, ms in (("0 C:", 5.0), (disk, latency_ms)):
        path = rf"\PhysicalDisk({item})"
        columns |= {path + r"\Avg. Disk sec/Read": noisy(ms / 1000), path + r"\Disk Reads/sec": noisy(50)}
    return a_log(columns, name)


def compared(first, second, **renamed):
    item, other = (RunSide(name, name, Insights(reviewed(*logs))) for name, logs in (("a", first), ("b", second)))
    compare_settings = CompareSettings(renamed=renamed)
    return Comparison(item, other, check_settings(compare_settings, Path("plimsoll.toml"), load_signals()))


@pytest.mark.parametrize(
    ("disk", "proposal"),
    [
        ("2 D:", "“1 D:” of a looks like “2 D:” of b (SUT); if it is, write \"1 D:\" = \"2 D:\" under"),
        ("1 E:", "“1 D:” of a looks like “1 E:” of b (SUT); if it is, write \"1 D:\" = \"1 E:\" under"),
    ],
)  # fmt: skip
def test_a_renamed_disk_is_proposed_and_nothing_is_said_of_it(disk, proposal):
    result = compared([a_host(1)], [a_host(2, disk, latency_ms=9.0)])
    assert answer(result) == Answer.UNKNOWN
    assert [doubt for doubt in list_doubts(result) if proposal in doubt]


def test_a_renamed_disk_is_compared_where_the_settings_say_so():
    fields = {"1 D:": "2 d:"}
    alike, slower = (compared([a_host(1)], [a_host(2, "2 D:", latency_ms=ms)], **fields) for ms in (5.0, 9.0))
    assert (answer(alike), list_doubts(alike), alike.proposals, alike.lone) == (Answer.NOT_WORSE, [], [], ([], []))
    assert answer(slower) == Answer.WORSE
    assert {regression.other.instance for regression in slower.regressions} == {"2 D:"}


def test_a_name_that_no_run_has_is_remarked():
    runs = [a_host(1)], [a_host(2, "2 D:")]
    assert compared(*runs, **{"1 D:": "2 d:", "sut": "SUT"}).hosts.remark == ""
    assert compared(*runs, **{"1 D:": "2 E:", "SUTT": "SUT"}).hosts.remark == (
        "no run has “2 E:”, “SUTT” of [compare.renamed] in plimsoll.toml as a host or an instance"
    )


def test_a_host_is_proposed_where_the_number_of_hosts_differs():
    first = [a_host(1), a_host(2, "1 E:", "OLD")]
    noise = ar1(np.random.default_rng(5), ROWS, deviation=0.05)
    other = a_log({CPU: 20 * (1 + noise), REQUESTS: 50 * (1 + noise)}, "MONITOR")
    entries = [a_host(3), a_host(4, "1 E:", "NEW"), other]
    result = compared(first, entries)
    (item,) = result.proposals
    assert describe_proposal(result, item).startswith('“OLD” of a looks like “NEW” of b; if it is, write "OLD" = "NEW"')
    outcome = compared(first, entries, OLD="NEW")
    assert ("OLD", "NEW") in outcome.hosts.same
    assert outcome.hosts.alone == ((), ("MONITOR",))
