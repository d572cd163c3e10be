"""`plimsoll service install`, with service managers of the test."""

import os
import subprocess
import sys
from pathlib import PureWindowsPath
from types import SimpleNamespace

import pytest

from plimsoll.up.service import installation

DATA = PureWindowsPath("C:\\ProgramData\\Plimsoll")


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """A Linux whose systemctl and useradd note their calls. Returns the notes, and the folder of the unit."""
    notes = tmp_path / "calls"
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("systemctl", "useradd"):
        program = programs / name
        program.write_text(
            f"#!/bin/sh\necho {name} \"$@\" >> '{notes}'\ncat '{tmp_path}/{name}.says'\nexit $(cat '{tmp_path}/{name}.status')\n"
        )
        program.chmod(0o755)
        (tmp_path / f"{name}.says").write_text("")
        (tmp_path / f"{name}.status").write_text("0")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("plimsoll.cli.commands.service._HOMES", ())
    monkeypatch.setattr(installation, "UNIT", tmp_path / "systemd" / "plimsoll.service")
    return SimpleNamespace(
        calls=lambda: notes.read_text().splitlines() if notes.exists() else [],
        unit=installation.UNIT,
        says=lambda name, text, status=0: (
            (tmp_path / f"{name}.says").write_text(text),
            (tmp_path / f"{name}.status").write_text(str(status)),
        ),
    )


def test_systemd_is_told_and_the_unit_is_there(plimsoll, linux):
    linux.says("useradd", "", 9)  # the user is there already
    done = plimsoll("service", "install", "--", "--listen", "0.0.0.0:9999")
    assert done.status == 0, done.err
    assert linux.calls() == [
        "useradd --system --home-dir /var/lib/plimsoll --shell /usr/sbin/nologin plimsoll",
        "systemctl daemon-reload",
        "systemctl enable --now plimsoll.service",
    ]
    assert "--store /var/lib/plimsoll --listen 0.0.0.0:9999" in linux.unit.read_text()
    assert "9999" in done.out
    assert "firewall" in done.err


def test_a_dry_run_does_nothing(plimsoll, linux, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = plimsoll("service", "install", "--dry-run")
    assert (done.status, linux.calls()) == (0, [])
    assert done.out.splitlines()[1:] == [
        f"write {linux.unit}",
        "systemctl daemon-reload",
        "systemctl enable --now plimsoll.service",
    ]


def test_others_than_root_are_told_to_be_root(plimsoll, linux, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = plimsoll("service", "install")
    assert (done.status, linux.calls()) == (2, [])
    assert "sudo" in done.err


def test_a_zip_application_is_not_made_a_service(plimsoll, linux, monkeypatch):
    monkeypatch.setattr(
        "plimsoll.cli.commands.service.sys",
        SimpleNamespace(argv=["/opt/plimsoll.pyz"], platform="linux"),
    )
    done = plimsoll("service", "install")
    assert (done.status, linux.calls()) == (2, [])
    assert "zip application" in done.err


def test_windows_gets_a_service_of_local_service_that_starts_again():
    command = installation.Command(
        ["C:\\Program Files\\Python\\python.exe", "-P", "-m", "plimsoll"], "--store", ["--listen", "[::]:1"]
    )
    launcher = PureWindowsPath("C:\\Program Files\\Plimsoll\\Scripts\\python.exe")
    calls = [plan_window.call for plan_window in installation.plan_windows(command, DATA, launcher) if plan_window.call]
    (created,) = [call for call in calls if call[:2] == ("sc.exe", "create")]
    options = dict(zip(created[3::2], created[4::2], strict=True))
    assert options["start="] == "auto"
    assert options["obj="] == "NT AUTHORITY\\LocalService"
    assert options["binPath="] == (
        '"C:\\Program Files\\Python\\python.exe" -P -m plimsoll service run '
        "--log C:\\ProgramData\\Plimsoll\\plimsoll.log -- --store C:\\ProgramData\\Plimsoll\\data --listen [::]:1"
    )
    assert ("sc.exe", "failureflag", "Plimsoll", "1") in calls, "else it starts again only after a crash"
    (rights,) = [call for call in calls if call[0] == "icacls.exe"]
    assert set(rights[4:]) == {"*S-1-5-19:(OI)(CI)M", "*S-1-5-32-544:(OI)(CI)F", "*S-1-5-18:(OI)(CI)F"}
    (result,) = [call for call in calls if call[0] == "reg.exe"]
    assert result[-1] == f"__PYVENV_LAUNCHER__={launcher}"
    assert calls[-1] == ("sc.exe", "start", "Plimsoll")
    assert not [step for step in installation.plan_windows(command, DATA, None) if step.call[0] == "reg.exe"]


def test_only_windows_calls_run(plimsoll, tmp_path):
    log = tmp_path / "plimsoll.log"
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "service", "run", "--log", log], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Windows alone can start this" in done.stderr
