"""Writes large logs of other formats than Performance Monitor's text: sadf, JMeter CSV and BLG."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bench.big_log import START
from bench.write_blg import (
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
    counter_list,
    log,
    names,
    sample,
    whole_object,
)

_PROCESS, _BUSY, _THREADS, _ID = 230, 6, 680, 784
_NAMES = {1: "9999", _PROCESS: "Process", _BUSY: "% Processor Time", _THREADS: "Thread Count", _ID: "ID Process"}
_COUNTERS = Counter(_BUSY, 0x20510500), Counter(_THREADS, 0x00010000, 4), Counter(_ID, 0x00010000, 4)
_PROCESSES, _CPUS = 100, 32


def write_sadf(path: Path, rows: int) -> None:
    """Write the shares of 32 processors as `sadf -d` writes them."""
    with path.open("w", encoding="ascii") as file:
        file.write("# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n")
        for row in range(rows):
            for cpu in range(-1, _CPUS):
                busy = (row * 7 + cpu) % 90
                start = f"web1;10;{int(START.timestamp()) + 10 * row};{cpu}"
                file.write(f"{start};{busy}.25;0.00;2.50;0.25;0.00;{97 - busy}.00\n")


def write_jtl(path: Path, rows: int) -> None:
    """Write 20 requests a row as JMeter writes them."""
    with path.open("w", encoding="ascii") as file:
        file.write("timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads,Latency\n")
        for at in range(20 * rows):
            elapsed = 50 + at * 7919 % 400
            start = int(START.timestamp() * 1000) + 50 * at
            file.write(f"{start},{elapsed},page {at % 9},200,OK,Users 1-{at % 50},true,1256,50,{elapsed - 1}\n")


def write_blg(path: Path, rows: int) -> None:
    """Write 100 processes as a Data Collector Set writes them."""
    start, ahead = Recorder().started - 300 * 60 * SECOND, 300 * 60 * SECOND
    messages = [Message(NAMES, start - 20, text) for text in names("WEB01", _NAMES)]
    messages.append(Message(COUNTERS, start - 10, counter_list([Entry(0x10, "Process", instance="*")])))
    for row in range(rows):
        at = start + row * 15 * SECOND
        clocks = Clocks(ticks=1_000 + row, utc=at + ahead, object=5_000 + row * 15 * SECOND, object_per_s=SECOND)
        items = [Instance(f"worker{n}", (row * SECOND + n, n % 9, 4 * n)) for n in range(_PROCESSES)]
        messages.append(Message(SAMPLE, at, sample([whole_object(_PROCESS, _COUNTERS, items, clocks)])))
    path.write_bytes(log(messages))


FORMATS: Mapping[str, Callable[[Path, int], None]] = {"sadf": write_sadf, "jtl": write_jtl, "blg": write_blg}
