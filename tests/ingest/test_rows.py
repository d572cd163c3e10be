"""Rows: regular ones and damaged ones, read at once or in pieces."""

from pathlib import Path

import numpy as np
import pytest
from mutate import mutated

from plimsoll.ingest.formats.perfmon import plain, regular
from plimsoll.ingest.formats.perfmon import rows as rows_module
from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind
from tests.cells import cells, samples

LOGS = [path.read_bytes() for path in sorted((Path(__file__).parent / "cases").glob("[!n]*/*/input.*"))]
HEADER = r'"(PDH-CSV 4.0) (UTC)(0)","\\H\System\Threads","\\H\Memory\Available Bytes"'


def reported(path):
    """All there is to a log, or to its refusal."""
    try:
        log = read_log(path)
    except Unusable as error:
        return str(error)
    values = [cells(column) for column in log.columns]
    return log.format, log.times.tolist(), values, log.series, log.remarks


def in_pieces(monkeypatch, path, size):
    """The same, of a file that is too large to be read as one piece."""
    with monkeypatch.context() as patched:
        patched.setattr(plain, "_SMALL", 0)
        patched.setattr(rows_module, "_PIECE", size)
        return reported(path)


@pytest.mark.parametrize("size", [1, 150, 2000])
@pytest.mark.parametrize("part", range(2))
def test_damaged_logs(tmp_path, monkeypatch, part, size):
    path = tmp_path / "log.csv"
    for seed in range(part * 40, part * 40 + 40):
        data = mutated(seed, LOGS[seed % len(LOGS)])
        path.write_bytes(data.replace(b"\r,", b","))  # polars takes a carriage return behind a quote for a blank
        assert in_pieces(monkeypatch, path, size) == reported(path), seed


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
    result = reported(path)
    assert len(result[1]) == (100 if damage in ("no number", "blank") else 99)
    assert in_pieces(monkeypatch, path, 1000) == result


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
    assert samples(read_log(path).columns[1]) == [2]


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
    result = in_pieces(monkeypatch, path, size)
    assert result == reported(path)
    log = read_log(path)
    assert len(log.times) == 598
    assert cells(log.columns[0][122:125]) == [122, None, 124]
    assert [(remark.line, remark.text) for remark in log.remarks] == [
        (458, "the row has 2 cells where the header has 3: left out"),
        (514, '"yesterday" is not a time: the row is left out'),
        (125, '"many" is not a number: no sample'),
    ]


def test_a_log_that_grows_is_read_as_it_was_when_it_was_opened(tmp_path, monkeypatch):
    def counts(*arguments):
        with path.open("a", newline="") as file:
            file.write('"05/21/2024 13:41:09.000","7","8"\n')
        return keep(*arguments)

    path = tmp_path / "log.csv"
    path.write_text(f'{HEADER}\n"05/21/2024 13:41:01.000","1","2"\n', newline="")
    keep = regular._count_bytes
    monkeypatch.setattr(regular, "_count_bytes", counts)
    monkeypatch.setattr(plain, "_SMALL", 0)
    log = read_log(path)
    assert (log.column(0).tolist(), log.remarks) == ([1], ())


def test_cells_are_read_as_python_does_where_polars_does_not(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "\n".join([HEADER, '"01/15/2008 10:00:00.000","5 ","x"', '"01/15/2008 10:00:01.000"," +1.5e+003","1"', ""]),
        newline="",
    )
    assert [cells(column) for column in read_log(path).columns] == [[5, 1500], [None, 1]]


@pytest.mark.parametrize("between", ["run 2", "# a\n\nb\nc\nd", "Fertig.\nGut, das.", "> typeperf -sc 1", "Läuft"])
def test_words_between_recordings_are_no_reason_to_doubt_their_rows(tmp_path, between):
    path = tmp_path / "log.csv"
    log = f'{HEADER}\n"01/15/2008 10:00:00.000","1","3"\n'
    path.write_text(f"{log}{between}\n{log.replace(' 10:', ' 11:')}", encoding="utf-8")
    both = read_log(path)
    assert [cells(column) for column in both.columns] == [[1, 1], [3, 3]]
    lines = [at for at, line in enumerate(between.split("\n"), 3) if line]
    assert sorted(r.line for r in both.remarks if r.line) == [*lines, 3 + between.count("\n") + 1]


def test_of_recordings_over_and_over_only_the_first_are_told(tmp_path):
    path = tmp_path / "log.csv"
    log = f'{HEADER}\n"01/15/2008 10:00:00.000","1","3"\nExiting, please wait...\n'
    path.write_text(log * 500)
    assert len(read_log(path).times) == 500
    assert len(read_log(path).remarks) < 30


def test_a_header_cut_short_does_not_swallow_rows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f'{HEADER[:-1]}\n"01/15/2008 10:00:00.000","1","3"\n')
    log = read_log(path)
    assert len(log.times) == 1
    assert "the header is cut short" in str(log.remarks[0])


def test_millions_of_empty_columns_are_refused_at_once(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b'"(PDH-CSV 4.0) (UTC)(0)"' + b"," * 5_000_000 + b"\n")
    assert "no column of the header is a counter path" in reported(path)


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


@pytest.mark.parametrize("damaged", [50, 51, 80])
@pytest.mark.parametrize("first", [0, 120])
def test_rows_behind_many_damaged_ones_are_read(tmp_path, first, damaged):
    rows = [f'"01/15/2008 {10 + at // 3600}:{at // 60 % 60:02}:{at % 60:02}.000","{at}","{at}.5"' for at in range(300)]
    for at in range(first, first + damaged):
        rows[at] += ',"7"'
    path = tmp_path / "log.csv"
    path.write_text("\r\n".join([HEADER, *rows, ""]), encoding="utf-8", newline="")
    log = read_log(path)
    assert len(log.times) == 300 - damaged
    assert log.column(0)[-1] == 299
    assert sum(remark.count or 1 for remark in log.remarks if remark.kind == Kind.SKIPPED) == damaged
