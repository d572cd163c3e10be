"""vmstat of procps 4.0.2 shows the memory of its first line in every line.

procps 4.0.2 (Debian 12). Guess: each line is the state at its time, as the columns of CPU and paging are. Memory is
read once: `free`, `buff` and `cache` do not move while a process takes 300 MB and gives it back, so that a
recording of a day says that memory never changed.

Seen, while 300 MB are taken and kept for 2 s: `free` of 5 lines is one number, the kernel's MemFree falls by more
than 100 MB
"""

import subprocess
import sys
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding

_TAKE_MEMORY = "import time; time.sleep(1.5); taken = bytearray(b'x' * 300_000_000); time.sleep(8)"


def _free_kib() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if "MemFree" in line)


def probe(folder: Path) -> None:
    """Record memory while another process takes some."""
    root = install_debian_package(folder, "procps=2:4.0.2-3", "libproc2-0=2:4.0.2-3")
    library = next(root.glob("**/libproc2.so.0")).parent
    taker = subprocess.Popen([sys.executable, "-c", _TAKE_MEMORY])
    before = _free_kib()
    try:
        lines = output_of([root / "usr/bin/vmstat", "1", "5"], LD_LIBRARY_PATH=str(library)).splitlines()
        after = _free_kib()
    finally:
        taker.terminate()
        taker.wait()
    expect(abs(before - after) > 100_000, True, f"whether free memory moved by 100 MB, from {before} to {after} KiB")
    expect(len({line.split()[3] for line in lines[2:]}), 1, "different values of free in 5 lines")


if __name__ == "__main__":
    run_finding(probe)
