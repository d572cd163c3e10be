"""dool's CSV begins with a row since boot, has a time without a year, and six lines before it.

dool 1.3.8. Guess: as in dstat's screen the first line of a run is left out, and the CSV has one header and full
dates. The first row has the averages since boot, under the time of now. A time is `Nov-28 05:46:04`, month by name
and no year; the year is in a cell of the fourth line alone. Two lines are headers, groups and columns, and the
groups span cells that are empty.

Seen, of `--cpu --time 1 2`: 6 lines, then 2 rows; times as `Mon-DD HH:MM:SS`
"""

import re
from pathlib import Path

from common import expect, output_of, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Write two rows."""
    packages = use_python_packages(folder, "dool==1.3.8")
    file = folder / "log.csv"
    command = ["python3", packages / "bin/dool", "--nocolor", "--cpu", "--time", "--output", file, "1", "2"]
    output_of(command, folder, PYTHONPATH=str(packages))
    lines = [line for line in file.read_text("utf-8").splitlines() if line]
    expect(
        [line.split(",")[0] for line in lines[:6]],
        ['"dool 1.3.8 CSV output"', '"Author:"', '"Host:"', '"Cmdline:"', '"total cpu usage"', '"usr"'],
        "first lines",
    )
    rows = [line.split(",") for line in lines[6:]]
    for row in rows:
        expect(bool(re.fullmatch(r"[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d", row[-1])), True, f"the form of {row[-1]}")
    ticks = [int(tick) for tick in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = 100 * ticks[3] / sum(ticks)
    expect(abs(float(rows[0][2]) - idle) < 2, True, f"whether idle of the first row, {rows[0][2]}, is that since boot")


if __name__ == "__main__":
    run_finding(probe)
