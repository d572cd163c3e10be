"""Writes the examples: several systems, each in a healthy run and in a run with crossed limits.

`python -m plimsoll.demo.examples` writes them to examples/. The output is always the same, byte for byte.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

import numpy as np

from plimsoll.demo.runs import CLOCK, write_facts
from plimsoll.demo.site import DemoSite, load_site, simulate
from plimsoll.demo.windows import DemoRecording, add_arrays
from plimsoll.ingest.convert.write_pdh import write_pdh
from plimsoll.model.atomic import write_atomically
from plimsoll.model.log import Values
from plimsoll.model.times import SECOND, convert_to_datetime, convert_to_instant, format_iso

_CPU_USE = ("%user", "%nice", "%system", "%iowait", "%steal")
_WHOLE = ("kb", "MB", "I", "runq", "plist", "blocked")  # prefixes of columns with whole numbers
_DISK, _ADAPTER, _FILE_SYSTEM = "sda", "eth0", "/dev/sda2"
_SWAP_KB, _FILE_SYSTEM_MB, _INODES = 2048 * 1024, 40_960, 2_621_440
_Row: TypeAlias = tuple[str, Sequence[Values]]  # the cell that names the instance, and the values of each column
SITES = tuple(sorted(Path(file.name).stem for file in files("plimsoll.demo.sites").iterdir() if "yaml" in file.name))
HEALTHY, TROUBLE = "healthy", "trouble"
EXPECTED = "expected.json"


def write_examples(out: Path) -> list[Path]:
    """Write the runs of all systems to `out`; return their folders, each with a log per host and `plimsoll.toml`.

    The folder of a run with trouble also has `expected.json`: the crossings that a review must find, with their times.
    """
    return [folder for name in SITES for folder in _write_site(out / name, load_site(name))]


def _write_site(out: Path, site: DemoSite) -> Iterator[Path]:
    """Write the healthy run and the run with trouble of a system, and yield the folder of each run."""
    for run in (HEALTHY, TROUBLE):
        folder = out / run
        for host in site.hosts:
            columns = simulate(site, host, trouble=run == TROUBLE)
            if site.format == "sadf":
                write_sadf(folder / f"{host}.csv", site, host, columns)
            else:
                paths = [(f"\\\\{host}{path}", values) for path, values in columns.items()]
                write_pdh(folder / f"{host}.csv", CLOCK, site.times, paths)
        times = [0, site.steady_from_s - site.interval_s, site.steady_from_s, 60 * site.minutes]
        write_facts(
            folder,
            f'{site.document}".',
            f"{site.title}, {run}",
            {"system": out.name, "run": run},
            [site.begin + timedelta(seconds=at) for at in times],
            site.hosts,
        )
        yield folder
    with write_atomically(out / TROUBLE / EXPECTED) as partial:
        start = convert_to_instant(site.begin)
        crossed = [
            {
                "rule": breach.rule,
                "host": breach.host,
                "instance": breach.instance,
                "start": format_iso(start + breach.start * SECOND),
                "end": format_iso(start + (breach.end or 0) * SECOND),
                "why": breach.why,
            }
            for breach in site.breaches
        ]
        text = json.dumps({"crossed": crossed}, indent=2)
        partial.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_sadf(path: Path, site: DemoSite, host: str, columns: DemoRecording) -> None:
    """Write a host's simulated counters as `sadf -d` prints them: sections of rows, each below a header line.

    `columns` are named by section and column, and for processors by number (`CPU 0 %user`). A row covers the interval
    before its time, so there is no row for the start of the run.
    """
    stamps = [f"{convert_to_datetime(int(at)):%Y-%m-%d %H:%M:%S} UTC" for at in site.times]
    server = site.hosts[host]
    lines: list[str] = []
    for header, rows in (
        _list_processor_rows(server.processors, columns),
        *_list_sections(columns, server.memory_mb * 1024),
    ):
        lines.append(f"# hostname;interval;timestamp;{header}")
        for number in range(1, len(stamps)):
            start = f"{host};{site.interval_s};{stamps[number]};"
            for cell, values in rows:
                named = zip(header.split(";")[-len(values) :], values, strict=True)
                texts = [f"{v[number]:.0f}" if name.startswith(_WHOLE) else f"{v[number]:.2f}" for name, v in named]
                lines.append(f"{start}{cell}{';'.join(texts)}")
    with write_atomically(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def _list_processor_rows(count: int, columns: DemoRecording) -> tuple[str, list[_Row]]:
    """Return the header and rows of the section on processors: for all together (CPU -1), and for each processor."""
    processors = [[columns[f"CPU {number} {use}"] for use in _CPU_USE] for number in range(count)]
    together = [add_arrays(use) / count for use in zip(*processors, strict=True)]
    rows: list[_Row] = [
        (f"{at};", [*uses, 100 - add_arrays(uses)]) for at, uses in ((-1, together), *enumerate(processors))
    ]
    return f"CPU;{';'.join(_CPU_USE)};%idle", rows


def _list_sections(columns: DemoRecording, memory_kb: int) -> Iterator[tuple[str, list[_Row]]]:
    """Yield header and rows of each further section; sections beyond `sadf -d -- -w -r` only if `columns` have them."""
    yield "proc/s;cswch/s", [("", [columns["task proc/s"], columns["task cswch/s"]])]
    free, available = columns["mem_util kbmemfree"], columns["mem_util kbavail"]
    if "swap pswpin/s" not in columns:
        yield "kbmemfree;kbavail", [("", [free, available])]
        return
    none = np.zeros_like(free)
    yield "pswpin/s;pswpout/s", [("", [columns["swap pswpin/s"], columns["swap pswpout/s"]])]
    used = memory_kb - available
    yield (
        "kbmemfree;kbavail;kbmemused;%memused;kbbuffers;kbcached",
        [("", [free, available, used, 100 * used / memory_kb, none, available - free])],
    )
    swapped = columns["swap_util %swpused"]
    in_use = np.rint(_SWAP_KB * swapped / 100)
    yield "kbswpfree;kbswpused;%swpused", [("", [_SWAP_KB - in_use, in_use, swapped])]
    load = columns["queue ldavg-1"]
    yield "runq-sz;plist-sz;ldavg-1;ldavg-5;ldavg-15;blocked", [("", [load, none + 212, load, load, load, none])]
    yield "DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util", [(f"{_DISK};", _list_disk_columns(columns, none))]
    received, sent = (columns[f"network {_ADAPTER} {name}"] for name in ("rxpck/s", "txpck/s"))
    yield (
        "IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s;rxcmp/s;txcmp/s;rxmcst/s;%ifutil",
        [(f"{_ADAPTER};", [received, sent, 0.2 * received, 0.9 * sent, *[none] * 4])],
    )
    errors = [columns[f"network {_ADAPTER} {name}"] for name in ("rxerr/s", "txerr/s")]
    yield "IFACE;rxerr/s;txerr/s;coll/s;rxdrop/s;txdrop/s", [(f"{_ADAPTER};", [*errors, *[none] * 3])]
    full = columns[f"filesystem {_FILE_SYSTEM} %ufsused"]
    taken = np.rint(_FILE_SYSTEM_MB * full / 100)
    files = np.rint(_INODES * (0.1 + none))
    yield (
        "FILESYSTEM;MBfsfree;MBfsused;%fsused;%ufsused;Ifree;Iused;%Iused",
        [(f"{_FILE_SYSTEM};", [_FILE_SYSTEM_MB - taken, taken, full, full, _INODES - files, files, none + 10])],
    )
    # The averages over 300 seconds and over the interval are assumed equal to those over 60.
    names = ("%smem-10", "%smem-60", "%smem-60", "%smem-60", "%fmem-10", "%fmem-60", "%fmem-60", "%fmem-60")
    yield (
        "%smem-10;%smem-60;%smem-300;%smem;%fmem-10;%fmem-60;%fmem-300;%fmem",
        [("", [columns[f"psi {name}"] for name in names])],
    )


def _list_disk_columns(columns: DemoRecording, none: Values) -> list[Values]:
    """Return a disk's columns, with 16 KB per request, a third of the requests reads, and the queue by Little's law."""
    requests, wait = columns[f"disk {_DISK} tps"], columns[f"disk {_DISK} await"]
    queue = requests * wait / 1000
    read = requests * 16 / 3
    return [requests, read, 2 * read, none, none + 16, queue, wait, 100 * (1 - np.exp(-queue))]


if __name__ == "__main__":
    write_examples(Path(__file__).parents[2] / "examples")
