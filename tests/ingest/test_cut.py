"""A log that is cut anywhere yields no value that was not recorded."""

from pathlib import Path

import pytest

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from tests.cells import cells, samples

ROWS = [("01/15/2008 10:00:00.000", "4096", "8.57e-005"), ("01/15/2008 10:00:05.000", "123.456", "17.5")]
PATHS = (r"\\H\Memory\Available Bytes", r"\\H\PhysicalDisk(_Total)\Avg. Disk sec/Read")
WRITTEN = {4096.0, 8.57e-005, 123.456, 17.5}


def quoted(cells, separator):
    return separator.join(f'"{cell}"' for cell in cells)


def bare(cells, separator):
    return separator.join(cells)


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
@pytest.mark.parametrize(("sign", "separator"), [("(PDH-CSV 4.0) (UTC)(0)", ","), ("(PDH-TSV 4.0) (UTC)(0)", "\t")])
@pytest.mark.parametrize("style", [quoted, bare])
def test_cut_at_every_byte(tmp_path, style, sign, separator, line_end):
    path = tmp_path / "log.csv"
    lines = [style(cells, separator) for cells in ((sign, *PATHS), *ROWS)]
    whole = (line_end.join(lines) + line_end).encode()
    first_row = len((lines[0] + line_end).encode())
    for end in range(first_row, len(whole)):
        path.write_bytes(whole[:end])
        try:
            log = read_log(path)
        except Unusable:
            continue
        columns = {value for column in log.columns for value in samples(column)}
        assert columns <= WRITTEN, whole[:end]


@pytest.mark.parametrize("end", ['"', '",', '","', '","1'])
def test_a_last_row_is_kept_up_to_its_last_whole_cell(tmp_path, end):
    path = tmp_path / "log.csv"
    lines = [quoted(cells, ",") for cells in (("(PDH-CSV 4.0) (UTC)(0)", *PATHS), *ROWS)]
    path.write_text("\n".join(lines).removesuffix(f'","{ROWS[-1][-1]}"') + end)
    log = read_log(path)
    assert [cells(column) for column in log.columns] == [[4096, 123.456], [8.57e-005, None]]
    (result,) = (remark.text for remark in log.remarks)
    assert result == "the last row is cut short: kept its first 2 of 3 cells"


def test_semicolons_and_decimal_commas_cut_at_every_byte(tmp_path):
    path = tmp_path / "log.csv"
    header = ";".join(("(PDH-CSV 4.0) (UTC)(0)", *PATHS)) + "\r\n"
    rows = "".join(f"{t.replace('/', '.')};{a.replace('.', ',')};{b.replace('.', ',')}\r\n" for t, a, b in ROWS)
    rows = rows.replace("01.15.2008", "15.01.2008")
    for end in range(len(header), len(header + rows)):
        path.write_text((header + rows)[:end])
        try:
            log = read_log(path)
        except Unusable:
            continue
        assert {value for column in log.columns for value in samples(column)} <= WRITTEN, rows[:end]


@pytest.mark.parametrize("year", ["1601", "0001", "9999"])
def test_years_no_recorder_is_of(tmp_path, year):
    path = tmp_path / "log.csv"
    rows = [(f"01/15/{year} 10:00:00.000", "1", "2"), *ROWS]
    path.write_text("\n".join(quoted(cells, ",") for cells in (("(PDH-CSV 4.0) (UTC)(0)", *PATHS), *rows)) + "\n")
    log = read_log(path)
    assert len(log.times) == 2
    assert f'"01/15/{year} 10:00:00.000" is not a time: the row is left out' in [r.text for r in log.remarks]


def test_line_ends_of_old_macintoshes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("\r".join(quoted(cells, ",") for cells in (("(PDH-CSV 4.0) (UTC)(0)", *PATHS), *ROWS)) + "\r")
    assert len(read_log(path).times) == 2


SADF = Path(__file__).parent / "cases" / "sadf"


@pytest.mark.parametrize("case", ["epoch", "decimal_commas", "restarts_and_comments", "interrupts_per_processor"])
def test_sadf_cut_anywhere(tmp_path, case):
    path = tmp_path / "log.csv"
    data = (SADF / case / "input.csv").read_bytes()
    path.write_bytes(data)
    whole = {series: set(samples(column)) for series, column in zip(*series_of(path), strict=True)}
    for end in range(0, len(data), 1 if len(data) < 300 else 9):  # in each row in many cells
        path.write_bytes(data[:end])
        try:
            result = series_of(path)
        except Unusable:
            continue
        for series, column in zip(*result, strict=True):
            assert set(samples(column)) <= whole[series], data[:end]


def series_of(path):
    log = read_log(path)
    return log.series, log.columns


def test_utf16_cut_at_every_byte(tmp_path):
    path = tmp_path / "log.csv"
    text = "\n".join(quoted(cells, ",") for cells in (("(PDH-CSV 4.0) (UTC)(0)", *PATHS), *ROWS)) + "\n"
    data = text.encode("utf-16")
    for end in range(2 + 2 * text.index("\n"), len(data)):
        path.write_bytes(data[:end])
        log = read_log(path)
        assert {value for column in log.columns for value in samples(column)} <= WRITTEN, data[:end]
        assert any("within a character of UTF-16" in remark.text for remark in log.remarks) == bool(end % 2)
