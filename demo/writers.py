"""How the tables of a small system become logs: as Performance Monitor writes them, and as sadf does."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta, timezone
from pathlib import Path
from typing import TypeAlias

from demo.tables import Host, System
from demo.windows import Recording, added
from ingest.write_pdh import WallClock, write_pdh
from model.atomic import atomic_write
from model.log import Values
from model.times import utc

BIAS_MINUTES = -60
ZONE = timezone(timedelta(minutes=-BIAS_MINUTES))
_CLOCK = WallClock("W. Europe Standard Time", BIAS_MINUTES)
_CPU_USE = ("%user", "%nice", "%system", "%iowait", "%steal")
CPU = f"CPU;{';'.join(_CPU_USE)};%idle"
_WHOLE = ("kb", "MB", "I", "runq", "plist", "blocked")  # what columns of whole numbers begin with
SadfRow: TypeAlias = tuple[str, Sequence[Values]]  # the cell that names the instance, and the values of each column


def pdh(folder: Path, system: System, host: Host, columns: Recording) -> None:
    """A PDH-CSV log of one host."""
    write_pdh(
        folder / f"{host.name}.csv",
        _CLOCK,
        system.times,
        [(f"\\\\{host.name}{path}", values) for path, values in columns.items()],
    )


def sadf(folder: Path, system: System, host: Host, columns: Recording) -> None:
    """What `sadf -d FILE -- -u -P ALL -w -r` prints; columns are by section and name, those of processors
    by number (`CPU 0 %user`).
    """
    sections = (
        (CPU, cpu_rows(host, columns)),
        ("proc/s;cswch/s", [("", [columns["task proc/s"], columns["task cswch/s"]])]),
        ("kbmemfree;kbavail", [("", [columns["mem_util kbmemfree"], columns["mem_util kbavail"]])]),
    )
    write_sadf(folder, system, host, sections)


def write_sadf(folder: Path, system: System, host: Host, sections: Iterable[tuple[str, Iterable[SadfRow]]]) -> None:
    """Sections as `sadf -d` prints them, each under the names of its columns.

    Its rows are of the interval before them, so there is none for the start.
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
    """All processors (-1), then each; what a processor does not spend on anything it idles."""
    each = [[columns[f"CPU {number} {use}"] for use in _CPU_USE] for number in range(host.processors)]
    together = [added(use) / host.processors for use in zip(*each, strict=True)]
    for number, uses in ((-1, together), *enumerate(each)):
        yield f"{number};", [*uses, 100 - added(uses)]


def _number(column: str, value: float) -> str:
    return f"{value:.0f}" if column.startswith(_WHOLE) else f"{value:.2f}"
