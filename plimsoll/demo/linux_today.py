"""A current web server, recorded by sysstat; in the run with trouble each of its resources runs short for a while.

sysstat does not record out-of-memory kills, so there are none here.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np

from plimsoll.demo.tables import Breach, Counter, Host, System, between
from plimsoll.demo.windows import Recording
from plimsoll.demo.writers import CPU, ZONE, SadfRow, cpu_rows, write_sadf
from plimsoll.model.log import Values

HOST = "web01"
DISK, ADAPTER, FILE_SYSTEM = "sda", "eth0", "/dev/sda2"
MEMORY_KB, SWAP_KB, FILE_SYSTEM_MB, INODES = 8192 * 1024, 2048 * 1024, 40_960, 2_621_440

_AWAIT, _REQUESTS = f"disk {DISK} await", f"disk {DISK} tps"
_RECEIVED, _SENT = f"network {ADAPTER} rxpck/s", f"network {ADAPTER} txpck/s"
_RECEIVED_ERRORS, _SENT_ERRORS = f"network {ADAPTER} rxerr/s", f"network {ADAPTER} txerr/s"
_FULL = f"filesystem {FILE_SYSTEM} %ufsused"
_STALLED = ("psi %smem-10", "psi %smem-60", "psi %fmem-10", "psi %fmem-60")


def _processor(number: int) -> tuple[Counter, ...]:
    return (
        Counter(f"CPU {number} %user", 22, "percent", 0.1),
        Counter(f"CPU {number} %nice", 0),
        Counter(f"CPU {number} %system", 6, "percent", 0.1),
        Counter(f"CPU {number} %iowait", 0.5, spread=0.3),
        Counter(f"CPU {number} %steal", 0.2, spread=0.3),
    )


def _write(folder: Path, system: System, host: Host, columns: Recording) -> None:
    """Write what `sadf -d FILE -- -u -P ALL -w -W -r -S -q -d -n DEV,EDEV -F -q PSI` prints."""
    write_sadf(folder, system, host, ((CPU, cpu_rows(host, columns)), *_sections(columns)))


def _sections(columns: Recording) -> Iterator[tuple[str, list[SadfRow]]]:
    nothing = np.zeros_like(columns["task cswch/s"])
    yield "proc/s;cswch/s", [("", [columns["task proc/s"], columns["task cswch/s"]])]
    yield "pswpin/s;pswpout/s", [("", [columns["swap pswpin/s"], columns["swap pswpout/s"]])]
    available, free = columns["mem_util kbavail"], columns["mem_util kbmemfree"]
    used = MEMORY_KB - available
    yield (
        "kbmemfree;kbavail;kbmemused;%memused;kbbuffers;kbcached",
        [("", [free, available, used, 100 * used / MEMORY_KB, nothing, available - free])],
    )
    swapped = columns["swap_util %swpused"]
    in_use = np.rint(SWAP_KB * swapped / 100)
    yield "kbswpfree;kbswpused;%swpused", [("", [SWAP_KB - in_use, in_use, swapped])]
    load = columns["queue ldavg-1"]
    yield "runq-sz;plist-sz;ldavg-1;ldavg-5;ldavg-15;blocked", [("", [load, nothing + 212, load, load, load, nothing])]
    yield "DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util", [(f"{DISK};", _disk(columns, nothing))]
    yield (
        "IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s;rxcmp/s;txcmp/s;rxmcst/s;%ifutil",
        [(f"{ADAPTER};", [columns[_RECEIVED], columns[_SENT], *_adapter(columns), *[nothing] * 4])],
    )
    yield (
        "IFACE;rxerr/s;txerr/s;coll/s;rxdrop/s;txdrop/s",
        [(f"{ADAPTER};", [columns[_RECEIVED_ERRORS], columns[_SENT_ERRORS], *[nothing] * 3])],
    )
    full = columns[_FULL]
    taken = np.rint(FILE_SYSTEM_MB * full / 100)
    files = np.rint(INODES * (0.1 + nothing))
    yield (
        "FILESYSTEM;MBfsfree;MBfsused;%fsused;%ufsused;Ifree;Iused;%Iused",
        [(f"{FILE_SYSTEM};", [FILE_SYSTEM_MB - taken, taken, full, full, INODES - files, files, nothing + 10])],
    )
    some, full_of_it = _STALLED[:2], _STALLED[2:]
    yield (
        "%smem-10;%smem-60;%smem-300;%smem;%fmem-10;%fmem-60;%fmem-300;%fmem",
        [("", [value for pair in (some, full_of_it) for value in _averages(columns, pair)])],
    )


def _disk(columns: Recording, nothing: Values) -> list[Values]:
    """The columns of a disk: requests of 16 KB, a third of them reads; the queue follows Little's law."""
    requests, wait = columns[_REQUESTS], columns[_AWAIT]
    queue = requests * wait / 1000
    read = requests * 16 / 3
    return [requests, read, 2 * read, nothing, nothing + 16, queue, wait, 100 * (1 - np.exp(-queue))]


def _adapter(columns: Recording) -> list[Values]:
    """Kilobytes received and sent: small requests, longer answers."""
    return [0.2 * columns[_RECEIVED], 0.9 * columns[_SENT]]


def _averages(columns: Recording, names: tuple[str, str]) -> list[Values]:
    """The averages over 10, 60 and 300 seconds and over the interval; the last two are assumed equal to the second."""
    short, long = (columns[name] for name in names)
    return [short, long, long, long]


LINUX_TODAY = System(
    folder="linux-today",
    title="Linux of today",
    document="limits of today",
    start=datetime(2026, 3, 10, 10, 0, tzinfo=ZONE),
    minutes=90,
    interval_s=60,
    steady_from_s=300,
    hosts=(
        Host(
            HOST,
            processors=2,
            clock_mhz=2600,
            memory_mb=8192,
            counters=(
                *_processor(0),
                *_processor(1),
                Counter("task proc/s", 2.5, spread=0.3),
                Counter("task cswch/s", 4200, spread=0.1),
                Counter("swap pswpin/s", 0),
                Counter("swap pswpout/s", 0),
                Counter("mem_util kbmemfree", 170_000, "gauge", 0.05),
                Counter("mem_util kbavail", 4_600_000, "gauge", 0.02),
                Counter("swap_util %swpused", 3, spread=0.01),
                Counter("queue ldavg-1", 0.7, spread=0.2),
                Counter(_REQUESTS, 24, spread=0.2),
                Counter(_AWAIT, 2.1, spread=0.3),
                Counter(_RECEIVED, 840, spread=0.1),
                Counter(_SENT, 910, spread=0.1),
                Counter(_RECEIVED_ERRORS, 0),
                Counter(_SENT_ERRORS, 0),
                Counter(_FULL, 61, spread=0.002),
                *(Counter(name, 0) for name in _STALLED),
            ),
        ),
    ),
    changes={
        # From 10:05 on the processors are overloaded, and tasks queue for them.
        **{(HOST, f"CPU {number} %user"): between(300, 1800, 89, 22) for number in (0, 1)},
        **{(HOST, f"CPU {number} %system"): between(300, 1800, 8.5, 6) for number in (0, 1)},
        (HOST, "queue ldavg-1"): between(300, 1800, 9, 0.7),
        # Afterwards, other virtual machines on the same hardware take processor time.
        **{(HOST, f"CPU {number} %steal"): between(2100, 3600, 28, 0.2) for number in (0, 1)},
        # A program leaks memory; others are swapped out, which slows the disk down.
        (HOST, "mem_util kbavail"): ((2999, 4_600_000), (3000, 250_000), (5400, 250_000)),
        (HOST, "mem_util kbmemfree"): ((2999, 170_000), (3000, 60_000), (5400, 60_000)),
        (HOST, "swap pswpout/s"): between(3000, 4800, 900, 0),
        (HOST, "swap_util %swpused"): ((2999, 3), (3000, 20), (4800, 70), (5400, 70)),
        **{(HOST, name): between(3600, 4500, 72, 0) for name in _STALLED[::2]},
        **{(HOST, name): between(3600, 4500, 66, 0) for name in _STALLED[1::2]},
        (HOST, _AWAIT): between(3000, 4800, 85, 2.1),
        # A network cable is loose, and a log is never rotated.
        (HOST, _RECEIVED_ERRORS): between(1200, 2700, 26, 0),
        (HOST, _SENT_ERRORS): between(1200, 2700, 31, 0),
        (HOST, _FULL): ((0, 61), (1800, 99.2), (5400, 99.4)),
    },
    breaches=(
        Breach("linux-load", HOST, None, 310, 1910, "9 tasks on two processors"),
        Breach("cpu-busy", HOST, None, 370, 1850, "98 %"),
        Breach("processor-busy", HOST, "cpu0", 490, 1910, "98 %"),
        Breach("processor-busy", HOST, "cpu1", 490, 1910, "98 %"),
        Breach(
            "linux-cpu-busy",
            HOST,
            None,
            790,
            1910,
            "97.5 % from 10:05 on; the mean of ten minutes shows it after eight",
        ),
        Breach("linux-cpu-busy-critical", HOST, None, 850, 1850, "97.5 %"),
        Breach("linux-network-received-errors", HOST, ADAPTER, 1200, 2820, "26 of 840 packets"),
        Breach("linux-network-sent-errors", HOST, ADAPTER, 1200, 2820, "31 of 910 packets"),
        Breach("linux-file-system-full", HOST, FILE_SYSTEM, 1380, 5400, "the disk fills up by 1.3 % a minute"),
        Breach("linux-file-system-full-critical", HOST, FILE_SYSTEM, 1620, 5400, "1.6 GB of 40 are left"),
        Breach("linux-file-system-98-percent", HOST, FILE_SYSTEM, 1800, 5400, "99 %"),
        Breach(
            "linux-steal",
            HOST,
            None,
            2470,
            4380,
            "28 % is taken from 10:35 on; the mean of 20 minutes shows it after seven",
        ),
        Breach("linux-disk-latency", HOST, DISK, 3000, 4920, "85 ms"),
        Breach("linux-swapping-out", HOST, None, 3000, 4920, "900 pages/s"),
        Breach("linux-disk-latency-critical", HOST, DISK, 3070, 4860, "85 ms"),
        Breach("linux-memory-available", HOST, None, 3070, 5400, "245 MB of 8 GB"),
        Breach("linux-memory-available-critical", HOST, None, 3070, 5400, "3 %"),
        Breach("linux-memory-stalled", HOST, None, 3600, 4620, "66 %"),
        Breach("linux-memory-waited-for", HOST, None, 3600, 4620, "66 %"),
        Breach("linux-memory-stalled-critical", HOST, None, 3670, 4550, "72 %"),
    ),
    write=_write,
)
