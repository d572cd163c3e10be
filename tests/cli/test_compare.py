"""`plimsoll compare`: the story on the first screen, the outputs, and the exit status."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from plimsoll.__main__ import main
from plimsoll.demo.runs import write_runs
from plimsoll.ingest.convert.write_pdh import write_pdh
from plimsoll.model.times import SECOND
from tests.simulated import START, ar1

CPU = r"\Processor(_Total)\% Processor Time"
MEMORY = r"\Memory\Available Bytes"
SEARCHES = r"\NTDS\LDAP Searches/sec"
EXAMPLE = Path(__file__).parents[2] / "examples" / "dynamic-directory"
SESSIONS = r"\NTDS\LDAP Client Sessions"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("demo"))


def compare(monkeypatch, capsys, *arguments):
    """The exit status, stdout and stderr."""
    monkeypatch.setattr("sys.argv", ["plimsoll", "compare", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def a_log(path, columns, host="DC01", every_s=5, start=START):
    rows = len(next(iter(columns.values())))
    times = start + np.arange(rows, dtype=np.int64) * every_s * SECOND
    write_pdh(path, None, times, [(f"\\\\{host}{name}", values) for name, values in columns.items()])
    return path


def a_directory(seed, rows=720, *, cpu=40.0, searches=200.0, sessions=500.0):
    rng = np.random.default_rng(seed)
    return {
        CPU: cpu * (1 + ar1(rng, rows, deviation=0.1)),
        MEMORY: 4e9 * (1 + ar1(rng, rows, deviation=0.02)),
        SEARCHES: searches * (1 + ar1(rng, rows, deviation=0.1)),
        SESSIONS: sessions * (1 + ar1(rng, rows, deviation=0.02)),
    }


def test_the_demo_tells_the_story_of_the_study_on_the_first_screen(runs, monkeypatch, capsys):
    eight, four = runs
    status, out, _ = compare(monkeypatch, capsys, eight, four, "--fail-on", "regression")
    assert status == 1
    first_screen = "\n".join(out.splitlines()[:3])
    for text in (
        "Worse. The load was the same in the steady phase: batch requests 724 /s in both (",
        "disk reads of SQLSRV01, 2 E: (and 1 more) rose from 0.563 /s to 47.3 /s",
        "It crossed limits that “36 users/s, 8 GB” held: Disk reads, Page life expectancy",
        "Probably too little memory for the buffer cache of SQL Server on SQLSRV01 limits it.",
        "17 signals did not change.",
    ):
        assert text in first_screen


def test_what_is_written_says_the_same(runs, monkeypatch, capsys, tmp_path):
    eight, four = runs
    outputs = [tmp_path / name for name in ("c.html", "c.json", "c.xml")]
    options = [part for pair in zip(("--out", "--json", "--junit"), outputs, strict=True) for part in pair]
    status, _, _ = compare(monkeypatch, capsys, eight, four, eight, *options)
    assert status == 0
    loads = json.loads(outputs[1].read_text(encoding="utf-8"))
    assert loads["schema"] == "plimsoll.comparison/1"
    worse, same = loads["comparisons"]
    assert (worse["answer"], worse["phase"], same["answer"]) == ("worse", "steady", "not-worse")
    assert worse["load"]["same"] is True
    by_name = {item["signal"]: item for item in reversed(worse["regressions"])}
    assert (by_name["disk.reads"]["instance"], by_name["disk.reads"]["limit_crossed_in"]) == ("2 E:", "other")
    assert same["regressions"] == []
    assert [row["cells"]["Exceptions"] for row in loads["table"]] == [
        "None",
        "Available memory, Disk reads, Page life expectancy",
        "None",
    ]
    assert "64.5 % / 29.9 %" in loads["table"][0]["cells"].values()
    suites = ElementTree.parse(outputs[2]).getroot()
    assert [int(suite.attrib["failures"]) > 0 for suite in suites] == [True, False]
    page = outputs[0].read_text(encoding="utf-8")
    assert worse["story"][0] in page


def test_what_is_worse_in_a_phase_alone_is_in_the_report(monkeypatch, capsys, tmp_path):
    report = tmp_path / "c.html"
    healthy, trouble = EXAMPLE / "healthy", EXAMPLE / "trouble"
    status, out, _ = compare(monkeypatch, capsys, healthy, trouble, "--details", "--out", report)
    match = re.search(r"Worse in the [\w-]+ phase alone", out)
    assert status == 0
    assert match
    assert match[0] in report.read_text("utf-8")


def test_load_is_compared_before_anything_else(monkeypatch, capsys, tmp_path):
    base = a_log(tmp_path / "a.csv", a_directory(1))
    less = a_log(tmp_path / "b.csv", a_directory(2, searches=100, sessions=250))
    status, out, err = compare(monkeypatch, capsys, base, less, "--fail-on", "regression")
    assert "The load was not the same" in out.splitlines()[0]
    assert status == 2
    assert "--fail-on cannot say that" in err


def test_fewer_operations_of_as_many_clients_are_lost_throughput(monkeypatch, capsys, tmp_path):
    base = a_log(tmp_path / "a.csv", a_directory(1))
    lost = a_log(tmp_path / "b.csv", a_directory(2, searches=150))
    status, out, _ = compare(monkeypatch, capsys, base, lost, "--fail-on", "regression")
    assert status == 1
    assert "Throughput was lost" in out.splitlines()[0]


def test_a_tenth_more_processor_time_is_found_at_other_intervals_on_a_host_of_another_name(
    monkeypatch, capsys, tmp_path
):
    base = a_log(tmp_path / "a.csv", a_directory(1))
    slower = a_log(
        tmp_path / "b.csv", a_directory(2, rows=400, cpu=44.0), host="DC02", every_s=15, start=START + 10**15
    )
    status, out, _ = compare(monkeypatch, capsys, base, slower, "--fail-on", "regression")
    assert status == 1
    assert "DC01 with DC02" in out
    assert "processor time of DC01 (DC02) rose" in out


@pytest.mark.parametrize(("shown", "answer"), [(0.6, "Not worse."), (30, "Worse.")])
def test_a_trace_of_iowait_is_no_regression(monkeypatch, capsys, tmp_path, shown, answer):
    """A processor that works less shows more of the waits for disks."""
    rng = np.random.default_rng(7)
    for name, iowait in (("a", 0.0), ("b", shown)):
        rows = ["# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle"]
        for minute in range(61):
            user, waited = 20 + 0.5 * rng.standard_normal(), iowait * (1 + 0.05 * rng.standard_normal())
            at = f"2026-03-02 {9 + minute // 60:02}:{minute % 60:02}:00 UTC"
            rows.append(f"app7;60;{at};-1;{user:.2f};0.00;4.00;{waited:.2f};0.00;{96 - user - waited:.2f}")
        (tmp_path / name).write_text("\n".join([*rows, ""]))
    assert compare(monkeypatch, capsys, tmp_path / "a", tmp_path / "b")[1].startswith(answer)


def test_too_few_samples_are_not_called_healthy(monkeypatch, capsys, tmp_path):
    base = a_log(tmp_path / "a.csv", a_directory(1))
    short = a_log(tmp_path / "b.csv", a_directory(2, rows=6))
    status, _, err = compare(monkeypatch, capsys, base, short, "--fail-on", "regression")
    assert status == 2
    assert "too few samples" in err


def test_plimsoll_toml_says_what_matters(monkeypatch, capsys, tmp_path):
    base, slower = (tmp_path / name for name in ("base", "slower"))
    for folder, cpu in ((base, 40.0), (slower, 44.0)):
        folder.mkdir()
        a_log(folder / "log.csv", a_directory(int(cpu), cpu=cpu))
    settings = base / "plimsoll.toml"
    settings.write_text('[compare.signals."cpu.busy"]\ntolerance = "20 %"\n')
    assert compare(monkeypatch, capsys, base, slower, "--fail-on", "regression")[0] == 0
    settings.write_text('[compare.signals."cpu.busy"]\ncritical = false\n')
    assert compare(monkeypatch, capsys, base, slower, "--fail-on", "regression")[0] == 0
    settings.write_text('[compare.signals."disk.reads"]\nneeded = true\n')
    status, _, err = compare(monkeypatch, capsys, base, base, "--fail-on", "regression")
    assert (status, "disk.reads must be recorded in both runs" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('[compare.signals."cpu.bussy"]\nneeded = true\n', 'compare.signals."cpu.bussy": there is no signal'),
        ('[compare.signals."cpu.busy"]\nleast = "2 ms"\n', "the signal is in %"),
        ('[compare]\ntolerance = "5"\n', 'compare.tolerance: is not a share of the baseline; write it like "5 %"'),
        ("[compare]\ntolerence = 5\n", 'compare.tolerence: unknown setting (did you mean "tolerance"?)'),
    ],
)
def test_a_mistake_in_the_settings_is_named(text, output, monkeypatch, capsys, tmp_path):
    log = a_log(tmp_path / "a.csv", a_directory(1, rows=100))
    (tmp_path / "plimsoll.toml").write_text(text)
    status, _, err = compare(monkeypatch, capsys, log, log)
    assert status == 2
    assert output in err


def test_one_run_is_not_enough(runs, monkeypatch, capsys):
    status, _, err = compare(monkeypatch, capsys, runs[0])
    assert status == 2
    assert "two runs or more" in err
    assert compare(monkeypatch, capsys, *runs, "--phase", "warm-up")[0] == 2


def test_a_load_that_changed_within_the_run_is_not_called_the_same(monkeypatch, capsys, tmp_path):
    base, stepped = a_directory(1), a_directory(2)
    stepped[SEARCHES][360:] *= 4
    logs = a_log(tmp_path / "a.csv", base), a_log(tmp_path / "b.csv", stepped)
    status, out, err = compare(monkeypatch, capsys, *logs, "--fail-on", "regression", "--phase", "whole run")
    assert "The load was the same" not in out
    assert (status, "the load" in err) == (2, True)
