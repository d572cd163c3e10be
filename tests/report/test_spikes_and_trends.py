"""Spikes, trends and averages are on the terminal, in the HTML report and in the JSON."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.insights.insights import Insights
from plimsoll.report import terminal_summary as terminal
from plimsoll.report.html.render import render
from plimsoll.report.json import ReviewDocument
from tests.simulated import a_log, ar1, reviewed

ROWS = 1440
MB = 1024**2
TITLE = "Spikes, trends and averages"


def in_file(log, folder):
    """The log with a file of its name, whose digest the outputs give."""
    path = folder / "log.csv"
    path.touch()
    return replace(log, path=path)


def a_run(folder):
    rng = np.random.default_rng(1)
    writes = np.zeros(ROWS)
    for start in range(24, ROWS, 60):
        writes[start : start + 5] = rng.uniform(300, 600)
    columns = {
        r"\PhysicalDisk(2 E:)\Disk Writes/sec": writes,
        r"\Process(app)\Private Bytes": MB * (500 + 240 * np.arange(ROWS) / ROWS + ar1(rng, ROWS)),
        r"\Web Service(_Total)\Total Method Requests/sec": 200 + 10 * ar1(rng, ROWS),
    }
    return Insights(reviewed(in_file(a_log(columns), folder)))


def quiet(folder):
    log = a_log({r"\Memory\Cache Bytes": 50 + ar1(np.random.default_rng(2), ROWS)})
    return Insights(reviewed(in_file(log, folder)))


def as_text(insights):
    parts = (part for line in terminal.format_lines(insights, all_of_it=True) for part in (*line, "\n"))
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


def test_all_three_are_in_every_output(tmp_path):
    insights = a_run(tmp_path)
    page, text, result = render(insights), as_text(insights), ReviewDocument.model_validate(insights)
    [spikes], [average] = result.spikes, result.averages
    trend = result.trends[0]
    for sentence in (spikes.sentence, trend.sentence, average.sentence):
        assert sentence in text
        assert sentence in page
    assert (spikes.count, round(spikes.period_s), spikes.main.signal) == (24, 300, "disk.writes")
    assert (trend.notable, trend.movement, trend.means) == (True, "climbs", "must_not_rise")
    assert average.mean == pytest.approx(average.nonzero_mean * average.nonzero_share)
    section = page[page.index('id="spikes-and-trends"') : page.index('id="statistics"')]
    data = json.loads(page[page.index('id="data">') + 10 : page.index("</script>", page.index('id="data">'))])
    drawn = [data["charts"][int(at)] for at in re.findall(r'data-chart="(\d+)"', section)]
    assert [[name for _, name, _ in chart["lines"]] for chart in drawn] == [
        ["Disk writes of SUT, 2 E:"],
        ["trend", "Private memory of a process of SUT, app"],
    ]


def test_nothing_to_tell_is_nothing_told(tmp_path):
    insights = quiet(tmp_path)
    assert TITLE not in render(insights)
    assert TITLE not in as_text(insights)
