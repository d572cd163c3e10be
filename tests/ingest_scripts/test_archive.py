"""ingest/archive/load_archive.py: a run for each folder or day, continued where it was interrupted."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "ingest" / "archive" / "load_archive.py"
HEADER = r'"(PDH-CSV 4.0) (UTC)(0)","\\{host}\Memory\Available MBytes"'


def write(path, host, day, minutes=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f'"01/{day:02}/2024 10:{s // 60:02}:{s % 60:02}.000","{s}"' for s in range(0, 60 * minutes, 10)]
    path.write_text("\n".join([HEADER.format(host=host), *rows]) + "\n")


@pytest.fixture
def archive(tmp_path):
    """Two hosts on two days, a note and a log that is still copied."""
    for day in (15, 16):
        for host in ("WEB1", "WEB2"):
            write(tmp_path / "archive" / host / f"{host}_202401{day}_0000.csv", host, day)
    (tmp_path / "archive" / "README.md").write_text("# Logs\n")
    (tmp_path / "archive" / "WEB1" / "WEB1_20240117_0000.csv.partial").write_text("half")
    return tmp_path / "archive"


@pytest.fixture
def environment(tmp_path):
    names = ("XDG_DATA_HOME", "XDG_STATE_HOME", "LOCALAPPDATA")
    result = {name: value for name, value in os.environ.items() if not name.startswith("INFLUX_")}
    return result | {name: str(tmp_path / name) for name in names}


@pytest.fixture
def load(archive, environment):
    program = shutil.which("plimsoll", path=sysconfig.get_path("scripts"))
    assert program

    def call(*arguments, plimsoll=program):
        command = [sys.executable, str(SCRIPT), str(archive), "--plimsoll", str(plimsoll), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return call


def runs(plimsoll, environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return [line.split()[0] for line in plimsoll("runs", "list").out.splitlines()[1:]]


def test_each_day_is_a_run_and_a_repeated_call_loads_what_is_new(load, archive, plimsoll, environment, monkeypatch):
    first = load("--by", "day")
    assert (first.returncode, first.stderr) == (0, "")
    assert "2 of 2 runs to load" in first.stdout
    assert "1/2 2024-01-15: 2 logs" in first.stdout
    assert load("--by", "day").stdout == "0 of 2 runs to load\n"
    write(archive / "WEB3" / "2024-01-16" / "WEB3.csv", "WEB3", 16)
    again = load("--by", "day")
    assert (again.returncode, again.stderr) == (0, ""), again.stdout
    assert "1/1 2024-01-16 (2): 1 logs" in again.stdout
    (archive / "WEB1" / "WEB1_20240115_0000.csv").unlink()  # tidied away: its run stays
    assert load("--by", "day").stdout == "0 of 2 runs to load\n"
    assert "2024-01-15" in runs(plimsoll, environment, monkeypatch)
    assert "WEB3" in plimsoll("runs", "show", "2024-01-16 (2)").out
    assert "WEB3" not in plimsoll("runs", "show", "2024-01-16").out


def test_each_folder_is_a_run_and_a_failure_does_not_stop_the_others(load, archive, plimsoll, environment, monkeypatch):
    shutil.rmtree(archive / "WEB2")
    (archive / "A").mkdir()
    (archive / "A" / "notes.txt").write_text("Dear all,\n")
    done = load("--prefix", "old ", "--", "--label", "source=archive")
    assert done.returncode == 1
    assert "A: no log in it could be read" in done.stdout
    assert "1 runs failed; repeat the call to try them again: old A" in done.stderr
    write(archive / "A" / "x.csv", "DB1", 17)
    (archive / "A" / "notes.txt").unlink()
    assert load("--prefix", "old ", "--", "--label", "source=archive").returncode == 0
    runs(plimsoll, environment, monkeypatch)
    for name in ("old A", "old WEB1"):
        assert "source=archive" in plimsoll("runs", "show", name).out


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_call_that_is_killed_is_continued(archive, environment, load, tmp_path):
    """It is killed before it records what it loaded; then a log is added to the same day."""
    program = shutil.which("plimsoll", path=sysconfig.get_path("scripts"))
    for log in archive.rglob("*_20240116_*"):
        log.unlink()
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\n{program} "$@" || exit\ntouch {tmp_path}/done\nsleep 30\n')
    slow.chmod(0o755)
    command = [sys.executable, str(SCRIPT), str(archive), "--by", "day", "--plimsoll", str(slow)]
    with subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 300
        while not (tmp_path / "done").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    with (archive / "plimsoll-loaded.jsonl").open("a") as state:
        state.write('{"run": "2024-01')  # and a line was cut off
    write(archive / "WEB3_20240115.csv", "WEB3", 15)
    done = load("--by", "day")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "1/2 2024-01-15: 2 logs" in done.stdout
    assert "2/2 2024-01-15 (2): 1 logs" in done.stdout
    assert load("--by", "day").stdout == "0 of 1 runs to load\n"


def test_what_cannot_be_done_is_said(load, archive):
    assert "is no program" in load(plimsoll="/nowhere/plimsoll").stderr
    listed = load("--by", "day", "--list")
    assert listed.stdout.splitlines()[0] == "2024-01-15: WEB1/WEB1_20240115_0000.csv, WEB2/WEB2_20240115_0000.csv"
    write(archive / "lost.csv", "WEB1", 15)
    lost = load("--by", "day")
    assert lost.returncode == 2
    assert "lost.csv: its path tells no day" in lost.stderr
    shutil.rmtree(archive / "WEB2")
    (archive / "lost.csv").unlink()
    assert load("--", "--store", "http://127.0.0.1:9").returncode == 1  # no token
    shutil.rmtree(archive)
    assert load().returncode == 2
