"""atop's parseable output begins with a sample since boot, and gives labels in an order of its own.

atop 2.8.1. Guess: the first sample covers the first interval, and rows come in the order that `-P` asks for. The
first sample, after a line RESET, has the machine's uptime as its interval and counters since boot, under the time
of now: read as an interval, a machine that was idle for a month is idle. `-P MEM,CPU` gives CPU first. Memory is in
pages, whose size is a field of the row.

Seen, of `-P MEM,CPU 1 2`: RESET, CPU, MEM, SEP, CPU, MEM, SEP; interval of the first the uptime, of the second 1
"""

from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Take two samples."""
    root = install_debian_package(folder, "atop=2.8.1-1+deb12u1")
    rows = [line.split() for line in output_of([root / "usr/bin/atop", "-P", "MEM,CPU", "1", "2"]).splitlines()]
    expect([row[0] for row in rows], ["RESET", "CPU", "MEM", "SEP", "CPU", "MEM", "SEP"], "labels")
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    expect(abs(int(rows[1][5]) - uptime) < 60, True, f"whether the first interval, {rows[1][5]} s, is the uptime")
    expect(int(rows[4][5]) < 10, True, f"whether the second interval, {rows[4][5]} s, is that of the samples")
    expect(int(rows[2][6]) in (4096, 16384, 65536), True, "whether memory comes with the size of a page")


if __name__ == "__main__":
    run_finding(probe)
