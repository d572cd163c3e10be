"""Runs a command on a terminal."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

from plimsoll.cli import cli


def on_a_terminal(width, *arguments):
    """What a command prints on a terminal of so many columns, in lines, without its colours.

    It runs in this process: starting one takes longer than most commands.
    """
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as beside:
        shown = beside.submit(_read, ours)
        with (
            open(theirs, "r+b", buffering=0) as device,
            open(device.fileno(), closefd=False, encoding="utf-8") as keys,
            open(device.fileno(), "w", closefd=False, encoding="utf-8") as screen,
            mock.patch.multiple(sys, argv=["plimsoll", *map(str, arguments)], stdin=keys, stdout=screen, stderr=screen),
            mock.patch.dict(os.environ, COLUMNS=str(width), TERM="xterm"),
            pytest.raises(SystemExit) as ended,
        ):
            cli.main()
    text = shown.result()
    assert not ended.value.code, text
    return re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()


def _read(ours):
    text = b""
    try:
        while piece := os.read(ours, 65_536):
            text += piece
    except OSError:  # Linux says so where the other end is closed
        pass
    os.close(ours)
    return text.decode()
