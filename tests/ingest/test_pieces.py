"""A log comes to the same whether it is read whole or in pieces, whatever their size."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from mutate import mutated

from ingest.formats.perfmon import at_once, by_line, pieces, table
from ingest.read import read_log
from model.errors import Unusable

LOGS = [path.read_bytes() for path in sorted((Path(__file__).parent / "cases").glob("[!n]*/*/input.*"))]
HEADER = r'"(PDH-CSV 4.0) (UTC)(0)","\\H\System\Threads","\\H\Memory\Available Bytes"'


def told(path):
    """All there is to a log, or to its refusal."""
    try:
        log = read_log(path)
    except Unusable as error:
        return str(error)
    values = [column.to_list() for column in log.columns]
    return log.format, log.times.tolist(), values, log.series, log.remarks


def in_pieces(monkeypatch, path, size):
    """The same, of a file that is too large to be read whole."""
    with monkeypatch.context() as patched:
        patched.setattr(table, "WHOLE", 0)
        patched.setattr(pieces, "PIECE", size)
        return told(path)


@pytest.mark.parametrize("size", [1, 150, 2000])
@pytest.mark.parametrize("part", range(2))
def test_damaged_logs(tmp_path, monkeypatch, part, size):
    path = tmp_path / "log.csv"
    for seed in range(part * 80, part * 80 + 80):
        path.write_bytes(mutated(seed, LOGS[seed % len(LOGS)]))
        assert in_pieces(monkeypatch, path, size) == told(path), seed


@pytest.mark.parametrize("row", [1, 2, 40, 99])
@pytest.mark.parametrize("damage", ["open quote", "no number", "blank", "cut", "too long", "no time", "broken"])
def test_rows_before_and_behind_the_damage(tmp_path, monkeypatch, row, damage):
    rows = [f'"01/15/2008 10:{at // 60:02}:{at % 60:02}.000","{at}","{at}.5"' for at in range(100)]
    rows[0] = '"01/15/2008 10:00:00.000"," ","0.5"'
    told_of = rows[row]
    rows[row] = {
        "open quote": told_of.replace('"', "", 1),
        "no number": told_of.replace('.5"', '.x"'),
        "blank": f'{told_of[:25]}," "," "',
        "cut": told_of.rpartition(",")[0],
        "too long": f'{told_of},"7"',
        "no time": told_of.replace("10:", "ten"),
        "broken": told_of.replace(",", "\r\n,", 1),
    }[damage]
    path = tmp_path / "log.csv"
    path.write_text("\r\n".join([HEADER, *rows, ""]), newline="")
    found = told(path)
    assert len(found[1]) == (100 if damage in ("no number", "blank") else 99)
    assert in_pieces(monkeypatch, path, 1000) == found


SPLIT = {
    "time": ('"05/21/2024', '13:41:02.000","3","4"'),
    "time of two days": ('"05/20/2024 ', '00:00:01.000","3","4"'),
    "number": ('"05/21/2024 13:41:02.000","3', '","4"'),
    "last number": ('"05/21/2024 13:41:02.000","3","', '4"'),
    "last blank": ('"05/21/2024 13:41:02.000","3"," ', '28"'),
}


@pytest.mark.parametrize("split", SPLIT)
def test_what_a_quote_encloses_over_two_lines_is_no_cell(tmp_path, split):
    row = '"05/21/2024 13:41:0{0}.000","{0}","{1}"'.format
    lines = [HEADER, row(1, 0.5), *SPLIT[split], row(3, 3.5), row(4, "x"), row(5, 5.5), ""]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines), newline="")
    log = read_log(path)
    assert log.column(0)[-3:].tolist() == [3, 4, 5]
    assert set(log.column(0)[:-3]) <= {1, 3}
    assert np.nansum(log.column(1)) == 9.5
    assert {3, 4, 6} <= {remark.line for remark in log.remarks}


@pytest.mark.parametrize("last", ['"89"81"', '"89""', '"1"e5"', '""89"', '"89'])
def test_a_quote_within_the_last_cell(tmp_path, last):
    path = tmp_path / "log.csv"
    path.write_text(f'{HEADER}\n"05/21/2024 13:41:01.000","1","2"\n"05/21/2024 13:41:02.000","3",{last}', newline="")
    assert told(path)[2][1] == [2, None]


def test_a_time_has_no_more_digits_than_nanoseconds(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["05/21/2024 13:41:01.000,1,2", "05/21/2024 13:41:02.085502237371,4", "05/21/2024 13:41:03.000,5,6"]
    rows[1] += ",5"  # a separator was lost, and the row's last cell is another's
    path.write_text("\n".join([HEADER.replace('"', ""), *rows, ""]), newline="")
    log = read_log(path)
    assert log.column(0).tolist() == [1, 5]
    assert [remark.line for remark in log.remarks] == [3]


@pytest.mark.parametrize("size", [1, 500, 10_000])
@pytest.mark.parametrize("style", ["quoted", "bare"])
def test_lines_keep_their_numbers(tmp_path, monkeypatch, style, size):
    rows = [f'"01/15/2008 10:{at // 60:02}:{at % 60:02}.000","{at}"," "' for at in range(600)]
    rows[123] = rows[123].replace('"123"', '"many"')
    rows[456] = rows[456].rpartition(",")[0]
    rows[512] = '"yesterday","1","2"'
    text = "\r\n".join([HEADER, *rows, "", ""])
    path = tmp_path / "log.csv"
    path.write_text(text if style == "quoted" else text.replace('"', ""), newline="")
    found = in_pieces(monkeypatch, path, size)
    assert found == told(path)
    log = read_log(path)
    assert len(log.times) == 598
    assert log.columns[0].to_list()[122:125] == [122, None, 124]
    assert [(remark.line, remark.text) for remark in log.remarks] == [
        (458, "the row has 2 cells where the header has 3: left out"),
        (514, '"yesterday" is not a time: the row is left out'),
        (125, '"many" is not a number: no sample'),
    ]


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_pieces_hold_all_lines(tmp_path, size, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", size)
    data = b"header\n" + b"".join(b"%d,%s\n" % (at, b"x" * (at % 13)) for at in range(50)) + b"last\r\n \n\n"
    path = tmp_path / "log.csv"
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        found = list(pieces.pieces(mapped, 7, ","))
    assert b"".join(piece.data for piece in found) == data[7:-3]
    assert [piece.last for piece in found] == [False] * (len(found) - 1) + [True]
    assert sum(piece.lines for piece in found) == 51


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_bytes_of_a_file_are_counted_as_those_in_memory(tmp_path, monkeypatch, block):
    monkeypatch.setattr(pieces, "_COUNTED", block)
    data = b'"1",\r\n' * 50 + b"end"
    path = tmp_path / "log.csv"
    path.write_bytes(data)
    for at_least in (100, 1000):
        monkeypatch.setattr(pieces, "_WORTH_A_THREAD", at_least)
        for start, stop in ((0, len(data)), (3, 250), (299, 300)):
            wanted = [data[start:stop].count(byte) for byte in (b'"', b"\r", b"d")]
            assert pieces.counts(path, b'"\rd', start, stop) == wanted
            assert pieces.counts(data, b'"\rd', start, stop) == wanted


def test_a_log_that_grows_is_read_as_it_was_when_it_was_opened(tmp_path, monkeypatch):
    def counts(*given):
        with path.open("a", newline="") as file:
            file.write('"05/21/2024 13:41:09.000","7","8"\n')
        return pieces.counts(*given)

    path = tmp_path / "log.csv"
    path.write_text(f'{HEADER}\n"05/21/2024 13:41:01.000","1","2"\n', newline="")
    monkeypatch.setattr(at_once, "counts", counts)
    log = read_log(path)
    assert (log.column(0).tolist(), log.remarks) == ([1], ())


def test_blanks_are_found_where_blocks_meet(monkeypatch):
    data = b'"t"' + b'," ","1"' * 40 + b"\n"
    wanted = [at for at in range(len(data)) if data.startswith(b'," "', at)]
    for block in (1, 2, 3, 5, 64):
        monkeypatch.setattr(pieces, "_BLOCK", block)
        assert pieces.Piece(data, ",").blanks().tolist() == wanted


@pytest.mark.parametrize(
    "rows",
    [
        [
            '"01/15/2008 10:00:00.000","1"," "',
            '"01/15/2008 10:00:05.000"," "5,"6"',
            '"01/15/2008 10:00:10.000"," ","2"',
        ],
        [" ,1, ", "01/15/2008 10:00:05.000,5 ,6", "01/15/2008 10:00:10.000,7,8"],
    ],
    ids=["a blank that goes on", "a blank for a time"],
)
def test_no_blank_hides_a_cell_that_polars_does_not_read(tmp_path, monkeypatch, rows):
    path = tmp_path / "log.csv"
    path.write_text("\r\n".join([HEADER, *rows, ""]), newline="")
    found = told(path)
    assert 5 in read_log(path).columns[0].to_list()
    monkeypatch.setattr(by_line, "_FEW", 0)
    monkeypatch.setattr(by_line, "_SMALL", 0)
    assert told(path) == found


def test_millions_of_empty_columns_are_refused_at_once(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b'"(PDH-CSV 4.0) (UTC)(0)"' + b"," * 5_000_000 + b"\n")
    assert "no column of the header is a counter path" in told(path)


def test_many_columns_that_are_no_counters_are_told_in_few_words(tmp_path):
    path = tmp_path / "log.csv"
    cells = ["01/15/2008 10:00:00.000", "1", *["2"] * 100]
    path.write_text(
        ",".join([r"(PDH-CSV 4.0) (UTC)(0),\\H\System\Threads", *["x"] * 100]) + "\n" + ",".join(cells) + "\n"
    )
    log = read_log(path)
    assert np.array_equal(log.column(0), [1.0])
    assert str(log.remarks[-1]).endswith("80 more columns like these: left out")
    assert len(log.remarks) == 21
