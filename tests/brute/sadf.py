"""`sadf -d`, as far as the examples have it, times in UTC."""

from datetime import UTC, datetime
from pathlib import Path

from .recording import Column, interval_of

# The column of a section that says it is of this kind, and the measurement the section becomes.
_MEASUREMENTS = {
    "%idle": "cpu_util",
    "cswch/s": "task",
    "kbavail": "mem_util",
    "pswpout/s": "swap",
    "%swpused": "swap_util",
    "ldavg-1": "queue",
    "await": "disk",
    "rxpck/s": "network",
    "rxerr/s": "network",
    "%ufsused": "filesystem",
    "%smem-10": "psi",
}
# The columns that hold an instance, but that of processors.
_LABELS = ("DEV", "IFACE", "FILESYSTEM")


def read(path: Path) -> list[Column]:
    """The columns of a log."""
    sections: list[tuple[list[str], list[list[str]]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.removeprefix("# ").split(";")
        if line.startswith("#"):
            sections.append((cells, []))
        else:
            sections[-1][1].append(cells)
    interval = interval_of(sorted({_utc(row[2]) for _, rows in sections for row in rows}))
    columns: dict[object, Column] = {}
    for header, rows in sections:
        for row in rows:
            for name, cell in zip(header[3:], row[3:], strict=True):
                if name == "CPU" or name in _LABELS:
                    continue
                made = _column(header, row, name, interval)
                columns.setdefault(made.name, made).add(_utc(row[2]), cell)
    return list(columns.values())


def _column(header: list[str], row: list[str], name: str, interval: int | None) -> Column:
    measurement = next(kind for sign, kind in _MEASUREMENTS.items() if sign in header)
    tags: dict[str, str] = {}
    if "CPU" in header:
        number = row[header.index("CPU")]
        measurement = "cpu_util" if number == "-1" else "per_cpu"
        tags = {"device": "all" if number == "-1" else f"cpu{number}"}
    for label in _LABELS:
        if label in header:
            tags = {"device": row[header.index(label)]}
    field = name.replace("%", "pct_").replace("/", "_per_")
    return Column(row[0], interval, counter=field, measurement=measurement, tags=tags)


def _utc(text: str) -> int:
    return round(datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC).timestamp() * 1000)
