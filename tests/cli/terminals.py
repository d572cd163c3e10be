"""Runs a command on a terminal."""

import os
import re
import subprocess
import sys

import pytest


def on_a_terminal(width, *arguments):
    """What a command prints on a terminal of so many columns, in lines, without its colours."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "plimsoll", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65_536):
                text += piece
        except OSError:  # Linux says so where the other end is closed
            pass
    os.close(ours)
    assert running.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", text.decode()).splitlines()
