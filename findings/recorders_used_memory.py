"""Used memory of one machine and second is three figures: collectl, sysstat and free each subtract something else.

collectl 4.3.1, sysstat 12.6.1, procps 4.0.2. Guess: used is what is neither free nor cache. collectl's `[MEM]Used`
is all that is not free, the cache included; sysstat's `kbmemused` leaves buffers, page cache and the whole slab
out, also what of it cannot be given back; free's `used` is total - available.

Seen on a machine with 24.7 GB: collectl 9.9 GB, sysstat 2.9 GB, free 3.3 GB; each equals its sum to the KiB
"""

import json
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Record memory once by each, and compare it with the sum of its own figures."""
    root = install_debian_package(
        folder, "collectl=4.3.1-1", "sysstat=12.6.1-1", "procps=2:4.0.2-3", "libproc2-0=2:4.0.2-3"
    )
    collectl = output_of(
        ["perl", root / "usr/bin/collectl", "-sm", "-P", "-i1", "-c1", "--sep", ","], root / "usr/share/collectl"
    ).splitlines()
    row = dict(zip(collectl[-2].split(","), collectl[-1].split(","), strict=True))
    expect(int(row["[MEM]Used"]), int(row["[MEM]Tot"]) - int(row["[MEM]Free"]), "collectl's used, total - free")

    recording = folder / "recording"
    output_of([root / "usr/lib/sysstat/sadc", "1", "2", recording])
    sadf = json.loads(output_of([root / "usr/bin/sadf", "-j", recording, "--", "-r", "ALL"]))
    memory = sadf["sysstat"]["hosts"][0]["statistics"][0]["memory"]
    total = int(row["[MEM]Tot"])
    left = sum(memory[name] for name in ("memfree", "buffers", "cached", "slab"))
    expect(memory["memused"], total - left, "sysstat's used, total - free - buffers - cached - slab")

    library = next(root.glob("**/libproc2.so.0")).parent
    free = output_of([root / "usr/bin/free", "-k"], LD_LIBRARY_PATH=str(library)).splitlines()
    figures = dict(zip(free[0].split(), map(int, free[1].split()[1:]), strict=True))
    expect(figures["used"], figures["total"] - figures["available"], "free's used, total - available")


if __name__ == "__main__":
    run_finding(probe)
