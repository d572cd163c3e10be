"""Writes the inputs of windows.conf: what `plimsoll rules counters --as telegraf` prints for every signal.

`python telegraf/build.py`; a test compares what it would write. What stands above them in the file is written by hand.
"""

from pathlib import Path

from rules.collect import telegraf
from rules.counters import counters
from rules.load import load_signals

WINDOWS = Path(__file__).parent / "windows.conf"
# A named instance: Windows allows no wildcard in the name of an object, so its name is taken from the environment.
INSTANCE = "${SQLSERVER_INSTANCE:-SQLEXPRESS}"
_BEGIN = """\
# --- Inputs
# Written by telegraf/build.py from rules/signals. MSSQL$NAME: is a named instance of SQL Server, of which
# SQLSERVER_INSTANCE is the name; plimsoll rules counters --as telegraf --instance A --instance B writes more of them.
#
"""


def windows() -> str:
    """What windows.conf is to hold: its head as it is, and the inputs."""
    head, _, _ = WINDOWS.read_text(encoding="utf-8").partition(_BEGIN.partition("\n")[0])
    signals = load_signals()
    return f"{head.rstrip()}\n\n{_BEGIN}{telegraf.text(counters(signals, signals, [INSTANCE]))}"


if __name__ == "__main__":
    WINDOWS.write_text(windows(), encoding="utf-8", newline="\n")
