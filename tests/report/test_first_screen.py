"""The first screen of a report below its verdict."""

import re
from pathlib import Path

import numpy as np
import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.insights.insights import Insights
from plimsoll.model.run import Run
from plimsoll.model.styled import join_parts
from plimsoll.report.first_screen import build_first_screen
from plimsoll.report.html.render import render
from plimsoll.report.terminal_summary import format_lines
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from tests.simulated import a_log, reviewed

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_what_to_look_at_is_of_the_cause_before_it_is_of_the_worst_crossing():
    """A file system is full, but memory is the bottleneck: its signals come first."""
    insights = Insights(review_inputs(Inputs((str(EXAMPLES / "linux-today" / "trouble"),)), ReviewSettings()))
    assert insights.review.headline.startswith("Not healthy. Free space of web01")
    first = build_first_screen(insights)
    assert first.cause.startswith("Too little memory on web01 limits")
    assert first.next.startswith("Next: list the processes by `ps aux")
    assert "look at Pages swapped out, PSI memory (full) from 09:49:00 to 10:30:00." in first.next


def test_what_to_do_is_said_where_the_figures_tell_it():
    rows, gib = 480, 2.0**30
    rng = np.random.default_rng(3)

    def about(level):
        return np.full(rows, level) * rng.normal(1, 0.01, rows)

    buffer, memory = r"\SQLServer:Buffer Manager", r"\SQLServer:Memory Manager"
    capped = {
        rf"{buffer}\Page life expectancy": about(60.0),
        rf"{buffer}\Lazy writes/sec": about(90.0),
        rf"{memory}\Target Server Memory (KB)": np.full(rows, 8 * gib / 1024),
        rf"{memory}\Total Server Memory (KB)": np.full(rows, 8 * gib / 1024),
        r"\Memory\Available Bytes": about(50 * gib),
        r"\PhysicalDisk(0 D:)\Disk Reads/sec": about(4000.0),
    }
    assert _first(capped).next.startswith(
        "Next: raise max server memory: SQL Server uses all 8 GB that it may, and db "
    )
    assert "raise max server memory" not in _first({**capped, r"\Memory\Available Bytes": about(2 * gib)}).next

    processors = {rf"\Processor({number})\% Processor Time": about(5.0) for number in range(16)}
    one_thread = processors | {
        r"\Processor(_Total)\% Processor Time": about(11.0),
        r"\Process(batch)\% Processor Time": np.minimum(about(98.0), 100),
        r"\Memory\Available MBytes": about(9000.0),
        r"\Memory\Pages/sec": about(2.0),
        r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": about(0.002),
        r"\PhysicalDisk(0 C:)\Disk Transfers/sec": about(20.0),
    }
    first = _first(one_thread)
    assert "The process batch of db uses all of one processor" in _reviewed(one_thread).review.headline
    assert first.next.startswith("Next: more processors do not help batch")


def test_who_takes_the_memory_that_a_run_loses_is_named():
    rows, mib = 720, 2.0**20
    lost = np.linspace(0, 1200 * mib, rows)
    leak = {
        r"\Memory\Available Bytes": 9000 * mib - lost,
        r"\Process(orders)\Private Bytes": 400 * mib + lost,
        r"\Process(web)\Private Bytes": np.full(rows, 2000 * mib),
        r"\Processor(_Total)\% Processor Time": np.full(rows, 30.0) + np.sin(np.arange(rows)),
    }
    assert _first(leak).next.startswith(
        "Next: find what grows in orders on db, which gains 401 MB an hour, by two dumps"
    )


def _reviewed(columns):
    log, question = a_log(columns, host="db", interval_s=15), Question(load().packs, load_signals())
    return Insights(review([log], Run("simulated", simulated=True), question, Facts({}, find_recorded_facts([log]))))


def _first(columns):
    return build_first_screen(_reviewed(columns))


def test_of_hosts_that_are_no_system_the_cause_and_the_evidence_are_of_one():
    rows = 360
    free, busy = r"\LogicalDisk(C:)\% Free Space", r"\Processor(_Total)\% Processor Time"
    queue = r"\System\Processor Queue Length"
    full = a_log({free: np.full(rows, 1.0), busy: np.full(rows, 5.0)}, host="files")
    short = a_log({busy: np.full(rows, 99.0), queue: np.full(rows, 40.0), free: np.full(rows, 60.0)}, host="web")

    def screen(*, apart):
        question = Question(load().packs, load_signals(), apart=apart)
        return build_first_screen(Insights(review([full, short], Run(), question, Facts({}, {}))))

    together, item = screen(apart=False), screen(apart=True)
    assert {host for host in ("files", "web") if host in str(together)} == {"files", "web"}
    named = {host for host in ("files", "web") if host in str(item)}
    assert len(named) == 1, item
    assert item.cause
    assert item.evidence


def test_one_worst_value_of_full_windows_and_both_limits_are_said():
    """The first sample and a later brief peak are higher, but do not belong to the crossing in the sentence."""
    rows = 540
    seconds = np.full(rows, 0.04)
    seconds[0], seconds[300:330], seconds[420:425] = 0.3, 0.08, 0.2
    insights = Insights(_slow(seconds))
    assert insights.review.headline.startswith(
        "Not healthy. Disk read latency of files, 0 C: went above 50 ms for 7 min 30 s, at worst 80 ms (1 min mean), "
        "and above 25 ms throughout; it should stay at or below 25 ms."
    )
    figure = build_first_screen(insights).evidence[0]
    assert figure.value == "80 ms"
    assert figure.text.endswith(", highest 1 min mean within the crossings that count")


def test_a_crossing_that_goes_on_ends_with_the_log():
    """The last evaluation is on the grid, after the last sample."""
    insights = Insights(_slow(np.full(203, 0.08)))
    end = insights.review.clock(insights.review.zone, insights.review.end or 0)
    assert any(f"–{end} (" in join_parts(line) for line in format_lines(insights))


def test_the_figures_begin_with_what_the_verdict_names():
    """They do not begin with an increase of handles that could not be crossed in two hours."""
    busy = 20 + np.arange(480.0) % 3
    busy[-16:] = 97
    insights = Insights(reviewed(a_log({_CPU: busy, **_WELL, _HANDLES: np.arange(480.0)}, interval_s=15)))
    first = build_first_screen(insights)
    (doubt,) = insights.review.doubts
    assert doubt.sentence.startswith("Processor time of SUT stood above its limit of 80 % for the last ")
    assert "at worst 97 % (1 min mean)" in doubt.sentence
    assert (first.evidence[0].value, first.evidence[0].limit) == ("97 %", "< 80 %")
    assert not any("handles" in item.value for item in first.evidence)
    assert "Recorded too briefly" not in "".join(join_parts(line) for line in format_lines(insights))
    assert "process-handles-leak" in render(insights).partition("Too short, and not met")[2], "it is not lost"


def test_a_verdict_that_names_no_value_has_no_figures():
    columns = {_CPU: np.full(480, 20.0), r"\Memory\Available MBytes": _WELL[r"\Memory\Available MBytes"]}
    first = build_first_screen(Insights(reviewed(a_log(columns, interval_s=15))))
    assert first.evidence == []


_CPU, _HANDLES = r"\Processor(_Total)\% Processor Time", r"\Process(app)\Handle Count"
_WELL = {
    r"\Memory\Available MBytes": np.full(480, 8000.0),
    r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": np.full(480, 0.002),
}


def _slow(seconds):
    """A disk with such a latency every 15 s."""
    path = r"\PhysicalDisk(0 C:)"
    columns = {rf"{path}\Avg. Disk sec/Read": seconds, rf"{path}\Disk Reads/sec": np.full(len(seconds), 50.0)}
    return reviewed(a_log(columns, host="files", interval_s=15))


def test_what_clients_saw_is_said_unless_an_objective_judges_it(tmp_path):
    """Two requests a second for 20 min: GET / takes 200 ms, POST /checkout 900 ms, and every fourth of it fails."""
    head = "timeStamp,elapsed,label,responseCode,success,allThreads"
    gets = [(at * 1000, 200, "GET /", 200, "true") for at in range(1200)]
    posts = [
        (at * 1000 + 500, 900, "POST /checkout", *((500, "false") if at % 4 == 0 else (200, "true")))
        for at in range(1200)
    ]
    rows = [",".join(map(str, (1772445600000 + at, *rest, 4))) for at, *rest in sorted(gets + posts)]
    (tmp_path / "results.jtl").write_text("\n".join([head, *rows, ""]), encoding="utf-8")

    def clients():
        return build_first_screen(Insights(review_inputs(Inputs((str(tmp_path),)), ReviewSettings()))).clients

    assert clients() == (
        "Clients: 2 /s, p50, p95 and p99 about 489 ms, 900 ms, 900 ms, 12.5 % failed (above all POST /checkout, 25 %): "
        "300 with “500 Internal Server Error”."
    )
    (tmp_path / "plimsoll.toml").write_text('[objective]\nerrors = "< 20 %"\n', encoding="utf-8")
    assert clients() == "Failed requests: 300 with “500 Internal Server Error”."


def test_percentiles_are_those_of_all_requests_though_only_some_steps_are_slow(tmp_path):
    """20 requests a second for 20 min, of which the last third takes eight times as long: a mean would say 0.7 s."""
    rng = np.random.default_rng(4)
    took = rng.lognormal(0, 0.3, 24_000) * np.where(np.arange(24_000) < 16_000, 180, 1440)
    rows = [f"{1772445600000 + 50 * at},{round(ms)},GET /,200,true,4" for at, ms in enumerate(took)]
    head = "timeStamp,elapsed,label,responseCode,success,allThreads"
    (tmp_path / "results.jtl").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    text = build_first_screen(Insights(review_inputs(Inputs((str(tmp_path),)), ReviewSettings()))).clients
    shown = [float(value) * (1000 if unit == "s" else 1) for value, unit in re.findall(r"([\d.]+) (ms|s)\b", text)]
    assert shown == pytest.approx(np.percentile(took, [50, 95, 99]), rel=0.05)
