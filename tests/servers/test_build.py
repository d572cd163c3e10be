"""Builds of servers are found again by a hash of their inputs."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.servers import programs
from tests.servers.programs import INFLUXDB, INFLUXQL, PROGRAMS

HERE = Path(__file__).parent
MODULES = {program.module for program in PROGRAMS.values()}


def test_the_place_depends_on_what_it_is_built_from(monkeypatch, tmp_path):
    before = {name: program.path for name, program in PROGRAMS.items()}
    assert len(set(before.values())) == len(before)
    copy = tmp_path / "servers"
    for name in MODULES:
        shutil.copytree(HERE / name, copy / name)
    monkeypatch.setattr(programs, "_MODULES", copy)
    assert {name: program.path for name, program in PROGRAMS.items()} == before
    with (copy / "telegraf" / "plugins.txt").open("a") as plugins:
        plugins.write("inputs.ping\n")
    changed = {name for name, program in PROGRAMS.items() if program.path != before[name]}
    assert changed == {"telegraf", "telegraf-windows"}


def test_module_files_are_complete():
    """A build uses no checksum database: each required module has its hash in go.sum."""
    for name in MODULES:
        sums = (HERE / name / "go.sum").read_text()
        required = [line.split() for line in (HERE / name / "go.mod").read_text().splitlines() if line.startswith("\t")]
        lacking = [
            line[0] for line in required if len(line) >= 2 and line[1][0] == "v" and f"{line[0]} {line[1]}" not in sums
        ]
        assert lacking == []


def test_the_parser_is_influxdbs_own():
    assert f"github.com/influxdata/influxql v{INFLUXQL.version}" in (INFLUXDB.folder / "go.mod").read_text()


def test_the_builder_needs_only_python():
    """CI builds the servers before anything is installed."""
    code = "import tests.servers.build"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(HERE.parents[1])!r}); {code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
