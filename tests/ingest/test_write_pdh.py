"""PDH-CSV as Windows writes it, byte for byte."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable

BERLIN = WallClock("W. Europe Standard Time", -60)
TIMES = np.array([1_200_387_720_000_000_000, 1_200_387_725_007_999_999], dtype=np.int64)  # 09:02:00 UTC
CPU = "\\\\SQLSRV01\\Processor(_Total)\\% Processor Time"


def test_a_file_is_what_windows_writes(tmp_path: Path) -> None:
    """Every field quoted, CRLF, local time, the bias once, a missing value as one space."""
    path = tmp_path / "log.csv"
    free = "\\\\SQLSRV01\\Memory\\Available Bytes"
    columns = [(CPU, np.array([np.nan, 12.5])), (free, np.array([652341248.0, 652345344.0]))]
    write_pdh(path, BERLIN, TIMES, columns)
    assert path.read_bytes() == (
        b'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)",'
        b'"\\\\SQLSRV01\\Processor(_Total)\\% Processor Time","\\\\SQLSRV01\\Memory\\Available Bytes"\r\n'
        b'"01/15/2008 10:02:00.000"," ","652341248"\r\n'
        b'"01/15/2008 10:02:05.007","12.5","652345344"\r\n'
    )


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (41.0, "41"),
        (0.1 + 0.2, "0.30000000000000004"),
        (8.57e-5, "0.0000857"),
        (1e16, "10000000000000000"),
        (-3.5, "-3.5"),
        (np.nan, " "),
        (np.inf, " "),
        (-np.inf, " "),
    ],
)
def test_numbers(tmp_path: Path, value: float, cell: str) -> None:
    """The shortest digits that read back as the same number; whole numbers have no point."""
    path = tmp_path / "log.csv"
    write_pdh(path, BERLIN, TIMES[:1], [(CPU, np.array([value]))])
    assert path.read_text().splitlines()[1] == f'"01/15/2008 10:02:00.000","{cell}"'


def test_minus_one_of_a_log_without_a_zone_is_not_taken_for_no_data(tmp_path: Path) -> None:
    """A bare -1 is typeperf's sign for no data, and only typeperf writes no zone."""
    path = tmp_path / "log.csv"
    values = np.array([-1.0, 2.5])
    write_pdh(path, None, TIMES, [(CPU, values)])
    assert path.read_text().splitlines()[1:] == ['"01/15/2008 09:02:00.000","-1.0"', '"01/15/2008 09:02:05.007","2.5"']
    log = read_log(path)
    assert log.column(0).tolist() == values.tolist()


def test_odd_instances_stay_as_they_are(tmp_path: Path) -> None:
    """Commas, brackets, quotes and letters beyond ASCII in an instance do not break the row."""
    path = tmp_path / "log.csv"
    write_pdh(path, BERLIN, TIMES[:1], [('\\\\SQLSRV01\\Process(a,b (c) "é")\\Private Bytes', np.array([1.0]))])
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert header.endswith(',"\\\\SQLSRV01\\Process(a,b (c) ""é"")\\Private Bytes"')


def test_a_zone_west_of_greenwich(tmp_path: Path) -> None:
    """UTC = local + bias."""
    path = tmp_path / "log.csv"
    write_pdh(path, WallClock("Eastern Daylight Time", 240), TIMES[:1], [])
    assert path.read_bytes() == b'"(PDH-CSV 4.0) (Eastern Daylight Time)(240)"\r\n"01/15/2008 05:02:00.000"\r\n'


def test_an_existing_file_is_replaced_and_nothing_is_left_over(tmp_path: Path) -> None:
    """The file is written beside its final path, and moved there."""
    path = tmp_path / "log.csv"
    path.write_text("old")
    write_pdh(path, BERLIN, TIMES, [(CPU, np.zeros(2))])
    assert list(tmp_path.iterdir()) == [path]
    assert b"old" not in path.read_bytes()


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    """If the new file cannot be moved into place, the old file stays, without a partial file."""
    path = tmp_path / "log.csv"
    (path / "occupied").mkdir(parents=True)
    with pytest.raises(Unusable, match=r"log\.csv: cannot be written"):
        write_pdh(path, BERLIN, TIMES, [(CPU, np.zeros(2))])
    assert list(tmp_path.iterdir()) == [path]


def test_a_column_of_another_length_is_refused(tmp_path: Path) -> None:
    """No file is written."""
    with pytest.raises(ValueError, match="needs 2 values"):
        write_pdh(tmp_path / "log.csv", BERLIN, TIMES, [(CPU, np.zeros(3))])
    assert not list(tmp_path.iterdir())


def test_a_clock_that_is_not_known(tmp_path: Path) -> None:
    """No zone is written, as in typeperf's output."""
    path = tmp_path / "log.csv"
    write_pdh(path, None, TIMES[:1], [])
    assert path.read_bytes() == b'"(PDH-CSV 4.0)"\r\n"01/15/2008 09:02:00.000"\r\n'
