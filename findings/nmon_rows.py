"""nmon's file defines one of its tables after the data has begun, and its first rates are zeros, not missing.

nmon 16n. Guess: all headers come first, as in the parts that begin with AAA, and a figure that is not known is
empty. The header of `VM` comes after the first ZZZZ, between rows of data. What is not known is -1.0 or -0.0. In
T0001 `pswitch` and `fork` are 0.0: no sample was before it.

Seen, at 2 s: VM's header after ZZZZ,T0001; PROC,T0001 pswitch 0.0, then above 0; `syscall` -1.0 throughout; MEM
hightotal -0.0
"""

import time
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Record three samples."""
    nmon = install_debian_package(folder, "nmon=16n+debian-1+b1") / "usr/bin/nmon"
    log = folder / "log.nmon"
    output_of([nmon, "-F", log, "-s", "2", "-c", "3"], folder)
    for _ in range(60):
        if log.is_file() and log.read_text("utf-8", "replace").count("\nPROC,T") >= 3:
            break
        time.sleep(0.5)
    lines = log.read_text("utf-8", "replace").splitlines()
    header = next(at for at, line in enumerate(lines) if line.startswith("VM,Paging"))
    begin = next(at for at, line in enumerate(lines) if line.startswith("ZZZZ,T0001"))
    expect(header > begin, True, "whether VM's header comes after the first time")
    processes = [line.split(",") for line in lines if line.startswith("PROC,T")]
    expect((processes[0][4], processes[0][5]), ("0.0", "-1.0"), "pswitch and syscall in the first sample")
    expect(float(processes[1][4]) > 0, True, "whether pswitch is above 0 in the second")
    memory = next(line for line in lines if line.startswith("MEM,T0001")).split(",")
    expect(memory[3], "-0.0", "hightotal")


if __name__ == "__main__":
    run_finding(probe)
