"""`plimsoll compare --baseline` and `plimsoll runs judge`: a run compared with several earlier runs."""

import json

import numpy as np
import pytest

from plimsoll.__main__ import main
from plimsoll.api.inputs import Inputs, read
from plimsoll.api.open_store import open_store
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.convert.write_pdh import write_pdh
from plimsoll.ingest.runs.load import load
from plimsoll.model.times import SECOND
from tests.simulated import START, ar1

CPU = r"\Processor(_Total)\% Processor Time"
MEMORY = r"\Memory\Available Bytes"
SEARCHES = r"\NTDS\LDAP Searches/sec"
SESSIONS = r"\NTDS\LDAP Client Sessions"
DAY = 86400 * SECOND
ROWS, BASELINES = 300, 6


def a_run(folder, night, cpu=40.0):
    """The log of a night; its processor time differs from the others by 2 %, as runs do."""
    rng = np.random.default_rng(night)
    cpu *= np.exp(0.02 * rng.standard_normal())
    columns = {
        CPU: cpu * (1 + ar1(rng, ROWS, deviation=0.1)),
        MEMORY: 4e9 * (1 + ar1(rng, ROWS, deviation=0.02)),
        SEARCHES: 200 * (1 + ar1(rng, ROWS, deviation=0.1)),
        SESSIONS: 500 * (1 + ar1(rng, ROWS, deviation=0.02)),
    }
    times = START + night * DAY + np.arange(ROWS, dtype=np.int64) * 10 * SECOND
    path = folder / f"night{night}.csv"
    write_pdh(path, None, times, [(f"\\\\DC01{name}", values) for name, values in columns.items()])
    return path


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Return six runs that are alike, another such run, and one in which an operation costs a sixth more."""
    folder = tmp_path_factory.mktemp("nights")
    return [*(a_run(folder, night) for night in range(BASELINES + 1)), a_run(folder, 7, cpu=47.0)]


def plimsoll(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["plimsoll", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_runs_are_compared_with_several_at_once(nights, monkeypatch, capsys, tmp_path):
    written = tmp_path / "c.json"
    entries = ("compare", *nights, "--baseline", BASELINES, "--fail-on", "regression", "--json", written)
    status, out, _ = plimsoll(monkeypatch, capsys, *entries)
    assert status == 1
    assert "night7.csv” is worse than 6 runs of the baseline: processor time of DC01 rose from" in out
    alike, worse = json.loads(written.read_text(encoding="utf-8"))["comparisons"]
    assert (alike["answer"], worse["answer"]) == ("not-worse", "worse")
    assert worse["baselines"] == [f"night{night}.csv" for night in range(BASELINES)]
    assert [item["signal"] for item in worse["regressions"]] == ["cpu.busy"]


def test_a_comparison_of_many_runs_fits_a_screen(nights, monkeypatch, capsys):
    status, out, _ = plimsoll(monkeypatch, capsys, "compare", *nights, *nights[6:], "--baseline", 5)
    assert status == 0
    first, _, *item = out.splitlines()
    assert len(item) < 30
    assert first.startswith("Worse. Of 5 runs, compared with night0.csv (1), ")
    assert first.endswith(": 2 worse, 3 not worse.")
    lines = [line for line in item if line.startswith("  Worse. ")]
    assert all("night7.csv (" in line and "processor time of DC01 rose from" in line for line in lines)
    assert len(lines) == 2


def test_a_summary_for_a_pull_request(nights, monkeypatch, capsys):
    entries = ("compare", *nights[:6], nights[7], "--baseline", BASELINES, "--markdown", "-")
    status, out, _ = plimsoll(monkeypatch, capsys, *entries)
    assert status == 0
    assert out.startswith("## Worse. night7.csv compared with night0.csv, ")
    assert "| Processor time | DC01 | Worse | " in out


@pytest.mark.parametrize("count", [0, 8])
def test_a_baseline_leaves_a_run_to_compare(count, nights, monkeypatch, capsys):
    status, _, err = plimsoll(monkeypatch, capsys, "compare", *nights, "--baseline", count)
    assert (status, "--baseline" in err) == (2, True)


def keep(folder, nights, labels):
    """Load the runs of nights into a store."""
    with open_store(str(folder), make=True) as store:
        for night, log in enumerate(nights):
            content = read(Inputs((str(log),), zone="UTC"))
            load(store, run_to_store(content, f"night {night}", labels(night)), content.logs)


def test_a_run_of_a_store_is_judged_by_those_before_it(nights, monkeypatch, capsys, tmp_path):
    keep(tmp_path, nights, lambda night: {"build": "old" if night < BASELINES else "new", "test": "logon"})
    judge = ("runs", "judge", "night 7", "--store", tmp_path, "--fail-on", "regression")
    status, out, err = plimsoll(monkeypatch, capsys, *judge, "--like", "build=old")
    assert status == 1
    assert "“night 7” is worse than 6 runs of the baseline: processor time of DC01" in out
    status, out, err = plimsoll(monkeypatch, capsys, *judge)
    assert "only 1 earlier run" in err
    status, out, err = plimsoll(monkeypatch, capsys, *judge, "--like", "build=none")
    assert (status, "no complete run before" in err) == (2, True)


def test_where_a_series_of_runs_changed(monkeypatch, capsys, tmp_path, tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    keep(
        tmp_path,
        [a_run(logs, night, cpu=40.0 if night < 5 else 46.0) for night in range(10)],
        lambda _: {"test": "logon"},
    )
    written, summary = tmp_path / "trend.json", tmp_path / "trend.md"
    entries = ("runs", "trend", "--like", "test=logon", "--store", tmp_path, "--json", written, "--markdown", summary)
    status, out, _ = plimsoll(monkeypatch, capsys, *entries)
    assert status == 0
    assert out.startswith("Became worse. 1 change in 2 signals of 10 runs, night 0 to night 9")
    assert len(out.splitlines()) <= 7
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("## Became worse.")
    assert "Processor time | DC01 | " in text
    (result,) = json.loads(written.read_text(encoding="utf-8"))["changes"]
    assert (result["signal"], result["worse"]) == ("cpu.busy", True)
    assert result["from_run"] in {f"night {night}" for night in (4, 5, 6)}
    for night in (6, 9):  # a baseline that took the regression in would find them usual
        judge = ("runs", "judge", f"night {night}", "--like", "test=logon", "--store", tmp_path)
        status, out, _ = plimsoll(monkeypatch, capsys, *judge, "--fail-on", "regression")
        assert (status, out.split(".")[0]) == (1, "Worse")
        assert night == 6 or "The baseline changed with night 5 and ends before it" in " ".join(out.split())
    store = ("--store", tmp_path)
    accept = ("runs", "accept", "night 5", "--reason", "new ciphers", *store, "--signal")
    status, _, err = plimsoll(monkeypatch, capsys, *accept, "cpu.bussy")
    assert (status, "did you mean cpu.busy?" in err) == (2, True)
    status, out, _ = plimsoll(monkeypatch, capsys, *accept, "cpu.busy", "--until", "2099-12-31")
    assert (status, out.startswith("Accepted: Processor time changed with night 5")) == (0, True)
    status, out, _ = plimsoll(monkeypatch, capsys, *judge)
    join = " ".join(out.split())
    assert "The baseline begins with night 5, whose change was accepted: Processor time, new ciphers." in join
    assert not join.startswith("Worse")
    status, _, err = plimsoll(monkeypatch, capsys, "runs", "trend", "--like", "test=none", *store)
    assert (status, "a trend needs 8 or more" in err) == (2, True)
