"""A Telegraf whose plugins are configured as `telegraf config` prints them is enough: no option of ours is needed."""

import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.model.log import Log
from plimsoll.model.run import Run
from plimsoll.model.times import Zone
from plimsoll.review.findings import Outcome, Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.signal_finder import Finder

PLUGINS = ("cpu", "mem", "disk", "diskio", "net", "system", "kernel", "processes", "swap")
# sysstat files these under measurements of Telegraf's; or an older linux.conf put them together.
NOT_OF_PLUGINS = {"pswpin_per_s", "pswpout_per_s", "transfers", "r_await", "w_await", "bytes_total"}
# Where no request is made, no packet is sent, or an adapter does not know its speed, there is nothing to judge.
MAY_LACK = {
    *("disk.read_latency", "disk.write_latency"),
    *(
        f"network.{way}_{text}"
        for way in ("received", "sent")
        for text in ("utilization", "error_share", "discard_share")
    ),
}
SIGNALS = load_signals()


def is_derivable(signal, names):
    """Whether these signals give a derived one: all of its operands, or any if parts of them will do."""
    operands = {*signal.derived.operands}
    return bool(operands & names) if signal.derived.partial else operands <= names


def fed():
    """The signals that these plugins can feed, by the measurements of their sources."""
    names = {
        name
        for name, signal in SIGNALS.items()
        for source in signal.sources
        if source.measurement in PLUGINS and source.instance != "device" and not NOT_OF_PLUGINS & {*source.fields}
    }
    while (
        result := {name for name, signal in SIGNALS.items() if signal.derived and is_derivable(signal, names)} - names
    ):
        names |= result
    return names


@pytest.fixture
def defaults(telegraf, tmp_path):
    """What `telegraf config` prints for these plugins, each as it is, and nothing else."""
    command = [str(telegraf), "config", "--section-filter", "inputs", "--input-filter", ":".join(PLUGINS)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert all(f"\n[[inputs.{name}]]\n" in printed for name in PLUGINS)
    written = tmp_path / "defaults.conf"
    written.write_text(printed)
    return written


@pytest.fixture
def requests(tmp_path):
    """Keeps the disk at work, past its cache."""
    stop = threading.Event()

    def work():
        path = tmp_path / "written"
        while not stop.is_set():
            with path.open("wb") as file:
                file.write(os.urandom(2**20))
                file.flush()
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            path.read_bytes()
            stop.wait(0.2)

    worker = threading.Thread(target=work)
    worker.start()
    yield
    stop.set()
    worker.join()


def as_log(points):
    """The points as one recording."""
    times = np.array(sorted({point.time for point in points}), dtype=np.int64)
    at = {int(time): row for row, time in enumerate(times)}
    columns = {}
    for point in points:
        for series, value in point.series().items():
            if isinstance(value, float):
                columns.setdefault(series, np.full(len(times), np.nan))[at[point.time]] = value
    arrays = tuple(np.array(values, dtype=float) for values in columns.values())
    return Log(Path("points"), "telegraf", times, arrays, tuple(columns), Zone.parse("UTC"))


def test_every_signal_that_the_plugins_can_feed_is_found_and_judged(collect, defaults, requests):
    points, _ = collect(defaults, seconds=14)
    log = as_log(points)
    filled = {series for at, series in enumerate(log.series) if np.isfinite(log.column(at)).any()}
    finder = Finder(SIGNALS, log.series, filled.__contains__)
    names = {name for name in SIGNALS if finder.find(name) and not SIGNALS[name].fact}
    assert names == fed()

    packs = load().packs
    result = find_recorded_facts([log])
    judged = review([log], Run(), Question(packs, SIGNALS), Facts({}, result))
    lacking = {
        finding.rule.id
        for finding in judged.findings
        if finding.outcome in (Outcome.NOT_RECORDED, Outcome.NO_DATA)
        and {condition.signal for condition in finding.rule.conditions} <= names - MAY_LACK
        and finding.rule.reduce != "increase"  # that takes half a window
    }
    assert lacking == set()
    assert {
        "linux-cpu-busy",
        "linux-load",
        "linux-memory-available",
        "linux-file-system-full",
        "linux-swapping-out",
    } <= {finding.rule.id for finding in judged.findings if finding.track is not None and finding.track.judged}
    (facts,) = result.values()
    assert facts["processors"] == os.cpu_count()
    assert facts["memory_mb"] > 0
