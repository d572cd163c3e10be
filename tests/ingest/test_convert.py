"""Converted logs: CSV is read back as the same log, and line protocol has the same values."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.ingest.convert.convert import LogSelection, write_csv, write_line_protocol, write_parquet
from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.times import SECOND, Zone

word = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\\()"), min_size=1
)
word = word.map(str.strip).filter(bool)
paths = st.builds(CounterPath, st.just("WEB01"), word, st.one_of(st.none(), word), word)
zones = st.one_of(
    st.just(Zone.unknown()),
    st.builds(
        lambda name, m: Zone(name, timezone(timedelta(minutes=m))),
        st.sampled_from(["", "Paris, Madrid (été)"]),
        st.integers(-720, 840),
    ),
)


@st.composite
def logs(draw):
    names = draw(st.lists(paths, min_size=1, max_size=5, unique_by=lambda path: str(path).casefold()))
    steps = draw(st.lists(st.integers(1, 50_000), min_size=1, max_size=20))
    times = (1_700_000_000_000 + np.cumsum(np.array(steps, dtype=np.int64))) * 1_000_000
    value = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
    columns = [np.array(draw(st.lists(value, min_size=len(steps), max_size=len(steps))), dtype=float) for _ in names]
    series = tuple(load_shipped().series(path, "WEB01") for path in names)
    return Log(Path("log.csv"), "PDH-CSV", times, tuple(columns), series, draw(zones))


def assert_same(log, other):
    assert log.times.tolist() == other.times.tolist()
    assert [(s.key, s.path) for s in log.series] == [(s.key, s.path) for s in other.series]
    assert log.zone == other.zone
    for a, b in zip(log.columns, other.columns, strict=True):
        assert list(map(repr, a)) == list(map(repr, b))  # which tells -0.0 from 0.0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(log=logs())
def test_csv_is_read_back_to_the_same_log(tmp_path, log):
    assert write_csv(log, tmp_path / "out.csv").remarks == []
    assert_same(read_log(tmp_path / "out.csv"), log)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.sampled_from(
        ["W. Europe Daylight Time", "Egypt Standard Time", "Lord Howe Standard Time", "UTC+02:00", "Europe/Berlin"]
    ),
    minutes=st.sampled_from([60, 120, 180, 630, 660]),
    day=st.sampled_from(["2023-10-27", "2023-10-29", "2023-04-28", "2023-03-26", "2023-04-02", "2023-10-01"]),
    steps=st.lists(st.sampled_from([60, 300, 300, 300, 1800, 3300, 3600, 3900, 7200, 86_400]), min_size=1, max_size=30),
)
def test_instants_are_read_back_from_a_clock_that_may_change(tmp_path, name, minutes, day, steps):
    start = np.datetime64(day, "ns").astype(np.int64) - 24 * 3600 * SECOND
    times = start + np.cumsum(np.array(steps, dtype=np.int64)) * SECOND
    log = replace(
        a_log(),
        times=times,
        columns=(np.array(range(len(times)), dtype=float),),
        series=a_log().series[:1],
        zone=Zone.parse(name) if "/" in name else Zone(name, timezone(timedelta(minutes=minutes))),
    )
    write_csv(log, tmp_path / "out.csv")
    assert read_log(tmp_path / "out.csv").times.tolist() == times.tolist()


def test_a_clock_that_would_be_changed_is_written_by_its_offset(tmp_path):
    hours = np.array([18, 19, 20, 30, 31, 32], dtype=np.int64) * 3600 * SECOND
    times = np.datetime64("2023-04-27", "ns").astype(np.int64) + hours
    log = replace(
        a_log(),
        times=times,
        columns=(np.full(6, 1.0),),
        series=a_log().series[:1],
        zone=Zone("Egypt Standard Time", timezone(timedelta(hours=2))),
    )
    (remark,) = write_csv(log, tmp_path / "out.csv").remarks
    assert remark.text.startswith("the zone is written as UTC+02:00")
    again = read_log(tmp_path / "out.csv")
    assert (again.times.tolist(), again.zone.name, again.remarks) == (times.tolist(), "UTC+02:00", ())


def test_real_logs_are_read_back_to_the_same(tmp_path, real_logs):
    for path in sorted(real_logs.glob("*.[ct]*")):
        log = read_log(path)
        write_csv(log, tmp_path / "out.csv")
        assert_same(read_log(tmp_path / "out.csv"), log)


def a_log():
    names = [
        r"Processor(0)\% Processor Time",
        r"Processor(1)\% Processor Time",
        r"Processor(0)\% User Time",
        r"LogicalDisk(C:\)\Free Megabytes",
    ]
    series = tuple(load_shipped().series(CounterPath.parse(rf"\\WEB 01\{name}"), "WEB 01") for name in names)
    columns = ([1.5, None, 3.0], [None, None, 8.57e-5], [0.1 + 0.2, None, 1e21], [7.0, 8.0, 9.0])
    times = np.array([0, 10, 20], dtype=np.int64) * SECOND
    return Log(
        Path("log.csv"),
        "PDH-CSV",
        times,
        tuple(np.array(column, dtype=float) for column in columns),
        series,
        Zone.parse("UTC"),
    )


def test_line_protocol_is_what_telegraf_would_have_written(tmp_path):
    write_line_protocol(a_log(), tmp_path / "out.lp")
    cpu = r"win_cpu,host=WEB\ 01,instance={},objectname=Processor,source=WEB\ 01 "
    disk = r"win_disk,host=WEB\ 01,instance=C:,objectname=LogicalDisk,source=WEB\ 01 "
    assert (tmp_path / "out.lp").read_text().splitlines() == [
        cpu.format(0) + "Percent_Processor_Time=1.5,Percent_User_Time=0.30000000000000004 0",
        cpu.format(0) + "Percent_Processor_Time=3.0,Percent_User_Time=1e+21 20000000000",
        cpu.format(1) + "Percent_Processor_Time=0.0000857 20000000000",
        disk + "Free_Megabytes=7.0 0",
        disk + "Free_Megabytes=8.0 10000000000",
        disk + "Free_Megabytes=9.0 20000000000",
    ]


def test_parquet_is_wide(tmp_path):
    write_parquet(a_log(), tmp_path / "out.parquet")
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.columns[:2] == ["time", r"\\WEB 01\Processor(0)\% Processor Time"]
    assert frame.to_series(1).to_list() == [1.5, None, 3.0]
    assert frame.schema["time"] == pl.Datetime("ns", "UTC")


def test_parquet_is_the_same_to_every_reader(tmp_path):
    """It has no NaN, which readers treat differently, and times to the nanosecond."""
    log = a_log()
    odd = log.times + np.array([1, 123_456_789, 999_999_999])
    columns = (pl.Series([1.5, float("nan"), None]), *log.columns[1:])
    write_parquet(replace(log, times=odd, columns=columns), out := tmp_path / "out.parquet")
    name = [*pl.read_parquet_schema(out)][1]
    arrow = pyarrow.parquet.read_table(out)
    assert (arrow["time"].cast("int64").to_pylist(), arrow[name].to_pylist()) == (odd.tolist(), [1.5, None, None])
    frame = pl.read_parquet(out)
    assert (frame["time"].dt.epoch("ns").to_list(), frame[name].to_list()) == (odd.tolist(), [1.5, None, None])
    rows = duckdb.execute(f"""SELECT epoch_ns(time), "{name}" FROM '{out}'""").fetchall()
    assert rows == [*zip(odd.tolist(), [1.5, None, None], strict=True)]


def test_counters_that_are_not_perfmons_have_a_name_in_parquet(tmp_path):
    log = read_log(SADF)
    write_parquet(log, tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").columns[1] == rf"\\{log.hosts[0]}\{log.series[0].path}"


def test_no_two_columns_of_parquet_have_the_same_name(tmp_path):
    names = [r"P(a)\C", r"P(A)\C", r"P(a)\C [2]", r"P(a)\C"]
    series = tuple(load_shipped().series(CounterPath.parse(rf"\\H\{name}"), "H") for name in names)
    log = Log(Path("log.csv"), "PDH-CSV", np.array([0]), (np.array([1.0]),) * 4, series, Zone.parse("UTC"))
    (remark,) = write_parquet(log, tmp_path / "out.parquet").remarks
    assert str(remark).endswith(r"\\H\P(a)\C: 3 columns of the same counter: numbered")
    assert pl.read_parquet(tmp_path / "out.parquet").columns[1:] == [
        r"\\H\P(a)\C",
        r"\\H\P(A)\C [2]",
        r"\\H\P(a)\C [2] [2]",
        r"\\H\P(a)\C [3]",
    ]


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ((r"Processor(*)\% Processor Time",), 2),
        ((r"\processor(0)\*",), 2),
        ((r"\\web 01\*",), 4),
        ((r"\\other\*",), 0),
        ((r"*megabytes", r"Processor(1)\*"), 2),
    ],
)
def test_counters_are_chosen_by_their_path(patterns, kept):
    if kept:
        assert len(LogSelection(patterns).of(a_log()).series) == kept
    else:
        with pytest.raises(Unusable, match="no counter matches"):
            LogSelection(patterns).of(a_log())


def test_rows_are_chosen_by_time_and_number():
    part = LogSelection(start=10 * SECOND).of(a_log())
    assert part.times.tolist() == [10 * SECOND, 20 * SECOND]
    part = LogSelection(nth_row=2).of(a_log())
    assert (part.times.tolist(), part.columns[0].tolist()) == ([0, 20 * SECOND], [1.5, 3.0])
    assert LogSelection(nth_row=10**30).of(a_log()).times.tolist() == [0]
    with pytest.raises(Unusable) as refused:
        LogSelection(start=100 * SECOND, end=2**70).of(a_log())
    span = "it reaches from 1970-01-01 00:00:00 to 1970-01-01 00:00:20 (UTC); choose times in between"
    assert str(refused.value) == f"log.csv: has no rows from 1970-01-01 00:01:40 to 2201-01-01 00:00:00: {span}"
    with pytest.raises(Unusable, match="has no rows from 2150-01-01 00:00:00: "):
        LogSelection(start=int(np.datetime64("2150-01-01", "ns").astype(np.int64))).of(a_log())
    assert math.isclose(a_log().columns[0][0], 1.5)


SADF = Path(__file__).parent / "cases" / "sadf" / "epoch" / "input.csv"


@pytest.mark.parametrize("pattern", ["*", "sadf *", r"\\*\sadf *"])
def test_counters_that_are_not_perfmons_are_chosen_too(pattern):
    log = read_log(SADF)
    assert len(LogSelection((pattern,)).of(log).series) == len(log.series)


def test_a_time_finer_than_milliseconds_is_told(tmp_path):
    log = a_log()
    log.times[1] += 5
    (remark,) = write_csv(log, tmp_path / "out.csv").remarks
    assert "1 time cut to milliseconds" in str(remark)


def test_columns_of_the_same_counter_are_one_field(tmp_path):
    twin = CounterPath.parse(r"\\H\System\Threads")
    series = tuple(load_shipped().series(twin, "H") for _ in range(2))
    columns = (np.array([np.nan, 2.0]), np.array([1.0, 3.0]))
    log = Log(Path("log.csv"), "PDH-CSV", np.array([0, SECOND]), columns, series, Zone.parse("UTC"))
    write_line_protocol(log, tmp_path / "out.lp")
    values = [line.split(" ")[1] for line in (tmp_path / "out.lp").read_text().splitlines()]
    assert values == ["Threads=1.0", "Threads=2.0"]


def a_csv(path, names, *rows):
    """A PDH-CSV log whose rows are a second of 10:00 and its cells."""
    header = ",".join(f'"{name}"' for name in ("(PDH-CSV 4.0) (UTC)(0)", *names))
    lines = [
        ",".join([f'"01/15/2008 10:00:{second:02}.000"', *(f'"{cell}"' for cell in cells)]) for second, *cells in rows
    ]
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_log(path)


def points(path):
    """The series, the field and the second of 10:00 of each point, with its value."""
    result = {}
    for line in path.read_text().splitlines():
        head, fields, time = line.replace("\\ ", "_").split(" ")
        for field in fields.split(","):
            name, value = field.split("=")
            where = (head, name, int(time) // SECOND % 60)
            assert where not in result
            result[where] = float(value)
    return result


def test_rows_of_one_time_are_one_point_in_line_protocol(tmp_path):
    names = [r"\\S\Memory\Pages/sec", r"\\S\Memory\Available Bytes"]
    log = a_csv(tmp_path / "log.csv", names, (0, 1, 10), (15, 2, " "), (15, 3, 30), (30, 4, 40))
    write_line_protocol(log, tmp_path / "out.lp")
    result = {(field, second): value for (_, field, second), value in points(tmp_path / "out.lp").items()}
    assert result == {
        ("Pages_persec", 0): 1.0,
        ("Pages_persec", 15): 2.0,
        ("Pages_persec", 30): 4.0,
        ("Available_Bytes", 0): 10.0,
        ("Available_Bytes", 15): 30.0,
        ("Available_Bytes", 30): 40.0,
    }


def test_counters_that_differ_in_case_are_one_series_in_line_protocol(tmp_path):
    names = [r"\\S\Process(chrome)\Handle Count", r"\\s\Process(Chrome)\Handle Count"]
    log = a_csv(tmp_path / "log.csv", names, (0, 1, 9), (15, " ", 2), (30, " ", " "), (45, 4, " "))
    assert write_line_protocol(log, tmp_path / "out.lp").remarks == []
    (head,) = {head for head, _, _ in points(tmp_path / "out.lp")}
    assert ",host=S,instance=chrome," in head
    assert {second: value for (_, _, second), value in points(tmp_path / "out.lp").items()} == {0: 1, 15: 2, 45: 4}


@pytest.mark.parametrize(
    ("item", "other"), [("C:", "C:\\"), ("C:\\", "C:"), ("C:", "c:\\"), ("C:\\", "C:\\\\"), ("(\\)", "\\")]
)
def test_counters_that_line_protocol_cannot_tell_apart_are_not_mixed(tmp_path, item, other):
    names = [rf"\\S\LogicalDisk({instance})\% Free Space" for instance in (item, other)]
    log = a_csv(tmp_path / "log.csv", names, (0, 1, 9), (15, " ", 8))
    (remark,) = write_line_protocol(log, tmp_path / "out.lp").remarks
    assert (remark.counter, remark.kind) == (names[1], "skipped")
    assert names[0] in remark.text
    assert list(points(tmp_path / "out.lp").values()) == [1.0]
    assert write_line_protocol(LogSelection((names[1],)).of(log), tmp_path / "out.lp").remarks == []
    assert list(points(tmp_path / "out.lp").values()) == [9.0, 8.0]


def test_an_instance_that_is_a_backslash_is_one_in_line_protocol(tmp_path):
    names = [r"\\S\LogicalDisk(\)\% Free Space", r"\\S\LogicalDisk\% Free Space"]
    log = a_csv(tmp_path / "log.csv", names, (0, 1, 2))
    assert write_line_protocol(log, tmp_path / "out.lp").remarks == []
    assert sorted(
        (r",instance=(\)," in head, value) for (head, _, _), value in points(tmp_path / "out.lp").items()
    ) == [
        (False, 2.0),
        (True, 1.0),
    ]


def test_line_protocol_without_a_point_is_told(tmp_path):
    log = a_csv(tmp_path / "log.csv", [r"\\S\Memory\Pages/sec"], (0, " "), (15, " "))
    size, (remark,) = write_line_protocol(log, tmp_path / "out.lp")
    assert size == "0 points"
    assert "no values" in remark.text
    assert (tmp_path / "out.lp").read_bytes() == b""


WRITERS = pytest.mark.parametrize("write", [write_csv, write_parquet, write_line_protocol])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@WRITERS
def test_a_name_need_not_be_unicode(tmp_path, write):
    out = tmp_path / os.fsdecode(b"o\xff.out")
    write(a_log(), out)
    assert out.stat().st_size > 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a device")
@WRITERS
def test_a_full_disk_is_told_in_the_same_words(tmp_path, write):
    """Whether the full disk is reached directly or through a link."""
    (tmp_path / "link").symlink_to("/dev/full")
    for out in (Path("/dev/full"), tmp_path / "link"):
        with pytest.raises(Unusable) as refused:
            write(a_log(), out)
        assert str(refused.value) == f"{out}: cannot be written: No space left on device"


@pytest.mark.parametrize(("target", "linked"), [("csv", False), ("csv", True), ("parquet", False), ("lp", True)])
def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path, target, linked):
    resource = pytest.importorskip("resource", reason="Windows has no limit on the size of files")
    log, kept, out = tmp_path / "log.csv", tmp_path / "kept", tmp_path / "out"
    a_csv(log, [r"\\S\Memory\Pages/sec"], *((at % 60, at / 7) for at in range(2000)))
    kept.write_text("before")
    out.symlink_to(kept) if linked else kept.rename(out)
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "convert", log, "--as", target, "--out", out],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, f"plimsoll: {out}: cannot be written: File too large\n")
    assert (out.read_text(), out.is_symlink()) == ("before", linked)
    assert set(tmp_path.iterdir()) == {log, out, *([kept] if linked else [])}
