"""`sadc -S ALL` records no file systems; `XALL` does. The processor "all" is -1 in one of sadf's formats.

sysstat 12.6.1. Guess: ALL is everything, and a name is the same in all formats of one program. File systems and
partitions are in XALL alone, so that a recording that was made "with everything" cannot be judged for full disks.
`sadf -d` calls all processors together -1, `-p` and `-j` call them all. `tps` of the disks contains discards. A
recording of N samples has N - 1, as the first has nothing before it.

Seen: `-S ALL` "Requested activities not available", `-S XALL` rows with %ufsused; CPU -1, all, all; 3 samples of
`sadc 1 4`
"""

import json
import subprocess
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Record for 3 s and print the recording in three formats."""
    root = install_debian_package(folder, "sysstat=12.6.1-1")
    sadc, sadf = root / "usr/lib/sysstat/sadc", root / "usr/bin/sadf"
    for kind in ("ALL", "XALL"):
        output_of([sadc, "-S", kind, "1", "4", folder / kind])
    refused = subprocess.run([sadf, "-d", folder / "ALL", "--", "-F"], capture_output=True, text=True, check=False)
    expect("not available" in refused.stderr, True, "whether file systems are missing with -S ALL")
    expect("%ufsused" in output_of([sadf, "-d", folder / "XALL", "--", "-F"]), True, "whether -S XALL has them")

    rows = output_of([sadf, "-d", folder / "ALL", "--", "-u"]).splitlines()
    expect([row.split(";")[3] for row in rows], ["CPU", "-1", "-1", "-1"], "the processor in -d")
    expect(output_of([sadf, "-p", folder / "ALL", "--", "-u"]).split("\t")[3], "all", "the processor in -p")
    document = json.loads(output_of([sadf, "-j", folder / "ALL", "--", "-u", "-b"]))
    samples = document["sysstat"]["hosts"][0]["statistics"]
    expect([sample["cpu-load"][0]["cpu"] for sample in samples], ["all"] * 3, "the processor in -j")
    for sample in samples:
        io = sample["io"]
        parts = io["io-reads"]["rtps"] + io["io-writes"]["wtps"] + io["io-discard"]["dtps"]
        expect(abs(io["tps"] - parts) < 0.05, True, f"whether tps {io['tps']} is the sum of reads, writes and discards")


if __name__ == "__main__":
    run_finding(probe)
