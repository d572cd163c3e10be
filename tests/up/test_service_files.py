"""The files of service managers: each reads its own, and what it calls exists."""

import plistlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

# What a path or name may hold.
ODD = ("--listen", "0.0.0.0:8087", "--cert", 'C:\\my certs\\100%"$x".pem', "--allow-host", "a&b<c>;")


def words_of(unit):
    """The words of ExecStart, as systemd takes them."""
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.M)
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line)]


@pytest.mark.parametrize("odd", [(), ODD])
def test_systemd_accepts_the_unit(plimsoll, installed, tmp_path, odd):
    unit = tmp_path / "plimsoll.service"
    done = plimsoll("service", "systemd", "--out", unit, "--", *odd)
    assert done.status == 0, done.err
    checked = subprocess.run(
        [installed("systemd-analyze", "systemd"), "verify", unit], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    program, up, data, folder, *rest = words_of(unit.read_text())
    assert (up, data, folder, tuple(rest)) == ("up", "--store", "/var/lib/plimsoll", odd)
    assert Path(program).is_file()
    assert shutil.which(program) == program


def test_the_unit_gives_the_service_no_more_than_it_needs(plimsoll, installed, tmp_path):
    """Systemd's own rating from 0 to 10; what remains is the network, processes, and the machine's name."""
    unit = tmp_path / "plimsoll.service"
    assert plimsoll("service", "systemd", "--out", unit).status == 0
    analyze = [installed("systemd-analyze", "systemd"), "security", "--offline=yes", "--threshold=25", "--no-pager"]
    judged = subprocess.run([*analyze, unit], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    bounds = re.findall(r"^(MemoryMax|TasksMax|OOMPolicy)=(.+)$", unit.read_text(), re.M)
    assert dict(bounds) == {"MemoryMax": "4G", "TasksMax": "512", "OOMPolicy": "continue"}


def test_macos_has_an_agent(plimsoll, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    agent = plistlib.loads(plimsoll("service", "launchd", "--", *ODD).out.encode())
    program, up, data, folder, *rest = agent["ProgramArguments"]
    assert Path(program).is_file()
    assert (up, data, folder) == ("up", "--store", str(tmp_path / "Library" / "Application Support" / "plimsoll"))
    assert tuple(rest) == ODD


@pytest.mark.parametrize("data", [("--store", "/srv"), ("--store=/srv",)])
def test_a_second_data_folder_is_refused(plimsoll, data):
    done = plimsoll("service", "systemd", "--", *data)
    assert done.status == 2
    assert "--store" in done.err


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_a_line_end_in_an_option_ends_no_line_of_the_file(plimsoll, tmp_path, kind):
    out = tmp_path / "file"
    done = plimsoll("service", kind, "--out", out, "--", "--cert", "x\nExecStartPre=/bin/true")
    assert (done.status, done.err.count("\n"), out.exists()) == (2, 1, False)
