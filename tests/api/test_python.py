"""`import plimsoll` for notebooks and scripts: the same results as the commands, and nothing imported before its use."""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import plimsoll
from plimsoll.demo.runs import write_runs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder that holds demo-run."""
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder / "demo-run")
    return folder


@pytest.fixture
def plimsoll_command(request):
    """Calls the command line; the name of its fixture is here that of the module."""
    return request.getfixturevalue("plimsoll")


def python(code, folder=ROOT):
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_import_loads_no_library_and_review_stays_a_function():
    loaded = python("import sys, plimsoll; dir(plimsoll); print(*sys.modules)").split()
    assert {"polars", "numpy", "pydantic", "scipy", "duckdb", "jinja2", "typer"}.isdisjoint(loaded)
    code = "import plimsoll.review.findings, plimsoll; plimsoll.compare; from plimsoll import review; print(review.__name__, plimsoll.review.__name__, *plimsoll.__all__)"
    result = python(code).split()
    assert result[:2] == ["review", "review"]
    assert set(result[2:]) <= set(dir(plimsoll))
    with pytest.raises(AttributeError, match="has no attribute 'reviews'"):
        plimsoll.reviews  # type: ignore[attr-defined]  # noqa: B018


def test_the_example_of_the_page_runs(runs):
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    example, _ = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)  # the other one: tests/pages/test_http_api.py
    result = python(example, runs)
    assert "shape: (3, 2)" in result
    assert "\nNot healthy. " in result
    assert "\ncritical " in result
    assert "\nworse\n" in result


def test_a_review_is_that_of_the_command(runs, plimsoll_command, monkeypatch):
    monkeypatch.chdir(runs)
    arguments = ("demo-run/4GB", "--only", "sql-server", "--from", "10:22")
    result = plimsoll.review("demo-run/4GB", only=["sql-server"], from_="10:22")
    assert json.loads(result.to_json()) == json.loads(plimsoll_command("review", *arguments, "--json", "-").out)
    assert str(result).split() == plimsoll_command("review", *arguments).out.split()
    assert result.verdict == plimsoll.Verdict.NOT_HEALTHY
    assert result.headline in repr(result)
    assert result.headline.split(". ")[1] in result.to_html()


def test_a_comparison_is_that_of_the_command(plimsoll_command, monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "windows-today")
    arguments = ("healthy", "trouble")
    result = plimsoll.compare(*map(Path, arguments))
    outcome = plimsoll_command("compare", *arguments, "--json", "-")
    assert outcome.status == 0, outcome.err
    assert json.loads(result.to_json()) == json.loads(outcome.out)
    assert list(result.answers) == [plimsoll.Answer.WORSE]


def test_a_log_is_the_table_that_convert_writes(runs, plimsoll_command, monkeypatch):
    monkeypatch.chdir(runs)
    log = "demo-run/4GB/SQLSRV01.csv"
    part = ("--counter", r"Memory\*", "--from", "10:30", "--to", "11:00")
    assert plimsoll_command("convert", log, "--as", "parquet", "--out", "sql.parquet", *part).status == 0
    read = plimsoll.read(log, counters=[r"Memory\*"], from_="10:30", to="11:00")
    assert read.frame.equals(pl.read_parquet("sql.parquet"))
    assert read.frame.schema["time"] == pl.Datetime("ns", "UTC")
    several = plimsoll.read("demo-run/4GB")
    assert len(several.frames) == len(several.logs) > 1
    with pytest.raises(plimsoll.Unusable, match="use frames"):
        several.frame  # noqa: B018


def test_a_run_of_a_store_can_be_read(runs, plimsoll_command, monkeypatch):
    monkeypatch.chdir(runs)
    monkeypatch.setenv("XDG_DATA_HOME", str(runs / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(runs / "data"))
    assert plimsoll_command("ingest", "demo-run/4GB", "--run", "night").status == 0
    assert plimsoll.review("run:night").headline == plimsoll.review("demo-run/4GB").headline
    assert {host for log in plimsoll.read("run:night").logs for host in log.hosts} >= {"SQLSRV01"}


def test_what_cannot_be_used_is_told_as_the_command_tells_it(tmp_path, plimsoll_command):
    (tmp_path / "notes.txt").write_text("Dear all,\n")
    with pytest.raises(plimsoll.Unusable, match="no log in it could be read") as error:
        plimsoll.review(tmp_path)
    result = plimsoll_command("review", tmp_path)
    assert result.status == 2
    assert [line for line in result.err.splitlines() if line.startswith("remark: ")] == [
        f"remark: {note}" for note in error.value.__notes__
    ]
    assert result.err.splitlines()[-1] == f"plimsoll: {error.value}"
    for call in (plimsoll.read, plimsoll.review):
        with pytest.raises(plimsoll.Unusable, match="name a log"):
            call()
