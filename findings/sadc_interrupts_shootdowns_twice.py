"""sysstat counts more interrupts than the kernel: it adds up rows of which two hold the same.

sysstat 12.6.1, Linux on x86 with two processors or more. Guess: `sar -I SUM` is the first number of `intr` in
/proc/stat, which vmstat, Telegraf and node_exporter read. sadc adds up all rows of /proc/interrupts, where `CAL` counts
every call of another processor and `TLB` again those that empty its translation buffer. A process with threads that
gives memory back makes hundreds or thousands a second: sysstat has a rate that no other recorder has.

Seen, while a process gives memory back for 5 s: intr grew by 14,157, TLB by 4,171, sysstat counted 18,002
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding

_SECONDS = 5
_GIVE_BACK = """
import hashlib, mmap, threading
def work():
    while True: hashlib.sha256(bytes(50_000_000))
threading.Thread(target=work, daemon=True).start()
memory = mmap.mmap(-1, 4096)
while True:
    memory[0] = 1
    memory.madvise(mmap.MADV_DONTNEED)
"""


def probe(folder: Path) -> None:
    """Compare what sadc and the kernel count over the same seconds."""
    root = install_debian_package(folder, "sysstat=12.6.1-1")
    process = subprocess.Popen([sys.executable, "-c", _GIVE_BACK])
    try:
        time.sleep(2)
        before = _read_counts()
        output_of([root / "usr/lib/sysstat/sadc", "-S", "INT", str(_SECONDS), "2", folder / "sa"])
        total, shootdowns = (after - earlier for after, earlier in zip(_read_counts(), before, strict=True))
    finally:
        process.kill()
        process.wait()
    text = output_of([root / "usr/bin/sadf", "-d", folder / "sa", "--", "-I", "SUM"])
    counted = float(text.strip().split(";")[-1]) * _SECONDS
    expect(shootdowns > total / 10, True, f"whether there were enough shootdowns: {shootdowns} of {total}")
    twice = (counted - total) / shootdowns
    expect(0.8 < twice < 1.2, True, f"shootdowns that sysstat counts besides the kernel's total: {twice:.2f} of them")


def _read_counts() -> tuple[int, int]:
    """Return the kernel's total of interrupts, and the shootdowns of all processors."""
    (total,) = re.findall(r"(?m)^intr (\d+)", Path("/proc/stat").read_text("utf-8"))
    (row,) = re.findall(r"(?m)^ *TLB:([\d ]+)", Path("/proc/interrupts").read_text("utf-8"))
    return int(total), sum(map(int, row.split()))


if __name__ == "__main__":
    run_finding(probe)
