"""A wide log of which rules need few columns: the others are read when they are needed, and nothing is lost."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.formats.perfmon import read
from plimsoll.ingest.read import LogFile, read_files, read_log
from plimsoll.ingest.reading import ReadOptions
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log

ROWS = 40


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_MUCH", 0)


def wide(path: Path, cell: str = "7.5") -> Path:
    """Write a log with one processor, 300 engines of a graphics card, and `cell` as the value of one of these."""
    names = [r"\\WEB01\Processor(_Total)\% Processor Time"]
    names += [rf"\\WEB01\GPU Engine(engine_{n})\Utilization Percentage" for n in range(300)]
    lines = [["(PDH-CSV 4.0) (UTC)(0)", *names]]
    for row in range(ROWS):
        values = [f"{row + n / 1000}" if (row + n) % 7 else " " for n in range(len(names))]
        lines.append([f"03/04/2024 08:{row:02}:00.000", *values])
    lines[5][200] = cell
    path.write_text("".join(",".join(f'"{text}"' for text in line) + "\r\n" for line in lines), newline="")
    return path


def partly(path: Path) -> Log:
    return read_files([LogFile(path)], ReadOptions(), partly=True).logs[0]


def test_the_other_columns_are_read_when_they_are_needed(tmp_path: Path) -> None:
    path = wide(tmp_path / "wide.csv")
    log, whole = partly(path), read_log(path)
    assert len(log.in_memory) == 2  # the processor, and one engine that tells of rows with values
    assert log.column(0)[3] == 3.0
    assert len(log.in_memory) == 2
    for ours, expected in zip(log.columns, whole.columns, strict=True):
        np.testing.assert_array_equal(ours, expected)
    assert (log.series, log.remarks, log.present) == (whole.series, whole.remarks, whole.present)


@pytest.mark.parametrize("cell", ["n/a", "1,5", "inf", "03/04/2024 08:59:00.000"])
def test_a_damaged_cell_in_any_column_is_remarked_on(tmp_path: Path, cell: str) -> None:
    path = wide(tmp_path / "wide.csv", cell)
    whole = read_log(path)
    assert whole.remarks
    assert partly(path).remarks == whole.remarks


def test_a_file_that_was_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = wide(tmp_path / "wide.csv")
    log = partly(path)
    path.write_text("\n".join(path.read_text().splitlines()[:20]) + "\n")
    with pytest.raises(Unusable, match="was changed while it was read"):
        log.column(100)
