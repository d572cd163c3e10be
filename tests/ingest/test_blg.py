"""What binary logs hold: values by the type of their counter, names, times. The writer packs its own structures."""

import json
from fractions import Fraction

import numpy as np
import pytest
from write_blg import (
    SAMPLE,
    SECOND,
    Counter,
    Entry,
    Instance,
    Message,
    Recorder,
    filetime,
    log,
    raw_array,
    raw_counter,
    whole_object,
)

from plimsoll.ingest.convert.convert import write_csv
from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from plimsoll.model.times import format_iso
from tests.cells import cells
from tests.ingest.blg_logs import (
    AHEAD,
    PROCESS,
    PROCESS_NAMES,
    START,
    STEP,
    SYSTEM,
    clocks,
    messages,
    processes,
    single,
    system,
    whole,
)

BITS = pytest.mark.parametrize("recorder", [Recorder(pointer=4), Recorder(pointer=8)], ids=["32", "64"])


@pytest.fixture
def read(tmp_path):
    """Reads the bytes of a log."""

    def call(data, name="run.blg"):
        (tmp_path / name).write_bytes(data)
        return read_log(tmp_path / name)

    return call


def table(values):
    """Values by path."""
    return {series.path: cells(column) for series, column in zip(values.series, values.columns, strict=True)}


@BITS
@pytest.mark.parametrize("extra", [False, True])
def test_whole_objects(read, recorder, extra):
    content = read(whole(Recorder(pointer=recorder.pointer, more_system_events=extra)))
    assert (content.format, content.hosts, content.zone.name) == ("BLG", ("WEB01",), "UTC-05:00")
    assert [format_iso(int(time)) for time in content.times[:2]] == [
        "2024-01-15T15:00:01.000Z",
        "2024-01-15T15:00:16.000Z",
    ]
    assert table(content) == {
        r"\Process(Idle)\% Processor Time": [None, 200, 200, 200],
        r"\Process(Idle)\Thread Count": [2, 2, 2, 2],
        r"\Process(Idle)\ID Process": [0, 0, 0, 0],
        r"\Process(svchost)\% Processor Time": [None, *[pytest.approx(100 / 15)] * 3],
        r"\Process(svchost)\Thread Count": [10, 11, 12, 13],
        r"\Process(svchost)\ID Process": [700] * 4,
        r"\Process(svchost#1)\% Processor Time": [None, 0, 0, 0],
        r"\Process(svchost#1)\Thread Count": [5] * 4,
        r"\Process(svchost#1)\ID Process": [701] * 4,
        r"\Process(Backup)\% Processor Time": [None, None, 20, None],
        r"\Process(Backup)\Thread Count": [None, 1, 1, None],
        r"\Process(Backup)\ID Process": [None, 44, 44, None],
        r"\System\Context Switches/sec": [None, 10, 10, 10],
        r"\System\Processor Queue Length": [3] * 4,
    }
    assert content.remarks == ()


@BITS
def test_single_counters(read, recorder):
    content = read(single(recorder))
    assert table(content) == {
        r"\LogicalDisk(C:)\Avg. Disk sec/Read": [None, 0.02, 0.02, 0.02],
        r"\Memory\Available Bytes": [1 << 33, 1 << 33, None, 1 << 33],
        r"\PhysicalDisk(0 C:)\Current Load": [None, *[pytest.approx(1 / 3)] * 3],
        r"\PhysicalDisk(0 c:#1)\Current Load": [None, None, *[pytest.approx(2 / 3)] * 2],
    }
    assert [int(time) // 1_000_000 % 1000 for time in content.times] == [0] * 4


# Of each type: first and second value, first and second base, and the value by Microsoft's formula. Ticks go on by
# 45,000,000 at 3,000,000 a second, UTC by 150,000,000, and the object's clock by 2,000,000 at 10,000,000 a second.
TICKS, HNS, OBJECT = 45_000_000, 15 * SECOND, 2_000_000
TYPES = {
    0x00010000: (5, 7, 0, 0, 7),
    0x00010100: (5, -7, 0, 0, -7),
    0x00000000: (5, 7, 0, 0, 7),
    0x00000100: (5, 1 << 40, 0, 0, 1 << 40),
    0x20020400: (5, 7, 10, 28, 25),
    0x20020500: (5, 7, 10, 0, 0),
    0x30240500: (0, -3_000, 0, 0, Fraction(5_000 + OBJECT + 3_000, SECOND)),
    0x10410400: (5, 35, 0, 0, 2),
    0x10410500: (5, 35, 0, 0, 2),
    0x00410400: (5, 35, 0, 0, 2),
    0x20410500: (5, 5 + TICKS // 4, 0, 0, 25),
    0x21410500: (5, 5 + TICKS // 4, 0, 0, 75),
    0x20510500: (5, 5 + HNS // 2, 0, 0, 50),
    0x21510500: (5, 5 + HNS + 9, 0, 0, 0),
    0x20610500: (5, 5 + OBJECT // 5, 0, 0, 20),
    0x20470500: (5, 15, 100, 140, 25),
    0x20570500: (5, 15, 100, 100, None),
    0x20670500: (5, 15, 100, 140, 25),
    0x00450400: (5, 5 + 2 * TICKS, 0, 0, 2),
    0x00450500: (5, 5 + 2 * TICKS, 0, 0, 2),
    0x00550500: (5, 5 + 3 * HNS, 0, 0, 3),
    0x00650500: (5, 5 + 3 * OBJECT, 0, 0, 3),
    0x30020400: (5, 5 + 6_000_000, 10, 18, Fraction(1, 4)),
    0x40020500: (5, 4101, 10, 18, 512),
    0x20C20400: (5, 7, 10, 10, 0),
    0x00400400: (5, 3, 0, 0, 0),
    0x00400500: (5, 13, 0, 0, 8),
    0x22410500: (0, TICKS // 3, 1, 4, 100 * Fraction(1_000_000) / 4),
    0x23410500: (0, 15, 1, 4, 75),
    0x22510500: (0, HNS, 1, 4, 25),
    0x23510500: (0, HNS, 1, 4, 75),
}
BASES = {
    0x20020400: 0x40030403,
    0x20020500: 0x40030503,
    0x20C20400: 0x40030401,
    **dict.fromkeys((0x20470500, 0x20570500, 0x20670500), 0x40030500),
    **dict.fromkeys((0x30020400, 0x40020500), 0x40030402),
    **dict.fromkeys((0x22410500, 0x23410500, 0x22510500, 0x23510500), 0x42030500),
}
DELTAS = [type_ for type_ in TYPES if type_ & 0xFFFF0000 not in (0x00010000, 0, 0x20020000, 0x30240000)]


@pytest.mark.parametrize("type_", TYPES, ids=hex)
def test_every_type_in_a_whole_object(read, type_):
    first, second, base, next_base, value = TYPES[type_]
    counters = [Counter(44, type_), *([Counter(44, BASES[type_])] if type_ in BASES else [])]
    samples = [
        [whole_object(2, counters, values[: len(counters)], clocks(at))]
        for at, values in enumerate([[first, base], [second, next_base]])
    ]
    content = read(log(messages([Entry(0x10, "System")], SYSTEM, samples)))
    (row,) = table(content).values()
    assert row[1] == (value if value is None else pytest.approx(float(value), rel=1e-12))
    assert (row[0] is None) == (type_ in DELTAS)


@pytest.mark.parametrize("type_", TYPES, ids=hex)
def test_every_type_as_a_raw_counter(read, type_):
    first, second, base, next_base, value = TYPES[type_]
    clock = {4: (1_000, TICKS, 3_000_000), 5: (START - AHEAD, HNS, SECOND), 6: (5_000, OBJECT, SECOND)}
    start, step, timebase = clock.get(type_ >> 20 & 7, (0, 0, 3_000_000))
    if type_ == 0x30240500:
        start, step, timebase = clock[6]
    is_several = BASES.get(type_) == 0x42030500
    if type_ in BASES and not is_several:
        start, step, timebase = base, next_base - base, 3_000_000
    samples = [
        [raw_counter(START + at * STEP, number, start + at * step, multi=(base, next_base)[at] if is_several else 1)]
        for at, number in enumerate((first, second))
    ]
    content = read(log(messages([Entry(0, "System", "Some Counter", None, type_, timebase)], {}, samples)))
    (row,) = table(content).values()
    assert row[1] == (value if value is None else pytest.approx(float(value), rel=1e-12))
    assert (row[0] is None) == (type_ in DELTAS)


def test_what_fell_or_stood_still_is_missing(read):
    rows = [(100, 1), (50, 2), (80, 3), (80, 4)]
    samples = [[system(at if at < 3 else 2, item, queue)] for at, (item, queue) in enumerate(rows)]
    content = read(log(messages([Entry(0x10, "System")], SYSTEM, samples, step=STEP)))
    # A count that fell, and a clock that stood still in the last sample.
    assert table(content)[r"\System\Context Switches/sec"] == [None, None, 2, None]
    assert table(content)[r"\System\Processor Queue Length"] == [1, 2, 3, 4]


def test_instances_have_their_parents_and_numbers(read):
    named = PROCESS_NAMES | {232: "Thread", 22: "State"}
    threads = [
        Instance("0", [1], (PROCESS, 1)),
        Instance("0", [2], (PROCESS, 2)),
        Instance("", [3], (PROCESS, 0), 17),
        Instance("_Total", [4]),
    ]
    blocks = [
        whole_object(232, [Counter(22, 0x00010000, 4)], threads, clocks(0)),
        processes(0, ("Idle", 0, 0, 0), ("svchost", 0, 0, 1), ("SvcHost", 0, 0, 2)),
    ]
    entries = [Entry(0x10, "Thread", instance="*"), Entry(0x10, "Process", instance="*")]
    result = table(read(log(messages(entries, named, [blocks]))))
    assert [path for path in result if "Thread(" in path] == [
        r"\Thread(svchost/0)\State",
        r"\Thread(SvcHost/0#1)\State",
        r"\Thread(Idle/17)\State",
        r"\Thread(_Total)\State",
    ]
    with pytest.raises(Unusable, match="record the parents' object, too"):
        read(log(messages(entries[:1], named, [blocks[:1]])))


def test_definitions_that_change_are_read_anew(read):
    def block(at, counters, values):
        return [whole_object(2, counters, values, clocks(at))]

    switches, queue = Counter(146, 0x10410400, 4), Counter(44, 0x00010000, 4)
    samples = [
        block(0, [switches, queue], [0, 5]),
        block(1, [queue, switches], [6, 150]),
        block(2, [switches], [450]),
    ]
    result = table(read(log(messages([Entry(0x10, "System")], SYSTEM, samples))))
    assert result == {
        r"\System\Context Switches/sec": [None, 10, 20],
        r"\System\Processor Queue Length": [5, 6, None],
    }


def test_the_hour_that_repeats_is_told_by_the_utc_of_each_sample(read):
    start = filetime("2024-11-03T01:30:00")
    samples, stamps = [], []
    for at, ahead in enumerate([-240, -240, -240, -300, -300]):
        utc = start + 240 * 60 * SECOND + at * 1200 * SECOND
        stamps.append(utc + ahead * 60 * SECOND)
        item = clocks(at)
        samples.append([whole_object(2, [Counter(44, 0x00010000, 4)], [at], type(item)(item.ticks, utc + 4_000))])
    result = messages([Entry(0x10, "System")], SYSTEM, samples, start=start)
    result = [
        *result[:2],
        *(Message(SAMPLE, stamp, message.content) for stamp, message in zip(stamps, result[2:], strict=True)),
    ]
    content = read(log(result))
    assert np.diff(content.times).tolist() == [1200 * 10**9] * 4
    assert content.zone.name == "UTC-04:00"
    assert table(content) == {r"\System\Processor Queue Length": [0, 1, 2, 3, 4]}
    (remark,) = content.remarks
    assert "the clock changes from UTC-04:00 to UTC-05:00 before sample 4" in str(remark)


def test_without_a_clock_of_utc_the_header_tells_the_offset(read):
    blocks = [[raw_counter(START + at * STEP, at, 0)] for at in range(3)]
    result = messages([Entry(0, "System", "Threads", None, 0x00010000)], {}, blocks)
    for started, zone in (("15:00:00", "UTC-05:00"), ("14:00:00", "UTC-04:00")):
        content = read(log(result, Recorder(started=filetime(f"2024-01-15T{started}"))))
        assert content.zone.name == zone
        assert format_iso(int(content.times[0])) == f"2024-01-15T{int(started[:2]):02}:00:01.000Z"


def test_it_is_the_log_that_its_csv_is(read, tmp_path):
    for result in (whole(rows=9), single(rows=9)):
        content = read(result)
        write_csv(content, tmp_path / "run.csv")
        same = read_log(tmp_path / "run.csv")
        assert same.remarks == ()
        assert [series.key for series in same.series] == [series.key for series in content.series]
        assert [series.path for series in same.series] == [series.path for series in content.series]
        assert same.times.tolist() == content.times.tolist()
        assert (same.zone, same.hosts, same.interval) == (content.zone, content.hosts, content.interval)
        assert [cells(column) for column in same.columns] == [cells(column) for column in content.columns]


def test_types_and_lives_are_shown(plimsoll, tmp_path):
    (tmp_path / "run.blg").write_bytes(whole())
    done = plimsoll("show", tmp_path / "run.blg")
    assert done.status == 0
    assert "% Processor Time (PERF_100NSEC_TIMER)" in done.out
    assert "Backup: 2 of 4 samples, 10:00:16–10:00:31" in " ".join(done.out.split())
    (shown,) = json.loads(plimsoll("show", tmp_path / "run.blg", "--json", "-").out)
    (process, _) = shown["objects"]
    assert process["types"]["ID Process"] == "PERF_COUNTER_RAWCOUNT"
    assert process["lives"]["Backup"] == {
        "samples": 2,
        "start": "2024-01-15T15:00:16.000Z",
        "end": "2024-01-15T15:00:31.000Z",
    }
    assert process["lives"]["Idle"]["samples"] == 4


def test_it_joins_other_logs_of_the_run(plimsoll, read, tmp_path):
    write_csv(read(whole()), tmp_path / "same.csv")
    (tmp_path / "other.blg").write_bytes(single())
    done = plimsoll("review", tmp_path, "--json", tmp_path / "review.json")
    assert done.status == 0
    assert "stand in" in done.err  # the CSV holds the run again
    log_ = json.loads((tmp_path / "review.json").read_text())["log"]
    assert (log_["series"], log_["samples"]) == (32, 12)


def test_text_counters_are_left_out_and_named(read):
    counters = [Counter(44, 0x00000B00, 0), Counter(146, 0x10410400, 4)]
    samples = [[whole_object(2, counters, [0, at * 15], clocks(at))] for at in range(2)]
    content = read(log(messages([Entry(0x10, "System")], SYSTEM, samples)))
    assert table(content) == {r"\System\Context Switches/sec": [None, 1]}
    assert [str(remark).split(": ", 1)[1] for remark in content.remarks] == [
        r"1 counter without numbers: left out: Processor Queue Length"
    ]


def test_an_array_may_be_empty(read):
    samples = [[raw_array(START, [])], [raw_array(START, [("a", 1, 0)])]]
    content = read(log(messages([Entry(1, "Some", "Thing", "*", 0x00010000)], {}, samples)))
    assert table(content) == {r"\Some(a)\Thing": [None, 1]}
