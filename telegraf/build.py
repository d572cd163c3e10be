"""Writes the inputs in windows.conf: the output of `plimsoll rules counters --as telegraf` for every signal.

Run `python telegraf/build.py`; a test checks that the file is up to date. The part above the inputs is hand-written.
"""

from pathlib import Path

from plimsoll.export.counters import telegraf
from plimsoll.export.counters.counter_list import make_counter_list
from plimsoll.rules.load import load_signals

WINDOWS = Path(__file__).parent / "windows.conf"
# A named instance. Object names allow no wildcard, so its name comes from the environment.
INSTANCE = "${SQLSERVER_INSTANCE:-SQLEXPRESS}"
_BEGIN = """\
# --- Inputs
# Written by telegraf/build.py from rules/signals. MSSQL$NAME: is a named instance of SQL Server; SQLSERVER_INSTANCE is
# its name. For more instances: plimsoll rules counters --as telegraf --instance A --instance B
#
"""


def windows() -> str:
    """Return the new text of windows.conf: its current head, and the inputs."""
    head, _, _ = WINDOWS.read_text(encoding="utf-8").partition(_BEGIN.partition("\n")[0])
    signals = load_signals()
    return f"{head.rstrip()}\n\n{_BEGIN}{telegraf.format_inputs(make_counter_list(signals, signals, [INSTANCE]))}"


if __name__ == "__main__":
    WINDOWS.write_text(windows(), encoding="utf-8", newline="\n")
