"""nmon counts the time of niced processes as User%, collectl and sadf do not.

nmon 16n, collectl 4.3.1. Guess: user time is one figure, as all three read the first line of /proc/stat. There nice
time is a column of its own; nmon adds it to User% and has no column for it, collectl's User% leaves it out beside a
Nice%. A machine whose batch jobs run niced is 90 % User in one and 0 % in the other.

Seen, with one niced loop on two processors: nmon User% 50 and more, collectl User% less than half of it, Nice% the
rest
"""

import os
import subprocess
import sys
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Record a niced loop on each processor with both."""
    root = install_debian_package(folder, "nmon=16n+debian-1+b1", "collectl=4.3.1-1")
    loop = [sys.executable, "-c", "import time\nend = time.time() + 12\nwhile time.time() < end: pass"]
    loops = [subprocess.Popen(["nice", "-n", "5", *loop]) for _ in range(os.cpu_count() or 1)]
    recorder = subprocess.Popen([root / "usr/bin/nmon", "-F", folder / "log.nmon", "-s", "1", "-c", "5"], cwd=folder)
    try:
        collectl = output_of(
            ["perl", root / "usr/bin/collectl", "-sc", "-P", "-i1", "-c4", "--sep", ","], root / "usr/share/collectl"
        ).splitlines()
        recorder.wait(60)
        for _ in range(40):
            if (folder / "log.nmon").read_text("utf-8", "replace").count("CPU_ALL,T") >= 5:
                break
            output_of(["sleep", "0.5"])
    finally:
        for process in loops:
            process.terminate()
            process.wait()
    nmon = [line.split(",") for line in (folder / "log.nmon").read_text().splitlines() if line.startswith("CPU_ALL,")]
    expect(nmon[0][2:7], ["User%", "Sys%", "Wait%", "Idle%", "Steal%"], "nmon's columns, none of them for nice")
    user = sum(float(row[2]) for row in nmon[2:]) / len(nmon[2:])
    titles = next(line for line in collectl if line.startswith("#Date")).split(",")
    rows = [dict(zip(titles, line.split(","), strict=True)) for line in collectl if line[0].isdigit()]
    plain, nice = (sum(float(row[f"[CPU]{name}%"]) for row in rows) / len(rows) for name in ("User", "Nice"))
    expect(nice > 20, True, f"whether collectl's Nice%, {nice:.0f}, is high")
    expect(user > plain + nice / 2, True, f"whether nmon's User%, {user:.0f}, holds both: {plain:.0f} and {nice:.0f}")


if __name__ == "__main__":
    run_finding(probe)
