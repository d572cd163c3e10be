"""Small binary logs, made by the writer of bench/write_blg.py."""

from dataclasses import replace

from write_blg import (
    CATALOGUE,
    COUNTERS,
    NAMES,
    SAMPLE,
    SECOND,
    Clocks,
    Counter,
    Entry,
    Instance,
    Message,
    Recorder,
    catalogue,
    counter_list,
    filetime,
    log,
    names,
    raw_array,
    raw_counter,
    sample,
    whole_object,
)

START = filetime("2024-01-15T10:00:01")  # local, five hours behind UTC
AHEAD = -300 * 60 * SECOND
STEP = 15 * SECOND
PROCESS, ID, BUSY, THREADS = 230, 784, 6, 680
PROCESS_NAMES = {1: "9999", PROCESS: "Process", ID: "ID Process", BUSY: "% Processor Time", THREADS: "Thread Count"}
PROCESS_COUNTERS = (Counter(BUSY, 0x20510500), Counter(THREADS, 0x00010000, 4), Counter(ID, 0x00010000, 4))
SYSTEM = {2: "System", 44: "Processor Queue Length", 146: "Context Switches/sec"}


def messages(entries, named, samples, *, start=START, step=STEP, listed=None):
    """The messages of a recording; `samples` are the blocks of each, or None where one is left out."""
    out = [Message(NAMES, start - 20, text) for text in (names("WEB01", named) if named else [])]
    out.append(Message(COUNTERS, start - 10, counter_list(entries)))
    for at, blocks in enumerate(samples):
        if blocks is not None:
            out.append(Message(SAMPLE, start + at * step, sample(blocks)))
    if listed is not None:
        out.append(Message(CATALOGUE, start + len(samples) * step + 30, catalogue(start, start, listed)))
    return out


def clocks(at, **other):
    """The clocks at a sample: UTC is as late as the computer in `START` says."""
    utc = START + at * STEP - AHEAD
    return Clocks(ticks=1_000 + at * 45_000_000, utc=utc, object=5_000 + at * 2_000_000, object_per_s=SECOND, **other)


def processes(at, *arguments):
    """A block with processes, each of name, processor time in 100 ns, threads and id."""
    rows = [item if isinstance(item, Instance) else Instance(item[0], item[1:]) for item in arguments]
    return whole_object(PROCESS, PROCESS_COUNTERS, rows, clocks(at))


def system(at, switches, queue=3):
    """A block with an object without instances; four-byte counts."""
    return whole_object(2, [Counter(146, 0x10410400, 4), Counter(44, 0x00010000, 4)], [switches, queue], clocks(at))


def whole(recorder=Recorder(), rows=4):  # noqa: B008
    """A recording of whole objects: two objects, one process twice, one that comes and goes."""
    entries = [Entry(0x10, "Process", instance="*"), Entry(0x10, "System")]
    samples = []
    for at in range(rows):
        item = [("Idle", at * 30 * SECOND, 2, 0), ("svchost", at * SECOND, 10 + at, 700), ("svchost", 0, 5, 701)]
        if at in (1, 2):
            item.append(("Backup", 7 * SECOND + at * 3 * SECOND, 1, 44))
        samples.append([processes(at, *item), system(at, 1000 + at * 150)])
    return log(messages(entries, PROCESS_NAMES | SYSTEM, samples, listed=rows), recorder)


TIMER = 0x30020400
QUEUE = 0x00550500
SINGLE = [
    Entry(0, "LogicalDisk", "Avg. Disk sec/Read", "C:", TIMER, 2_000_000),
    Entry(0, "Memory", "Available Bytes", None, 0x00010100, 2_000_000),
    Entry(1, "PhysicalDisk", "Current Load", "*", QUEUE, SECOND),
]


def single(recorder=Recorder(), rows=4, beside=10_000):  # noqa: B008
    """A recording of single counters; every other raw time is a millisecond beside the sample's."""
    samples = []
    for at in range(rows):
        time = START + at * STEP + (at % 2) * beside
        utc = START + at * STEP - AHEAD
        items = [("0 C:", at * 5 * SECOND, utc), ("0 c:", at * 10 * SECOND, utc)]
        samples.append(
            [
                raw_counter(time, 1_000_000 * at, 25 * at),
                raw_counter(time, 1 << 33, 0, status=0xC0000BC6 if at == 2 else 0),
                raw_array(time, items if at else items[:1]),
            ]
        )
    return log(messages(SINGLE, {}, samples), recorder)


XP = replace(Recorder(), pointer=4)
