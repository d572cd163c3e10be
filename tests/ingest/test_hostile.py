"""Files on which repeated searches would take minutes: the time grows only with the file's size."""

from datetime import UTC, datetime
from time import process_time

import numpy as np
import pytest

from plimsoll.ingest.read import read_log
from plimsoll.ingest.shared.clock import convert_to_utc
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Remarks
from plimsoll.model.times import SECOND, Zone, convert_to_instant

HEADER = b'"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Memory\\Available MBytes","\\\\H\\System\\Threads"\r\n'
ROW = b'"01/01/2024 00:00:00.000"'
LONG = 40_000
MINUTE = 60 * SECOND
MOST_SECONDS = 120  # of the processor, as minutes are what it is about; each takes a second or less


@pytest.fixture
def in_time():
    start = process_time()
    yield
    assert process_time() - start < MOST_SECONDS


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize(
    "data",
    [
        b'"(PDH-CSV 4.0) (UTC)(0)","\\H\\A' + b"(" * LONG + b")" * LONG + b'"\r\n' + ROW + b',"1"\r\n',
        HEADER.replace(b",", b";") + ROW + b';"1E+3";"' + b"1" * 3 * LONG + b'"\r\n',
        HEADER + b"a" + b"\t" * 10 * LONG + b"\r\n" + ROW + b',"1","2"\r\n',
    ],
    ids=[
        "brackets in a path that lost a backslash",
        "a rounded number and one of many digits",
        "tabs between words and rows",
    ],
)
def test_logs(tmp_path, data):
    (tmp_path / "log.csv").write_bytes(data)
    assert len(read_log(tmp_path / "log.csv").times) == 1


@pytest.mark.usefixtures("in_time")
def test_the_names_of_a_header_of_sadf_over_and_over(tmp_path):
    names = b"hostname;interval;timestamp;"
    (tmp_path / "log").write_bytes(b"# " + names * 3 * LONG + b"\nh;1;2024-01-01 00:00:00 UTC;1\n")
    with pytest.raises(Unusable, match="the header is not as sadf writes it"):
        read_log(tmp_path / "log")


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("cells", [b"1,", b"1700000000,"], ids=["numbers", "times"])
def test_a_row_of_times_and_numbers_without_end(tmp_path, cells):
    (tmp_path / "log.csv").write_bytes(b"1700000000," + cells * 3 * LONG)
    with pytest.raises(Unusable, match="not a log that can be read"):
        read_log(tmp_path / "log.csv")


@pytest.mark.parametrize(
    ("name", "bias", "start"),
    [("Some Standard Time", 0, "2024-01-01 10:00"), ("Egypt Daylight Time", -180, "2024-10-31 23:00")],
)
@pytest.mark.usefixtures("in_time")
def test_a_clock_that_is_changed_all_the_time(name, bias, start):
    first = convert_to_instant(datetime.fromisoformat(start).replace(tzinfo=UTC))
    local = first + np.tile(np.array([0, 20, 40]), 3 * LONG) * MINUTE
    local[1::6] -= 120 * MINUTE
    assert len(convert_to_utc(local, Zone.from_bias(name, bias), range(len(local)), Remarks())) == len(local)


@pytest.mark.usefixtures("in_time")
def test_times_quoted_and_numbers_not(tmp_path):
    count = 4001
    rows = b"".join(
        b'"01/01/2024 %02d:%02d:%02d.000",1,2.5\r\n' % (n // 3600, n // 60 % 60, n % 60) for n in range(count)
    )
    (tmp_path / "log.csv").write_bytes(HEADER + rows)
    log = read_log(tmp_path / "log.csv")
    assert (len(log.times), log.columns[1].sum()) == (count, 2.5 * count)
