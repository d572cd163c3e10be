"""Writes the simulated counters as logs, in the formats of Performance Monitor and sadf."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta, timezone
from pathlib import Path
from typing import TypeAlias

from plimsoll.demo.tables import Host, System
from plimsoll.demo.windows import Recording, added
from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.model.atomic import atomic_write
from plimsoll.model.log import Values
from plimsoll.model.times import utc

BIAS_MINUTES = -60
ZONE = timezone(timedelta(minutes=-BIAS_MINUTES))
_CLOCK = WallClock("W. Europe Standard Time", BIAS_MINUTES)
_CPU_USE = ("%user", "%nice", "%system", "%iowait", "%steal")
CPU = f"CPU;{';'.join(_CPU_USE)};%idle"
_WHOLE = ("kb", "MB", "I", "runq", "plist", "blocked")  # prefixes of columns with whole numbers
SadfRow: TypeAlias = tuple[str, Sequence[Values]]  # the cell that names the instance, and the values of each column


def pdh(folder: Path, system: System, host: Host, columns: Recording) -> None:
    """Write a PDH-CSV log of one host."""
    write_pdh(
        folder / f"{host.name}.csv",
        _CLOCK,
        system.times,
        [(f"\\\\{host.name}{path}", values) for path, values in columns.items()],
    )


def sadf(folder: Path, system: System, host: Host, columns: Recording) -> None:
    """Write what `sadf -d FILE -- -u -P ALL -w -r` prints. Columns are named by section and column, those of
    processors with a number (`CPU 0 %user`).
    """
    sections = (
        (CPU, cpu_rows(host, columns)),
        ("proc/s;cswch/s", [("", [columns["task proc/s"], columns["task cswch/s"]])]),
        ("kbmemfree;kbavail", [("", [columns["mem_util kbmemfree"], columns["mem_util kbavail"]])]),
    )
    write_sadf(folder, system, host, sections)


def write_sadf(folder: Path, system: System, host: Host, sections: Iterable[tuple[str, Iterable[SadfRow]]]) -> None:
    """Write sections as `sadf -d` prints them, each with a header line.

    Rows describe the interval before them, so there is none at the start.
    """
    stamps = [f"{utc(int(at)):%Y-%m-%d %H:%M:%S} UTC" for at in system.times]
    lines: list[str] = []
    for header, rows in sections:
        lines.append(f"# hostname;interval;timestamp;{header}")
        wanted = list(rows)
        for at in range(1, len(stamps)):
            start = f"{host.name};{system.interval_s};{stamps[at]};"
            lines += [
                f"{start}{cell}{';'.join(map(_number, header.split(';')[-len(values) :], (one[at] for one in values)))}"
                for cell, values in wanted
            ]
    with atomic_write(folder / f"{host.name}.csv") as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def cpu_rows(host: Host, columns: Recording) -> Iterator[SadfRow]:
    """The rows of all processors (-1), then of each; the rest of the time is idle."""
    each = [[columns[f"CPU {number} {use}"] for use in _CPU_USE] for number in range(host.processors)]
    together = [added(use) / host.processors for use in zip(*each, strict=True)]
    for number, uses in ((-1, together), *enumerate(each)):
        yield f"{number};", [*uses, 100 - added(uses)]


def _number(column: str, value: float) -> str:
    return f"{value:.0f}" if column.startswith(_WHOLE) else f"{value:.2f}"
