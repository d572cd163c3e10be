"""`plimsoll demo` on a terminal, and where there is none."""

import os
import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

from plimsoll.cli.commands.up import has_browser
from tests.cli.terminals import on_a_terminal

COMMAND = [sys.executable, "-m", "plimsoll", "demo"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_on_a_terminal_the_pages_follow_the_reports(tmp_path):
    ours, theirs = os.openpty()
    without_display = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        COMMAND, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=without_display, start_new_session=True
    )
    os.close(theirs)
    try:
        shown = ""
        while "Ctrl-C ends it" not in shown:
            shown += os.read(ours, 65_536).decode(errors="replace")
        match = re.search(r"Plimsoll is up: \S*?(http://[0-9.:]+)", shown)
        assert match, shown
        with urlopen(f"{match[1]}/runs") as answer:
            page = answer.read().decode()
        assert "demo 4GB" in page
        assert "demo 8GB" in page
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert (tmp_path / "demo-run" / "4GB" / "report.html").exists()


def test_without_a_terminal_it_ends_and_names_the_command_for_the_pages(plimsoll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = plimsoll("demo")
    assert done.status == 0, done.err
    assert done.out.rstrip().endswith("plimsoll up --demo")


def test_so_it_does_on_a_terminal_where_nothing_is_to_be_served(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert on_a_terminal(100, "demo", "--no-serve")[-1].endswith("plimsoll up --demo")


def test_a_browser_is_opened_only_where_it_has_a_window():
    assert has_browser({"DISPLAY": ":0"}, "linux")
    assert has_browser({}, "darwin")
    assert not has_browser({}, "linux")
    assert not has_browser({"DISPLAY": ":0", "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}, "linux")
