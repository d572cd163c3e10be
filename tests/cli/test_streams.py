"""Consoles, pipes and file names as they are."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from big_log import write_big_log

EXAMPLE = Path(__file__).parents[2] / "examples" / "file-server"
LOG = Path(__file__).parents[1] / "ingest" / "cases" / "pdh-csv" / "code_page_932" / "input.csv"


def program(*arguments, **options):
    environment = {**os.environ, **options.pop("env", {})}
    command = [sys.executable, "-m", "plimsoll", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, env=environment, **options)


def test_a_console_that_cannot_show_a_name_is_no_reason_to_fail():
    done = program("show", LOG, env={"PYTHONIOENCODING": "cp1252"})
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)
    assert b"Processor Time" in done.stdout


def test_json_on_stdout_is_utf8_whatever_the_console():
    done = program("show", LOG, "--json", "-", env={"PYTHONIOENCODING": "cp1252"})
    assert "プロセッサ" in [load["object"] for load in json.loads(done.stdout)[0]["objects"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a device")
def test_a_full_disk_is_told():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", "--help"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"plimsoll: standard output: cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without asking them")
def test_who_is_ended_leaves_no_half_written_file(tmp_path):
    log, out = tmp_path / "log.csv", tmp_path / "out" / "log.lp"
    out.parent.mkdir()
    write_big_log(log, rows=5000, columns=200)
    with subprocess.Popen([sys.executable, "-m", "plimsoll", "convert", log, "--as", "lp", "--out", out]) as converting:
        while converting.poll() is None and not list(out.parent.glob(".*")):
            time.sleep(0.001)
        converting.terminate()
        assert converting.wait() == 128 + signal.SIGTERM
    assert list(out.parent.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_reader_that_goes_away_is_no_failure(tmp_path):
    command = f'"{sys.executable}" -m plimsoll show "{LOG}" --json - | head -c 1; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
    assert done.stdout == "[0\n"
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_reader_that_goes_away_changes_no_exit_status(tmp_path):
    """A worse run still has status 1."""
    runs = f'"{EXAMPLE / "healthy"}" "{EXAMPLE / "trouble"}"'
    compared = f'"{sys.executable}" -m plimsoll compare {runs} --fail-on regression'
    for reader in ("cat", "true"):
        command = f'{compared} | {reader} >/dev/null; echo "${{PIPESTATUS[0]}}"'
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
        assert done.stdout == "1\n"
        assert "Broken pipe" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_read_like_a_file(plimsoll, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(LOG), str(pipe)]):
        done = plimsoll("show", pipe)
    assert done.status == 0
    assert "1 row" in done.out


def test_a_file_name_is_no_pattern(plimsoll, tmp_path):
    (tmp_path / "log1.csv").write_text(
        '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","111"\n'
    )
    odd = tmp_path / "log[1].csv"
    odd.write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","222"\n')
    out = tmp_path / "out.lp"
    assert plimsoll("convert", odd, "--as", "lp", "--out", out).status == 0
    assert "Threads=222.0" in out.read_text()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="Windows has no such device")
def test_nothing_but_the_log_goes_where_it_is_written(tmp_path):
    out = tmp_path / "out.lp"
    with out.open("w") as file:
        command = [sys.executable, "-m", "plimsoll", "convert", str(LOG), "--as", "lp", "--out", "/dev/stdout"]
        subprocess.run(command, stdout=file, check=True)
    assert all(line.rsplit(" ", 1)[1].isdecimal() for line in out.read_text().splitlines())


@pytest.mark.skipif(os.name == "nt", reason="Windows needs a privilege for links")
def test_a_link_to_itself_is_told(plimsoll, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    done = plimsoll("convert", LOG, "--as", "csv", "--out", loop)
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "is a link that leads nowhere" in done.err
