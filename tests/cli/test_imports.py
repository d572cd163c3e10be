"""The modules that each command imports: modules that it does not use must not slow it down."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SERVERS = {"uvicorn", "starlette", "jinja2", "duckdb", "influxdb_client", "httpx", "plimsoll.up.up", "plimsoll.serve"}
STATISTICS = {"scipy.stats", "scipy.ndimage", "scipy.optimize", "scipy.signal"}
TABLES = {"numpy", "polars"}
# A run of three hosts under growing load, of which most that a review can find is found.
RUN = Path(__file__).parents[2] / "examples" / "messaging" / "trouble"
JUDGING = {"plimsoll.review", "plimsoll.insights", "plimsoll.comparison"}
# What only other outputs than the terminal's need.
OUTPUTS = {"plimsoll.charts", "plimsoll.insights.bottleneck.json", "plimsoll.report.junit_suite"}


def imported(tmp_path, *arguments):
    """The modules that a command has imported when it ends."""
    out = tmp_path / "modules.json"
    code = (
        "import atexit, json, pathlib, sys\n"
        f"atexit.register(lambda: pathlib.Path({str(out)!r}).write_text(json.dumps([*sys.modules])))\n"
        f"sys.argv = ['plimsoll', *{list(map(str, arguments))!r}]\n"
        "from plimsoll.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    return set(json.loads(out.read_text()))


@pytest.fixture
def log(tmp_path):
    """A small log: the processor of one host, every 15 seconds for 20 minutes."""
    lines = ['"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Processor(_Total)\\% Processor Time"']
    times = [f"01/15/2008 10:{at // 4:02}:{at % 4 * 15:02}.000" for at in range(80)]
    lines += [f'"{time}","{20 + at % 7}"' for at, time in enumerate(times)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


# By command: what it imports none of.
UNUSED = {
    "--help": SERVERS | STATISTICS | TABLES | JUDGING | {"pydantic", "yaml", "scipy"},
    "show": SERVERS | STATISTICS | JUDGING | {"scipy", "polars", "rich", "plimsoll.rules"},
    "convert": SERVERS | STATISTICS | JUDGING | {"scipy"},
    "review": SERVERS | STATISTICS | OUTPUTS | {"scipy", "plimsoll.comparison", "plimsoll.ingest.formats.sadf"},
    "review of a small log": SERVERS | STATISTICS | OUTPUTS | {"scipy", "polars", "rich", "pydantic", "yaml"},
    "compare": SERVERS | STATISTICS | {"scipy", "polars", "pydantic", "yaml", "plimsoll.charts"},
    "ingest": (SERVERS - {"duckdb"}) | STATISTICS | JUDGING | {"scipy"},
    "rules": SERVERS | STATISTICS | JUDGING | {"scipy"},
}


def test_no_command_imports_what_it_does_not_use(tmp_path, log):
    (tmp_path / "store").mkdir()
    calls = {
        "--help": ["--help"],
        "show": ["show", log],
        "convert": ["convert", log, "--as", "csv", "--out", tmp_path / "out.csv"],
        "review": ["review", RUN],
        "review of a small log": ["review", log],
        "compare": ["compare", log, log],
        "ingest": ["ingest", log, "--run", "r", "--store", tmp_path / "store"],
        "rules": ["rules", "list"],
    }
    result = {name: sorted(UNUSED[name] & imported(tmp_path, *call)) for name, call in calls.items()}
    assert {name: modules for name, modules in result.items() if modules} == {}
