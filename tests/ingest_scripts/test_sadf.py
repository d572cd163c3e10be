"""ingest/sadf: the closed days of a simulated sysstat folder, and systemd's own check of its units."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "ingest" / "sadf"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sysstat is Linux's")

# As sadf -H and sadf -d answer; a file of the simulated folder is a day, or nothing where sadf cannot read it.
SADF = """#!/bin/sh
[ "$1" = -H ] && file=$2 || file=$2
day=$(cat "$file")
[ -n "$day" ] || { echo "Invalid system activity file: $file" >&2; exit 1; }
[ "$1" = -H ] && { printf 'Host: Linux (web1)\\nFile date: %s\\nFile time: 00:00:01 UTC\\n' "$day"; exit; }
echo '# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle'
for minute in 10 20 30; do echo "web1;600;$day 00:$minute:01 UTC;-1;1.00;0.00;1.00;0.00;0.00;98.00"; done
"""


@pytest.fixture
def host(tmp_path):
    """A host with sysstat: closed days, today's file, one that is damaged, and a report, which is no log."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sadf").write_text(SADF)
    (tmp_path / "bin" / "sadf").chmod(0o755)
    for folder in ("sysstat", "inbox"):
        (tmp_path / folder).mkdir()
    old = time.strftime("%d", time.localtime(time.time() - 5 * 86_400))
    (tmp_path / "sysstat" / f"sa{old}").write_text("2024-01-15")
    (tmp_path / "sysstat" / "sa20240116").write_text("2024-01-16")
    (tmp_path / "sysstat" / time.strftime("sa%Y%m%d")).write_text("2024-01-20")
    (tmp_path / "sysstat" / time.strftime("sa%d")).write_text("2024-01-20")
    (tmp_path / "sysstat" / "sar15").write_text("a report")
    return tmp_path


@pytest.fixture
def hand_over(host):
    def call(**settings):
        environment = {
            name: value for name, value in os.environ.items() if name not in ("STATE_DIRECTORY", "PLIMSOLL", "STORE")
        } | {
            "PATH": f"{host / 'bin'}:{os.environ['PATH']}",
            "SYSSTAT": str(host / "sysstat"),
            "STATE": str(host / "state"),
            **settings,
        }
        return subprocess.run([FOLDER / "plimsoll-sadf"], env=environment, capture_output=True, text=True, check=False)

    return call


def names(folder):
    return sorted(path.name.partition("-")[2] for path in folder.iterdir())


def test_each_closed_day_is_copied_once_and_can_be_read(host, hand_over, plimsoll):
    inbox = host / "inbox"
    done = hand_over(DESTINATION=str(inbox))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert names(inbox) == ["2024-01-15.csv", "2024-01-16.csv"]
    assert plimsoll("show", *inbox.iterdir()).status == 0
    for copy in inbox.iterdir():
        copy.unlink()  # loaded and tidied away: it does not come again
    assert hand_over(DESTINATION=str(inbox)).stdout == ""
    (host / "sysstat" / "sa20240116").write_text("2024-01-17")  # the name is used again
    os.utime(host / "sysstat" / "sa20240116", (1, 1))
    hand_over(DESTINATION=str(inbox))
    assert names(inbox) == ["2024-01-17.csv"]


def test_a_day_that_fails_is_said_and_tried_again_while_the_others_are_handed_over(host, hand_over):
    (host / "sysstat" / "sa20240114").write_text("")
    done = hand_over(DESTINATION=str(host / "inbox"))
    assert done.returncode == 1
    assert "sa20240114: not handed over: Invalid system activity file" in done.stdout
    assert names(host / "inbox") == ["2024-01-15.csv", "2024-01-16.csv"]
    (host / "sysstat" / "sa20240114").write_text("2024-01-14")
    assert hand_over(DESTINATION=str(host / "inbox")).returncode == 0
    assert "2024-01-14.csv" in names(host / "inbox")


def test_each_day_is_a_run_where_the_host_has_plimsoll(host, hand_over, plimsoll, monkeypatch):
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(host / name))
    monkeypatch.delenv("INFLUX_URL", raising=False)
    program = shutil.which("plimsoll", path=str(Path(sys.executable).parent))
    assert hand_over(PLIMSOLL=program).returncode == 0
    listed = plimsoll("runs", "list").out
    assert "-2024-01-15" in listed
    assert "-2024-01-16" in listed
    refused = hand_over(PLIMSOLL="/bin/false", STATE=str(host / "other"))
    assert refused.returncode == 1
    assert refused.stdout.count("not handed over") == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "name a folder in DESTINATION"),
        ({"DESTINATION": "/nowhere"}, "/nowhere: is no folder"),
        ({"PLIMSOLL": "/nowhere/plimsoll"}, "is no program"),
        ({"SYSSTAT": "/nowhere"}, "/nowhere: is no folder"),
    ],
)
def test_settings_that_cannot_be_used_are_named(hand_over, settings, words):
    done = hand_over(**settings)
    assert done.returncode == 2
    assert words in done.stderr


def test_systemd_accepts_the_units(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd")
    for unit in FOLDER.glob("plimsoll-sadf.*"):
        text = unit.read_text().replace("/usr/local/bin/plimsoll-sadf", str(FOLDER / "plimsoll-sadf"))
        (tmp_path / unit.name).write_text(text)
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    checked = subprocess.run([program, "verify", "--man=no", *units], capture_output=True, text=True, check=False)
    assert [line for line in checked.stderr.splitlines() if "plimsoll" in line] == []
    assert checked.returncode == 0
