"""Binary logs that are cut, damaged or of a kind that is not read: a log with remarks, or a refusal by name."""

import random
import struct
from dataclasses import replace

import numpy as np
import pytest
from mutate_blg import mutated, outcome
from write_blg import (
    COUNTERS,
    NAMES,
    SAMPLE,
    Clocks,
    Counter,
    Entry,
    Message,
    Recorder,
    counter_list,
    log,
    names,
    raw_array,
    raw_counter,
    sample,
    whole_object,
)

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable
from tests.cells import cells, samples
from tests.ingest.blg_logs import PROCESS_NAMES, START, STEP, SYSTEM, clocks, messages, processes, single, whole

SMALL = Recorder(buffer=4096)
SYSTEMS = [Entry(0x10, "System")]
QUEUE = [Counter(44, 0x00010000, 4)]
FIRST = struct.pack("<II", 1, 2)
THREADS = [Entry(0, "System", "Threads", None, 0x00010000)]


@pytest.fixture
def read(tmp_path):
    """Reads the bytes of a log."""

    def call(data):
        (tmp_path / "run.blg").write_bytes(data)
        return read_log(tmp_path / "run.blg")

    return call


@pytest.fixture
def refused(read, tmp_path):
    """What reading the bytes of a log is refused with."""

    def call(data):
        with pytest.raises(Unusable) as error:
            read(data)
        text = str(error.value)
        assert "\n" not in text
        assert text.startswith(f"{tmp_path / 'run.blg'}: the binary log ")
        assert "relog FILE.blg -f CSV" in text
        return text

    return call


def texts(values):
    return [str(remark).split(": ", 1)[1] for remark in values.remarks]


def changed(data, at, form, value):
    out = bytearray(data)
    struct.pack_into(form, out, at, value)
    return bytes(out)


def test_a_log_that_is_cut_is_read_to_its_last_whole_sample(read, refused):
    data = whole(SMALL, rows=40)
    whole_log = read(data)
    rows = []
    for buffers in range(2, len(data) // 4096):
        for rest in (0, 2000):
            cut = data[: buffers * 4096 + rest]
            if buffers == 2 and not rest:
                refused(data[:4096])
            content = read(cut)
            rows.append(len(content.times))
            counted = buffers + bool(rest) < len(data) // 4096
            assert any("the header counts" in text for text in texts(content)) == counted
            assert any("ends within a buffer" in text for text in texts(content)) == bool(rest)
            for column, all_ in zip(content.columns, whole_log.columns, strict=False):
                assert cells(column) == cells(all_)[: rows[-1]]
    assert rows == sorted(rows)
    assert rows[-1] > rows[0] > 0


def test_a_log_that_is_still_written_says_so(read):
    data = whole(replace(SMALL, ended=0), rows=40)
    content = read(data + bytes(3 * 4096))
    assert len(content.times) == 40
    assert texts(content) == [
        "3 buffers of zero bytes: left out",
        "the log was not closed, or is still being written: read to its last whole sample",
    ]


def test_what_the_recorder_lost_is_told(read):
    assert texts(read(whole(Recorder(events_lost=3, buffers_lost=1)))) == [
        "the recorder lost 3 events: samples may be missing",
        "the recorder lost 1 buffer: samples may be missing",
    ]


def test_a_buffer_that_is_missing_is_told_and_buffers_may_be_in_any_order(read):
    data = whole(SMALL, rows=40)
    buffers = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    swapped = [*buffers[:3], buffers[4], buffers[3], *buffers[5:]]
    ordered, result = read(data), read(b"".join(swapped))
    assert result.times.tolist() == ordered.times.tolist()
    assert [cells(column) for column in result.columns] == [cells(column) for column in ordered.columns]
    lacking = read(b"".join(buffers[:3] + buffers[4:]))
    assert len(lacking.times) < 40
    assert any("1 buffer missing, from number 3 on" in text for text in texts(lacking))
    assert {remark.kind.value for remark in lacking.remarks} == {"skipped"}
    hole = read(b"".join(buffers[:2] + buffers[-2:]))
    assert "cut" in {remark.kind.value for remark in hole.remarks}
    # The rate behind the gap is that of the gap.
    rate = next(c for s, c in zip(lacking.series, lacking.columns, strict=True) if "Switches" in s.path)
    assert np.unique(samples(rate)).tolist() == pytest.approx([10])


def test_a_part_of_a_sample_that_is_missing_is_told(read):
    many = [(f"process{at}", 0, 1, at) for at in range(200)]
    result = messages([Entry(0x10, "Process")], PROCESS_NAMES, [[processes(at, *many)] for at in range(3)])
    data = log(result)
    # The event of the first part of two becomes one of the system's, which are skipped.
    at = next(at for at in range(65536 + 72, len(data), 8) if data[at + 3] == 0xC0 and data[at + 64 : at + 72] == FIRST)
    (size,) = struct.unpack_from("<H", data, at)
    content = read(data[:at] + struct.pack("<HBBH", 2, 2, 0xC0, size) + data[at + 6 :])
    assert texts(content) == ["1 sample of which a part is missing: left out"]
    assert len(content.times) == 2


REFUSED = {
    "circular": (lambda: single(Recorder(mode=0x2)), "is a circular log (LogFileMode 0x2)"),
    "appended": (lambda: single(Recorder(mode=0x4)), "is an appended log"),
    "compressed": (lambda: single(Recorder(mode=0x04000000)), "is a compressed log"),
    "clock": (lambda: single(Recorder(clock=1)), "has times of a clock that is not known (1)"),
    "before Vista": (lambda: changed(single(), 0x36, "<H", 0), "was written before Windows Vista"),
    "twice": (lambda: single() + single(), "holds several logs"),
    "buffer twice": (lambda: single() + single()[65536:], "holds buffer 1 twice"),
    "buffer of another size": (lambda: changed(single(), 65536, "<I", 4096), "has another size than the first"),
    "buffers too small": (lambda: changed(single(), 0, "<I", 512), "its buffers would have 512 bytes"),
    "marker": (lambda: changed(single(), 65536 + 72 + 3, "<B", 0xC1), "is no log of counters but another trace (ETL)"),
    "provider": (lambda: changed(single(), 65536 + 72 + 24, "<B", 1), "is no log of counters but another trace (ETL)"),
    "message": (lambda: changed(single(), 65536 + 72 + 4, "<B", 9), "holds a message of a kind that is not known (9)"),
    "event too long": (lambda: changed(single(), 65536 + 72, "<H", 65535), "is longer than its buffer"),
    "no list": (lambda: log([Message(SAMPLE, START, sample([]))]), "has lost its list of counters"),
    "no sample": (lambda: log(messages(THREADS, {}, [])), "holds no whole sample"),
    "lists": (lambda: log([*messages(THREADS, {}, []), *messages(THREADS, {}, [], start=START + 9)]), "several lists"),
    "list": (lambda: log([Message(COUNTERS, 1, b"\0" * 60)]), "list of counters of a kind that is not known"),
    "list cut": (lambda: log([Message(COUNTERS, 1, counter_list(THREADS)[:80])]), "wrong size"),
    "kind": (lambda: entries(Entry(2, "System", "Threads")), "lists counters of a kind that is not known (0x2)"),
    "part of an object": (lambda: entries(Entry(0x10, "System", "Threads")), "lists a part of an object as a whole"),
    "parent": (lambda: entries(Entry(0, "T", "C", "1", 0, parent="p")), "by its instance's parent or number"),
    "number": (lambda: entries(Entry(0, "T", "C", "1", 0, number=2)), "by its instance's parent or number"),
    "type": (lambda: entries(Entry(0, "O", "C", None, 0x00012000)), r"not known (0x00012000): \\WEB01\O\C"),
    "several": (lambda: entries(Entry(1, "O", "C", "*", 0x22410500)), "several components of all instances"),
    "one time": (lambda: times(0, 0), "holds two samples of one time"),
    "year": (lambda: times(-START), "a year in which nobody recorded"),
    "more blocks": (lambda: blocks(raw_counter(1, 1, 1), raw_counter(1, 1, 1)), "more than the list of counters says"),
    "fewer blocks": (lambda: log(messages(THREADS, {}, [[]])), "holds fewer counters than the list"),
    "other block": (
        lambda: blocks(raw_array(1, [("a", 1, 1)])[:48]),
        r"than its list of counters says: \\WEB01\System",
    ),
    "array": (lambda: arrays(raw_array(START, [("a", 1, 1)], unknown=1)), "array of counters in a form"),
    "array too long": (lambda: arrays(changed(raw_array(1, [("a", 1, 1)]), 12, "<I", 9)), "more counters than fit"),
    "array's name": (lambda: arrays(changed(raw_array(1, [("a", 1, 1)]), 32, "<I", 9999)), "a text has no end"),
    "two names": (lambda: arrays(raw_array(1, [("a", 1, 1), ("a", 1, 1), ("A#1", 1, 1)])), "two instances of one name"),
    "column twice": (
        lambda: log(messages([*THREADS, *THREADS], {}, [[raw_counter(1, 1, 1)] * 2])),
        "holds two columns of one counter",
    ),
    "name missing": (lambda: objects(named={2: "System"}), "does not say what name 44 is"),
    "base missing": (lambda: objects(counters=[Counter(44, 0x30020400)], values=[1]), "a counter without its base"),
    "object's type": (
        lambda: objects(counters=[Counter(44, 0x12000)], values=[1]),
        r"(0x00012000): \\WEB01\System\* Proc",
    ),
    "two objects": (lambda: objects(objects=2), "holds 2 objects in one block"),
    "byte order": (lambda: objects(little_endian=0), "holds no PERF_DATA_BLOCK of version 1"),
    "counter twice": (lambda: objects(counters=QUEUE * 2, values=[1, 1]), "has two counters of one name"),
    "name": (lambda: log([Message(NAMES, 1, b"\0\xd8\0\0"), *messages(THREADS, {}, [])]), "not UTF-16"),
    "name's host": (lambda: log([Message(NAMES, 1, b"a\0\0\0"), *messages(THREADS, {}, [])]), "without their host"),
    "name's number": (
        lambda: log([Message(NAMES, 1, names("H", {2: "a"})[0].replace(b"2", b"x")), *messages(THREADS, {}, [])]),
        "the number of a name is not a number",
    ),
}


def entries(*listed):
    return log(messages(listed, {}, [[raw_counter(START, 1, 1)]]))


def times(*stamps):
    result = messages(THREADS, {}, [])
    return log([*result, *(Message(SAMPLE, START + at, sample([raw_counter(START, 1, 1)])) for at in stamps)])


def blocks(*arguments):
    return log(messages(THREADS, {}, [arguments]))


def arrays(block):
    return log(messages([Entry(1, "Some", "Thing", "*", 0x00010000)], {}, [[block]]))


def objects(named=SYSTEM, counters=QUEUE, values=(1,), **extra):
    at = Clocks(1, clocks(0).utc, extra=extra)
    return log(messages(SYSTEMS, named, [[whole_object(2, counters, list(values), at)]]))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(refused, name):
    make, result = REFUSED[name]
    assert result in refused(make())


def test_many_instances_that_come_and_go_do_not_fill_the_memory(refused):
    listed = [Entry(1, "Some", "Thing", "*", 0x00010000)]
    rows = [[raw_array(START, [(f"{at}-{i}", 1, 1) for i in range(5)])] for at in range(3000)]
    assert "needs over 32 times the bytes of the file" in refused(log(messages(listed, {}, rows)))


def test_lengths_within_an_object_are_checked(tmp_path):
    """Each number in a block of an object is set to large and odd values: the result is a log or a refusal."""
    data = whole(Recorder(buffer=16384), rows=2)
    start = data.index("PERF".encode("utf-16-le"))
    for at in range(start, start + 360, 4):
        for value in (0, 1, 0xFFFFFFFF):
            assert outcome(written(tmp_path, changed(data, at, "<I", value))) in ("refused", "a log")


@pytest.mark.parametrize("part", range(4))
def test_seeded_damage(tmp_path, part):
    logs = [whole(SMALL, rows=30), single(SMALL, rows=30), whole(Recorder(pointer=4, buffer=4096), rows=30)]
    rows = {
        outcome(written(tmp_path, mutated(seed, logs[seed % 3], 4096))) for seed in range(part * 100, part * 100 + 100)
    }
    assert {"refused", "a log with remarks"} <= rows


def written(folder, data):
    (folder / "log.blg").write_bytes(data)
    return folder / "log.blg"


def test_values_do_not_depend_on_the_order_of_instances(read):
    order = random.Random(1)
    result = []
    for at in range(5):
        items = [(name, 100 * at * number, 0) for number, name in enumerate("abcde", 1)]
        order.shuffle(items)
        result.append([raw_array(START, [(name, first, 1 + at * 45_000_000) for name, first, _ in items])])
    content = read(log(messages([Entry(1, "Some", "Thing/sec", "*", 0x10410400, 3_000_000)], {}, result)))
    for series, column in zip(content.series, content.columns, strict=True):
        number = "abcde".index(series.tags[0][1]) + 1
        assert cells(column) == [None, *[pytest.approx(100 * number / 15)] * 4]
    assert np.diff(content.times).tolist() == [STEP * 100] * 4
