"""Re-saved logs that are damaged as well."""

import numpy as np
import pytest

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from plimsoll.model.times import format_iso

HEADER = '"(PDH-CSV 4.0) (UTC)(0)";"\\\\H\\System\\Threads";"\\\\H\\System\\Processes"'
ROWS = [f"21.05.2024 13:41:{n};916,302785{n};{n},25" for n in range(10, 40)]


def read(tmp_path, lines, end=b"\r\n"):
    path = tmp_path / "log.csv"
    path.write_bytes("\r\n".join([HEADER, *lines]).encode("latin-1") + end)
    return read_log(path)


@pytest.mark.parametrize(
    "cut", ["2", "21.05.2", "21.05.2024 13:4", "21.05.2024 13:42:00", "21.05.2024 13:42:00;3", '"']
)
def test_a_last_row_cut_short_before_its_first_value_is_told(tmp_path, cut):
    log = read(tmp_path, [*ROWS, cut], b"")
    assert len(log.times) == 30
    rows = [(r.line, r.text) for r in log.remarks if "cut short" in r.text]
    assert rows == [(32, "the last row is cut short before its first value: left out")]


def test_a_last_row_cut_short_behind_a_value(tmp_path):
    log = read(tmp_path, [*ROWS, "21.05.2024 13:42:00;3,5;4"], b"")
    assert log.columns[0][-1] == 3.5
    assert "the last row is cut short: kept its first 2 of 3 cells" in {remark.text for remark in log.remarks}


@pytest.mark.parametrize("at", range(20))
def test_a_zero_byte_costs_its_row(tmp_path, at):
    log = read(tmp_path, [*ROWS[:5], f"{ROWS[5][:at]}\0{ROWS[5][at:]}", *ROWS[6:]])
    assert len(log.times) == 29
    ((line, text),) = [(r.line, r.text) for r in log.remarks if "zero byte" in r.text]
    assert (line, text) == (7, "the row holds zero bytes: left out, as part of another row may follow them")


def test_another_damaged_byte_costs_its_value(tmp_path):
    log = read(tmp_path, [*ROWS[:5], ROWS[5].replace("916,3027", "916,3027\xff"), *ROWS[6:]])
    assert np.isnan(log.columns[0]).sum() == 1
    assert '"916.3027\ufffd8515" is not a number: no sample' in {remark.text for remark in log.remarks}


@pytest.mark.parametrize("number", ["1\xa0234,5", "12\xa0345\xa0678", "916\xa0302,25"])
def test_spaces_between_thousands_are_refused(tmp_path, number):
    with pytest.raises(Unusable, match=r"log.csv:7: .* has its thousands marked"):
        read(tmp_path, [*ROWS[:5], f"21.05.2024 13:41:15;{number};5,25", *ROWS[6:]])


@pytest.mark.parametrize(("commas", "format_"), [(1, "PDH-CSV"), (2, "PDH-resaved")])
def test_one_comma_among_many_whole_numbers_is_damage(tmp_path, commas, format_):
    rows = [f'"01/15/2008 10:{at // 60:02}:{at % 60:02}.000","{at}","7"' for at in range(200)]
    for at in range(commas):
        rows[50 + at] = rows[50 + at].replace('"7"', '"1,5"')
    path = tmp_path / "log.csv"
    header = r'"(PDH-CSV 4.0) (UTC)(0)","\\H\System\Threads","\\H\Memory\Available MBytes"'
    path.write_text("\r\n".join([header, *rows, ""]), newline="")
    log = read_log(path)
    assert log.format == format_
    if commas == 1:
        assert [str(remark) for remark in log.remarks] == [
            f'{path}:52: \\\\H\\Memory\\Available MBytes: "1,5" is not a number: no sample'
        ]


WRITE = "write times as YYYY-MM-DD HH:MM:SS, or export the log again with relog"
CUT = "is no date and time; a spreadsheet may have cut it: export the log again with relog"


@pytest.mark.parametrize(
    ("time", "why"),
    [
        ("00:{}.5", CUT),
        ("10:00:{}", CUT),
        ("{}.01.2008", CUT),
        ("394{}.4323278125", f"is a day's number as a spreadsheet counts: {WRITE}"),
        ("12012745{}", f"counts seconds since 1970: {WRITE}"),
        ("12012745{}123", f"counts milliseconds since 1970: {WRITE}"),
        ("20080125 1000{}", f"is no date and time in a way that is known: {WRITE}"),
        ("25.01.2008 klo 10.00.{}", f"is no date and time in a way that is known: {WRITE}"),
        ("25/01/2008 AM 10:00:{} AM", f"is no date and time in a way that is known: {WRITE}"),
        ("25-Mai-2008 10:00:{}", f"is no date and time in a way that is known: {WRITE}"),
        ("25/01/2008 13:00:{} PM", "is not a time, read day first; export the log again with relog"),
        ("2008-01-25T10:00:{}Z", f"says how far it is from UTC, which the header says: {WRITE}"),
    ],
)
def test_what_is_no_certain_time_is_refused_for_what_it_is(tmp_path, time, why):
    with pytest.raises(Unusable) as refused:
        read(tmp_path, [f"{time.format(n)};1,5;2,25" for n in (15, 30, 45)])
    assert str(refused.value) == f'{tmp_path / "log.csv"}:2: "{time.format(15)}" {why}'


@pytest.mark.parametrize("space", ["\u00a0", "\u2009", "\u202f", "\u3000", "  ", "\t"])
def test_spaces_within_times_may_be_of_any_kind(tmp_path, space):
    path = tmp_path / "log.csv"
    rows = [f'"01/25/2008{space}10:00:{n}{space}PM","1"' for n in (15, 30, 45)]
    path.write_text("\n".join([r'"(PDH-CSV 4.0) (UTC)(0)","\\H\System\Threads"', *rows, ""]), encoding="utf-8")
    assert [format_iso(int(time)) for time in read_log(path).times] == [
        f"2008-01-25T22:00:{n}.000Z" for n in (15, 30, 45)
    ]
