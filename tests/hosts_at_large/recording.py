"""Writes recordings: Performance Monitor's CSV, and `sadf -d`."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROWS, INTERVAL = 160, 15  # 40 minutes
SICK = range(50, 120)  # rows: 17 minutes
START = datetime(2026, 3, 9, 8, 0, 0, 207000, tzinfo=UTC)


@dataclass(frozen=True)
class Level:
    """A value around which a counter moves, and the one while the host is sick."""

    well: float
    sick: float | None = None
    spread: float = 0.06

    def at(self, row: int, chance: random.Random) -> float:
        """The value of a row."""
        middle = self.sick if self.sick is not None and row in SICK else self.well
        return middle * (1 + chance.uniform(-self.spread, self.spread))


Columns = Mapping[str, Level]


@dataclass(frozen=True)
class Host:
    """A recording and the verdicts that are right for it."""

    name: str
    columns: Columns
    verdict: str
    sections: Mapping[str, Sequence[tuple[str, Columns]]] = field(default_factory=dict)
    settings: str = ""
    needs: str = ""  # what the headline must contain

    def write(self, folder: Path) -> Path:
        """Write the recording, and plimsoll.toml beside it."""
        folder.mkdir(parents=True)
        if self.settings:
            (folder / "plimsoll.toml").write_text(self.settings, encoding="utf-8")
        path = folder / "recording.csv"
        path.write_text(sadf(self) if self.sections else pdh(self), encoding="utf-8", newline="\r\n")
        return path


def pdh(host: Host) -> str:
    """As a Data Collector Set writes it: rates and times are blank in the first row, and now and then elsewhere."""
    chance = random.Random(host.name)
    head = ["(PDH-CSV 4.0) (Eastern Daylight Time)(240)", *(rf"\\SRV01{path}" for path in host.columns)]
    rows = [head]
    for row in range(ROWS):
        time = START - timedelta(hours=4) + timedelta(seconds=INTERVAL * row)
        cells = [time.strftime("%m/%d/%Y %H:%M:%S.%f")[:-3]]
        for path, level in host.columns.items():
            value = level.at(row, chance)
            blank = (row == 0 and _of_two(path)) or row == 77
            cells.append(" " if blank else f"{max(value, 0):.15g}")
        rows.append(cells)
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def _of_two(path: str) -> bool:
    return "/sec" in path or "%" in path.rpartition("\\")[2] or "Avg." in path


def sadf(host: Host) -> str:
    """As `sadf -d` writes it: a section for each kind, with a row for each device."""
    chance = random.Random(host.name)
    lines: list[str] = []
    for label, devices in host.sections.items():
        names = list(devices[0][1])
        lines.append(";".join(["# hostname", "interval", "timestamp", *([label] if label[:1] != "-" else []), *names]))
        for row in range(ROWS):
            time = (START + timedelta(seconds=INTERVAL * row)).strftime("%Y-%m-%d %H:%M:%S UTC")
            for device, columns in devices:
                values = [f"{level.at(row, chance):.2f}" for level in columns.values()]
                lines.append(";".join(["web01", str(INTERVAL), time, *([device] if device else []), *values]))
    return "\n".join(lines) + "\n"


Way = Callable[[float, float | None], dict[str, Level]]
